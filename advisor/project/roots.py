"""Where a project begins that no configuration marks: a function of the files on disk alone."""

from __future__ import annotations

import os

from accel_advisor.project.import_graph import imports_top

REPOSITORY = (".git", ".hg")
MARKS = (
    REPOSITORY,
    ("pyproject.toml", "setup.py", "setup.cfg"),
    ("requirements.txt", "environment.yml", "environment.yaml"),
)
"""What marks the root of a project, the surest first: of several folders the nearest with the surest mark counts."""
MOST_SCRIPTS = 200
MOST_BYTES = 1_000_000
"""Scripts in a folder, and bytes in one of them, that are asked whether they import a folder beside them."""


class Roots:
    """Looks for the roots of projects; each folder is looked at once, however many files lie below it."""

    def __init__(self) -> None:
        self._nearest_mark: dict[tuple[str, tuple[str, ...]], str | None] = {}
        self._loose: dict[str, str] = {}
        self._scripts: dict[str, tuple[bytes, ...]] = {}

    def of(self, folder: str) -> str:
        """The root of the files in a folder: the nearest repository, else the nearest package, else the nearest folder
        that says what it requires. Where no mark stands above it, the folder itself or, as long as it is a package or a
        script beside it imports it by its name, the one above."""
        marked = next((found for marks in MARKS if (found := self._nearest(folder, marks))), None)
        return marked or self._unmarked(folder)

    def is_repository(self, folder: str) -> bool:
        """Whether a folder is the top of a repository."""
        return self._nearest(folder, REPOSITORY) == folder

    def _nearest(self, folder: str, marks: tuple[str, ...]) -> str | None:
        key = (folder, marks)
        if key not in self._nearest_mark:
            parent = os.path.dirname(folder)
            if any(os.path.exists(os.path.join(folder, mark)) for mark in marks):
                self._nearest_mark[key] = folder
            else:
                self._nearest_mark[key] = None if parent == folder else self._nearest(parent, marks)
        return self._nearest_mark[key]

    def _unmarked(self, folder: str) -> str:
        if folder not in self._loose:
            parent, name = os.path.split(folder)
            climbs = parent != folder and name.isidentifier()
            climbs = climbs and (os.path.exists(os.path.join(folder, "__init__.py")) or self._is_imported(parent, name))
            self._loose[folder] = self._unmarked(parent) if climbs else folder
        return self._loose[folder]

    def _is_imported(self, folder: str, name: str) -> bool:
        """Whether a script right in a folder imports the one below it of that name."""
        if folder not in self._scripts:
            self._scripts[folder] = _scripts(folder)
        return any(name.encode() in raw and imports_top(raw, name) for raw in self._scripts[folder])


def _scripts(folder: str) -> tuple[bytes, ...]:
    """The bytes of the scripts right in a folder; none where it cannot be read."""
    found: list[bytes] = []
    try:
        with os.scandir(folder) as entries:
            listed = sorted((one for one in entries if one.name.endswith(".py")), key=lambda one: one.name)
        for entry in listed[:MOST_SCRIPTS]:
            if entry.is_file() and entry.stat().st_size <= MOST_BYTES:
                with open(entry.path, "rb") as file:
                    found.append(file.read())
    except OSError:
        return ()
    return tuple(found)
