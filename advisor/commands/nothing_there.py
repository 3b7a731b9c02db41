"""Why there is nothing to lint."""

from __future__ import annotations

import os
from collections.abc import Iterable

from accel_advisor.project.discovery import NEVER_FOLDERS, SUFFIXES


def nothing_there(paths: Iterable[str]) -> str:
    """A sentence about paths below which no file was found that a lint takes."""
    named = list(paths)
    where = " or ".join("this folder" if os.path.normpath(one) == "." else one for one in named)
    skipped = sum(_count(one) for one in named)
    if not skipped:
        return f"there is no Python file and no notebook in {where}: name the folder that holds the training"
    files = "the one file" if skipped == 1 else f"all {skipped:,} files"
    return (
        f"{files} in {where} {'is' if skipped == 1 else 'are'} skipped, as tests, documentation, benchmarks, "
        "environments and whatever .gitignore or `exclude` names are: name a file to lint it, or say `include` in the "
        "configuration"
    )


def _count(path: str) -> int:
    """How many Python files and notebooks lie below a path, those of installed packages left out."""
    found = 0
    for _, folders, names in os.walk(path):
        folders[:] = [one for one in folders if one not in NEVER_FOLDERS and one != ".git"]
        found += sum(one.endswith(SUFFIXES) for one in names)
    return found or int(os.path.isfile(path))
