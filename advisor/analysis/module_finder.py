"""Which file of a project an import means."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path

from accel_advisor.project.import_graph import imported_modules
from accel_advisor.project.search_path import added_folders, folders_meant, lies_in
from accel_advisor.source.document import python_bytes
from accel_advisor.tables.frameworks import LIBRARIES

MOST_TEXTS = 500
"""Texts of which is kept what they import."""
_NEVER_ADDED = LIBRARIES | sys.stdlib_module_names
"""Packages that no folder of a script stands for."""
_PACKAGE_ENDS = (f"{os.sep}__init__.py",)
_MODULE_ENDS = (".py", *_PACKAGE_ENDS)


class ModuleFinder:
    """Answers each question once, for as many programs of a project as ask it while its files stay as they are.

    Args:
        root: the folder that imports are looked for in, beside the importing file's own: an absolute path, free of
            symbolic links. Nothing outside it is found.
        unsaved: bytes by absolute path that stand instead of what is on disk.
    """

    def __init__(self, root: str, unsaved: Mapping[str, bytes] | None = None) -> None:
        self.root = root
        self._unsaved = unsaved or {}
        self._source = os.path.join(root, "src")
        self._known: dict[tuple[str, int, str, tuple[str, ...]], str | None] = {}
        self._bases: dict[str, list[str]] = {}
        self._files: dict[tuple[str, str], str | None] = {}
        self._adding: dict[str, dict[str, tuple[str, ...]]] = {}
        self._folders: dict[str, tuple[str, ...]] = {}

    def resolve(self, name: str, level: int, importer: str, text: str) -> str | None:
        """The file that a module's name means; None where it is a library.

        Args:
            name: of the module, as it is imported.
            level: how many dots stand before it.
            importer: the absolute path of the file that imports it.
            text: the Python in that file.
        """
        folder = os.path.dirname(importer)
        found = self._at(name, level, folder)
        if found is None and not level and (adding := self.adding(importer, text)):
            added = dict.fromkeys(folder for folders in adding.values() for folder in folders)
            return self._at(name, level, folder, tuple(added))
        return found

    def in_folders(self, name: str, folders: Iterable[str]) -> str | None:
        """The one file that a module's name means in any of some folders; None where there is none, or another one."""
        if name.partition(".")[0] in _NEVER_ADDED:
            return None
        target = name.replace(".", os.sep)
        found = {self._in_folder(one, target) for one in folders if lies_in(one, self.root)} - {None}
        return found.pop() if len(found) == 1 else None

    def adding(self, importer: str, text: str) -> Mapping[str, tuple[str, ...]]:
        """The folders that a file, and each file of the project that it imports, adds to `sys.path`, by its path."""
        if importer not in self._adding:
            self._adding[importer] = {}  # what it imports is looked for without them
            names = _modules_imported_in(text)
            files = [importer, *(self.resolve(name, level, importer, text) for name, level in names)]
            folders = {one: self._folders_of(one) for one in files if one is not None}
            self._adding[importer] = {one: added for one, added in folders.items() if added}
        return self._adding[importer]

    def adders(self, importer: str) -> Iterable[str]:
        """The files of which it was asked already what they add to `sys.path`, and that do, for an importing file."""
        return self._adding.get(importer, ())

    def members(self, package: str, level: int, importer: str, text: str, beginning: str, end: str) -> list[str]:
        """The files of the modules of a package whose names begin and end so, by name."""
        first = self.resolve(package, level, importer, text)
        folders = [os.path.dirname(first)] if first is not None else []
        if first is None and package and not level:
            around = _upwards(os.path.dirname(importer), self.root)
            folders = [os.path.join(one, *package.split(".")) for one in around if lies_in(one, self.root)]
        folder = next((one for one in folders if os.path.isdir(one)), None)
        names = sorted(os.listdir(folder)) if folder is not None and (first is None or _is_package(first)) else []
        modules = [os.path.splitext(one)[0] for one in names if one.endswith(".py") and one != "__init__.py"]
        return [f"{folder}{os.sep}{one}.py" for one in modules if one.startswith(beginning) and one.endswith(end)]

    def _at(self, name: str, level: int, folder: str, added: tuple[str, ...] = ()) -> str | None:
        """The file that a module's name means in the folders around one, or in folders that a file adds to these."""
        key = (name, level, folder, added)
        if key not in self._known:
            self._known[key] = self._look_for(name, level, folder, added)
        return self._known[key]

    def _look_for(self, name: str, level: int, folder: str, added: tuple[str, ...]) -> str | None:
        bases = [one for one in added if lies_in(one, self.root)]
        of_libraries = [self.root, self._source] if added else []
        if level:
            above = os.path.normpath(os.path.join(folder, *[os.pardir] * (level - 1)))
            bases = [above] if lies_in(above, self.root) else []
        elif not added:
            bases = self._bases_of(folder)
            of_libraries = [one for one in bases if one != folder]  # these may hold the sources of libraries
        target = name.replace(".", os.sep)
        package = name.partition(".")[0] if not level else ""
        for base in bases:
            if package in LIBRARIES and base in of_libraries and not lies_in(folder, os.path.join(base, package)):
                continue  # a script beside the sources of a library that the tables know better than its code shows
            found = self._in_folder(base, target)
            if found is not None:
                return found
        return None

    def _bases_of(self, folder: str) -> list[str]:
        """The folders that the modules which a file of one imports are looked for in."""
        if folder not in self._bases:
            around = (*_upwards(folder, self.root), self._source)
            self._bases[folder] = [one for one in around if lies_in(one, self.root)]
        return self._bases[folder]

    def _in_folder(self, base: str, target: str) -> str | None:
        """The file of a module, or of a package, by its path from a folder: many folders share those above them."""
        key = (base, target)
        if key not in self._files:
            path = os.path.join(base, target) if target else base
            candidates = (f"{path}{end}" for end in (_MODULE_ENDS if target else _PACKAGE_ENDS))
            self._files[key] = next(filter(self._is_file, candidates), None)
        return self._files[key]

    def _is_file(self, path: str) -> bool:
        return path in self._unsaved or os.path.isfile(path)

    def _folders_of(self, filename: str) -> tuple[str, ...]:
        """The folders that a file of the project adds to `sys.path`."""
        if filename not in self._folders:
            try:
                raw = self._unsaved[filename] if filename in self._unsaved else Path(filename).read_bytes()
            except OSError:  # it vanished, or may not be read: what it adds is not known
                raw = b""
            found = added_folders(filename, python_bytes(filename, raw)) if b"sys.path" in raw else ()
            self._folders[filename] = tuple(folders_meant(found, filename, self.root)) if found else ()
        return self._folders[filename]


@lru_cache(maxsize=MOST_TEXTS)
def _modules_imported_in(text: str) -> tuple[tuple[str, int], ...]:
    """The modules that a text imports, and how many dots stand before each. Kept by the text, for those that were read
    last: each program that imports a file asks for it."""
    return tuple(dict.fromkeys(imported_modules(text.encode(errors="replace"))))


def _is_package(filename: str) -> bool:
    return os.path.basename(filename) == "__init__.py"


def _upwards(folder: str, root: str) -> list[str]:
    """A folder and those around it, up to the root where it lies below that."""
    found = [folder]
    while found[-1] != root and lies_in(found[-1], root):
        found.append(os.path.dirname(found[-1]))
    return found
