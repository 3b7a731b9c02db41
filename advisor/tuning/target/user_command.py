"""Which command a person means: a script, a module, what the configuration names, or the one training script here."""

from __future__ import annotations

import re
from pathlib import Path

from accel_advisor.source.document import Document
from accel_advisor.source.parsing import DocumentError

_LOADER = re.compile(r"\b\w*DataLoader\b")
_TRAINS = re.compile(r"\.backward\(|\.fit\(|\.train\(\)")
_NOT_SCRIPTS = re.compile(r"^(test_.*|.*_test|conftest|setup|__init__)\.py$")


class TargetError(Exception):
    """There is no script to run, and why: one sentence with the remedy."""


def checked_script(path: Path) -> Path:
    """``path``, absolute, if it is a file that Python can compile.

    Raises:
        TargetError: it is missing, no Python file, or has a syntax error.
    """
    if path.is_dir():
        raise TargetError(f"{path} is a folder: name the training script in it")
    if not path.exists():
        raise TargetError(f"{path} does not exist")
    if path.suffix == ".ipynb":
        raise TargetError(f"{path} is a notebook: export it with `jupyter nbconvert --to script` and tune the result")
    try:
        text = Document.read(path).text
    except DocumentError as error:
        raise TargetError(f"{path}:{error.row}: {error}") from error
    try:
        compile(text, str(path), "exec", dont_inherit=True)
    except SyntaxError as error:
        raise TargetError(f"{path}:{error.lineno or 1}: is not Python: {error.msg}") from error
    except ValueError as error:
        raise TargetError(f"{path}: is not Python: {error}") from error
    return path.absolute()


def only_script(folder: Path) -> Path:
    """The one training script in ``folder``: a Python file that speaks of a DataLoader and trains.

    Raises:
        TargetError: there is none, or there are several.
    """
    found = [
        path for path in sorted(folder.glob("*.py")) if not _NOT_SCRIPTS.match(path.name) and is_training_script(path)
    ]
    if not found:
        raise TargetError("no training script was found here: name one, as in `accel-advisor tune train.py`")
    if len(found) > 1:
        names = ", ".join(path.name for path in found)
        raise TargetError(f"several training scripts are here: name one of {names}")
    return checked_script(found[0])


def checked_module(name: str, folder: Path) -> str:
    """``name``, if it is the dotted name of a module.

    Raises:
        TargetError: it is no dotted name, or a module in ``folder`` that Python cannot compile.
    """
    if not all(part.isidentifier() for part in name.split(".")):
        raise TargetError(f"{name!r} is no module: -m takes a dotted name, as in `-m package.train`")
    base = folder.joinpath(*name.split("."))
    for path in (base.with_suffix(".py"), base / "__main__.py"):
        if path.is_file():
            checked_script(path)
    return name


def is_training_script(path: Path) -> bool:
    """Whether a file speaks of a DataLoader and trains, as far as its words show; false where it cannot be read."""
    try:
        text = Document.read(path).text
    except DocumentError:
        return False
    return bool(_LOADER.search(text)) and bool(_TRAINS.search(text))
