"""Which file the notebook of a kernel is saved in."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any


class UnknownNotebookError(Exception):
    """The front end does not say; the message is one sentence with the remedy."""


def notebook_path(named: str | None, names: Mapping[str, Any], environment: Mapping[str, str]) -> str:
    """The file of the notebook, in whatever way it is known.

    Args:
        named: what the user calls it; None where they do not.
        names: of the kernel, where VS Code notes it.
        environment: of the kernel, where Jupyter's server notes it.

    Raises:
        UnknownNotebookError: nobody says, or there is no such file.
    """
    example = "%accel tune train.ipynb"
    if "COLAB_RELEASE_TAG" in environment:
        example = '%accel tune "/content/drive/MyDrive/Colab Notebooks/train.ipynb"'
    path = named or names.get("__vsc_ipynb_file__") or environment.get("JPY_SESSION_NAME") or ""
    if not isinstance(path, str) or not path.endswith(".ipynb"):
        asked = (
            f"{named} is no notebook" if named else "this front end does not say which file this notebook is saved in"
        )
        raise UnknownNotebookError(f"{asked}: name it, as in `{example}`")
    if not os.path.isfile(path):
        raise UnknownNotebookError(f"{path} does not exist: save the notebook, and name it from {os.getcwd()}")
    return path
