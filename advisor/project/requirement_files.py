"""Which files of a folder may say what a project requires, by their names."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from enum import Enum


class Kind(Enum):
    """What such a file is, with the pattern of its name."""

    PYPROJECT = r"pyproject\.toml"
    SETUP_CFG = r"setup\.cfg"
    SETUP_PY = r"setup\.py"
    REQUIREMENTS = r"[\w.-]*requir\w*ments?[\w.-]*\.(?:txt|in)"
    CONDA = r"(?:[\w.-]*[_-])?(?:environment|env|conda)(?:[_.-][\w.-]*)?\.(?:ya?ml|txt)|spec[_-]?(?:file|list)\.txt"
    DOCKER = r"dockerfile(?:[._-][\w.-]*)?|[\w.-]+\.dockerfile"
    README = r"(?:readme|install(?:ation)?|getting[_-]?started)(?:\.(?:md|rst|txt))?"


_NAMES = {kind: re.compile(kind.value, re.IGNORECASE) for kind in Kind}
_FOLDERS = {
    "requirements": (Kind.REQUIREMENTS,),
    "docker": (Kind.DOCKER, Kind.CONDA),
    "conda": (Kind.CONDA,),
    "docs": (Kind.README,),
}
"""Folders beside the scripts that hold such files, with what is read there."""
_LISTS = re.compile(r"[\w.-]+\.(?:txt|in)")
"""What a folder ``requirements`` holds, whatever it is called."""


def files_that_declare(folder: str) -> dict[Kind, list[str]]:
    """The paths of all such files in a folder and in its folders for them, sorted, by kind."""
    found: dict[Kind, list[str]] = {kind: [] for kind in Kind}
    for kind, path in sorted(_listed(folder), key=lambda one: one[1]):
        found[kind].append(path)
    return found


def _listed(folder: str) -> Iterator[tuple[Kind, str]]:
    for name in _names(folder):
        path = os.path.join(folder, name)
        if name in _FOLDERS:
            for below in _names(path):
                for kind in _FOLDERS[name]:
                    if _NAMES[kind].fullmatch(below) or (kind is Kind.REQUIREMENTS and _LISTS.fullmatch(below)):
                        yield kind, os.path.join(path, below)
        else:
            yield from ((kind, path) for kind, pattern in _NAMES.items() if pattern.fullmatch(name))


def _names(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:  # no folder, or one that cannot be listed
        return []
