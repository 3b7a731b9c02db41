"""Files that end with an error where they are loaded: they import what the project does not have."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence

import libcst as cst

from accel_advisor.analysis.running_code import is_script
from accel_advisor.analysis.units import WORD
from accel_advisor.source.document import Document
from accel_advisor.syntax.shapes import dotted
from accel_advisor.syntax.walking import descendants

_MADE_LATER = re.compile(r"^_|_pb2(?:_grpc)?$|version|generated", re.IGNORECASE)
"""In the name of a module that a build writes."""
_MAKES_MODULES = re.compile(r"sys\.(?:modules|meta_path)|__path__|__import__|importlib|lazy_loader")
"""In a file that may make modules, or find them in ways of its own."""
_BINDS_BY_TEXT = frozenset({"__getattr__", "globals", "vars", "exec", "setattr", "modules", "__dict__"})

Imported = tuple[int, tuple[str, ...]]
"""How many dots stand before the name of a module, and its parts."""


class MissingModules:
    """What is missing among the files of a program.

    Args:
        documents: its files, and those that they import.
        root: the root of the project.
        unsaved: bytes by absolute path that stand instead of what is on disk.

    Attributes:
        consulted: other files that were read, and where the modules would stand that are missing: if one comes to be
            there, it is missing no more.
    """

    def __init__(self, documents: Sequence[Document], root: str, unsaved: Mapping[str, bytes]) -> None:
        self.consulted: set[str] = set()
        self._documents = {one.path: one for one in documents}
        self._root = root
        self._unsaved = unsaved
        self._stopped: dict[str, bool] = {}

    def stops(self, document: Document) -> bool:
        """Whether the loading of a file ends with an error, since it imports a module that is missing, or a file that
        ends so, under no condition."""
        if document.path not in self._stopped:
            self._stopped[document.path] = False  # what imports it in turn goes on
            self._stopped[document.path] = not _MAKES_MODULES.search(document.text) and any(
                self._is_missing(document, *one) for one in document.once(_imported_first)
            )
        return self._stopped[document.path]

    def _is_missing(self, document: Document, level: int, parts: tuple[str, ...]) -> bool:
        folder = self._folder_of(document, level, parts)
        if folder is None:
            return False
        for at, part in enumerate(parts):
            path = os.path.join(folder, part)
            beginning = os.path.join(path, "__init__.py")
            package, module = self._documents.get(beginning), self._documents.get(f"{path}.py")
            if package is not None and package is not document and self.stops(package):
                return True
            text = self._text(beginning)
            if text is not None:
                if _MAKES_MODULES.search(text):
                    return False
            elif module is not None and module is not document:
                return at == len(parts) - 1 and self.stops(module)
            if not os.path.isdir(path):
                if _MADE_LATER.search(part) or _is_there(folder, part) or "sys.path" in document.text:
                    return False
                self.consulted |= {path, f"{path}.py"}
                return True
            folder = path
        return False

    def _text(self, path: str) -> str | None:
        """What stands in a file; None where there is none."""
        raw = self._unsaved.get(path)
        if raw is None:
            try:
                with open(path, "rb") as file:
                    raw = file.read()
            except OSError:
                return None
        self.consulted.add(path)
        return raw.decode(errors="replace")

    def _folder_of(self, document: Document, level: int, parts: tuple[str, ...]) -> str | None:
        """The folder that the first part of a name is looked for in; None where it may be a library's: a folder of the
        project that is no package gives way to one, unless the file imports more of what is in it."""
        folder = os.path.dirname(document.path)
        if level:
            for _ in range(level - 1):
                folder = os.path.dirname(folder)
            return folder
        homes = dict.fromkeys((folder, self._root, os.path.join(self._root, "src")))
        if len(parts) == 1:  # what is not there may be a library
            return next((one for one in homes if os.path.join(one, f"{parts[0]}.py") in self._documents), None)
        found = [one for one in homes if os.path.isdir(os.path.join(one, parts[0]))]
        if len(found) != 1:
            return None
        if os.path.exists(os.path.join(found[0], parts[0], "__init__.py")):
            return found[0]
        others = (one for dots, one in document.once(_imported_first) if not dots and one[0] == parts[0])
        there = (os.path.join(found[0], *one) for one in others if len(one) > 1)
        return found[0] if any(f"{path}.py" in self._documents for path in there) else None


def _is_there(folder: str, name: str) -> bool:
    """Whether a folder has a file of this name, of whatever kind: a module may be compiled. One that is empty is to be
    filled, as a submodule of git."""
    try:
        names = os.listdir(folder)
        return not names or any(one.partition(".")[0] == name for one in names)
    except OSError:
        return True


def _imported_first(tree: cst.Module) -> tuple[Imported, ...]:
    """The modules that the lines of a file import under no condition."""
    return tuple(_imports(tree))


def _imports(tree: cst.Module) -> Iterator[Imported]:
    for part in (part for line in tree.body if isinstance(line, cst.SimpleStatementLine) for part in line.body):
        if isinstance(part, cst.ImportFrom) and part.module is not None:
            yield len(part.relative), tuple(dotted(part.module).split("."))
        elif isinstance(part, cst.Import):
            yield from ((0, tuple(dotted(one.name).split("."))) for one in part.names)


def cannot_start(document: Document, documents: Sequence[Document]) -> bool:
    """Whether a script imports, under no condition, a name that does not occur in the file beside it, or below, that it
    imports it from: where a script runs, its own folder is searched first, unless it says otherwise."""
    if not is_script(document, documents) or "sys.path" in document.text:
        return False
    files = {one.path: one for one in documents}
    for module, names in document.once(_names_imported_first):
        path = os.path.join(os.path.dirname(document.path), *module.split("."))
        other = files.get(f"{path}.py")
        if other is None or os.path.join(path, "__init__.py") in files or other is document:
            continue
        words = other.once(_words)
        if words is not None and not names <= words:
            return True
    return False


def _names_imported_first(tree: cst.Module) -> tuple[tuple[str, frozenset[str]], ...]:
    """What the lines of a file import from modules, under no condition."""
    return tuple(_names_imported(tree))


def _names_imported(tree: cst.Module) -> Iterator[tuple[str, frozenset[str]]]:
    lines = (part for line in tree.body if isinstance(line, cst.SimpleStatementLine) for part in line.body)
    for one in lines:
        if isinstance(one, cst.ImportFrom) and one.module is not None and not one.relative:
            names = () if isinstance(one.names, cst.ImportStar) else one.names
            yield dotted(one.module), frozenset(dotted(alias.name) for alias in names)


def _words(tree: cst.Module) -> frozenset[str] | None:
    """All names and words of texts of a file; None where it may have others, from other files or by their texts."""
    if any(isinstance(one.names, cst.ImportStar) for one in descendants(tree, cst.ImportFrom)):
        return None
    names = {one.value for one in descendants(tree, cst.Name)}
    if not names.isdisjoint(_BINDS_BY_TEXT):
        return None
    texts = [one.value for one in descendants(tree, cst.SimpleString)]
    texts += [one.value for one in descendants(tree, cst.FormattedStringText)]
    return frozenset(names.union(*map(WORD.findall, texts)))
