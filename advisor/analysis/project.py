"""The files of a project as one program: which file an import means, and the facts of each file."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache, partial
from pathlib import Path

from accel_advisor.analysis.assembly import assemble
from accel_advisor.analysis.uncalled import Uncalled
from accel_advisor.datasets.description import describe_dataset
from accel_advisor.datasets.sample_making import make_samples
from accel_advisor.interpreter.interpreter import Interpreter
from accel_advisor.project.import_graph import imported_modules
from accel_advisor.project.requirements import Declared, Requirements
from accel_advisor.project.search_path import added_folders, folders_meant
from accel_advisor.records.facts import Facts, LoaderCall
from accel_advisor.source.document import Document
from accel_advisor.source.parsing import DocumentError
from accel_advisor.source.shown_path import shown_path
from accel_advisor.syntax.nesting import deep_stack
from accel_advisor.tables.frameworks import LIBRARIES

MOST_CONSULTED = 100
MOST_CONSULTED_CHARACTERS = 1_000_000
"""Files, and characters in them, that are read for one analysis beyond those that were asked for."""

MOST_TEXTS = 500
"""Texts of which is kept what they import."""


@dataclass(slots=True)
class Analysis:
    """What became of the documents that were asked for.

    Attributes:
        facts: by filename.
        failures: why a document has no facts, in one sentence, by filename.
        consulted: other files of the project that were read.
    """

    facts: dict[str, Facts] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)
    consulted: frozenset[str] = frozenset()


class Project:
    """Finds and loads the modules of one project; nothing outside its root is read.

    Args:
        documents: what is known already.
        root: the folder that imports are looked for in, beside the importing file's own.
        unsaved: bytes by absolute path that stand instead of what is on disk, wherever something imports them.
        callers: other files of the program, by absolute path.

    Attributes:
        program: the paths of the documents that were asked for, and of the callers.
    """

    def __init__(
        self,
        documents: Iterable[Document],
        root: Path,
        unsaved: Mapping[str, bytes] | None = None,
        callers: Iterable[str] = (),
    ) -> None:
        self.root = os.path.realpath(root)
        self.documents: dict[str, Document | None] = {one.path: one for one in documents}
        self._unsaved = unsaved or {}
        self.asked = frozenset(self.documents)
        self.program = self.asked.union(callers)
        self.broken: dict[str, str] = {}
        self._characters_left = MOST_CONSULTED_CHARACTERS
        self._resolved: dict[tuple[str, int, str], str | None] = {}
        self._added: dict[str, list[str]] = {}
        self._folders: dict[str, list[str]] = {}

    @property
    def consulted(self) -> frozenset[str]:
        """Files that were loaded without being asked for."""
        return frozenset(one for one, document in self.documents.items() if one not in self.asked and document)

    def resolve(self, name: str, level: int, importer: Document) -> str | None:
        """The file that a module's name means, seen from the importing document; None where it is a library."""
        folder = os.path.dirname(importer.path)
        key = (name, level, folder)
        source = os.path.join(self.root, "src")
        if key not in self._resolved:
            if level:
                bases = [os.path.normpath(os.path.join(folder, *[os.pardir] * (level - 1)))]
            else:
                bases = [*_upwards(folder, self.root), source]
            self._resolved[key] = self._find(name, level, folder, bases, [one for one in bases if one != folder])
        found = self._resolved[key]
        if found is None and not level and (added := self._added_by(importer)):
            return self._find(name, level, folder, added, [self.root, source])
        return found

    def _added_by(self, importer: Document) -> list[str]:
        """The folders that a document, or a file of the project that it imports, adds to `sys.path`."""
        if importer.path not in self._added:
            self._added[importer.path] = []  # what it imports is looked for without them
            names = _modules_imported_in(importer.text)
            files = [importer.path, *(self.resolve(name, level, importer) for name, level in names)]
            found = (folder for one in files if one is not None for folder in self._folders_of(one))
            self._added[importer.path] = list(dict.fromkeys(found))
        return self._added[importer.path]

    def _folders_of(self, filename: str) -> list[str]:
        """The folders that a file of the project adds to `sys.path`."""
        if filename not in self._folders:
            self._folders[filename] = []
            known = self.documents.get(filename)
            if known is None:
                with suppress(OSError):
                    known = self.load(filename) if b"sys.path" in self._bytes(filename) else None
            if known is not None:
                added = added_folders(filename, known.text.encode(errors="replace"))
                self._folders[filename] = list(folders_meant(added, filename, self.root))
        return self._folders[filename]

    def members(self, package: str, level: int, importer: Document, beginning: str, end: str) -> list[str]:
        """The files of the modules of a package whose names begin and end so, by name."""
        first = self.resolve(package, level, importer)
        folders = [os.path.dirname(first)] if first is not None else []
        if first is None and package and not level:
            around = _upwards(os.path.dirname(importer.path), self.root)
            folders = [os.path.join(one, *package.split(".")) for one in around if _within(one, self.root)]
        folder = next((one for one in folders if os.path.isdir(one)), None)
        names = sorted(os.listdir(folder)) if folder is not None and (first is None or _is_package(first)) else []
        modules = [os.path.splitext(one)[0] for one in names if one.endswith(".py") and one != "__init__.py"]
        return [f"{folder}{os.sep}{one}.py" for one in modules if one.startswith(beginning) and one.endswith(end)]

    def _find(self, name: str, level: int, folder: str, bases: list[str], of_libraries: list[str]) -> str | None:
        """The file in the first of some folders that has it; ``of_libraries`` may hold the sources of libraries."""
        target = name.replace(".", os.sep)
        package = name.partition(".")[0] if not level else ""
        for base in bases:
            if not _within(base, self.root):
                continue
            if package in LIBRARIES and base in of_libraries and not _within(folder, os.path.join(base, package)):
                continue  # a script beside the sources of a library that the tables know better than its code shows
            for end in (".py", os.sep + "__init__.py"):
                candidate = os.path.join(base, target + end) if target else base + os.sep + "__init__.py"
                if candidate in self.documents or candidate in self._unsaved or os.path.isfile(candidate):
                    return candidate
        return None

    def _bytes(self, filename: str) -> bytes:
        return self._unsaved[filename] if filename in self._unsaved else Path(filename).read_bytes()

    def _read(self, filename: str) -> Document:
        shown, raw = shown_path(filename), self._unsaved.get(filename)
        return Document.read(shown) if raw is None else Document.from_bytes(shown, raw)

    def load(self, filename: str) -> Document | None:
        """The document of a project's file; None where it cannot be read or parsed, or too many were read already."""
        if filename not in self.documents:
            self.documents[filename] = None
            if len(self.documents) - len(self.asked) <= MOST_CONSULTED and self._characters_left > 0:
                try:
                    document = self._read(filename)
                    if len(document.text) > self._characters_left:
                        return None
                    self._characters_left -= len(document.text)
                    _ = document.tree
                except DocumentError as error:
                    self.broken[filename] = str(error)
                else:
                    self.documents[filename] = document
        document_or_none = self.documents[filename]
        if document_or_none is not None:
            try:
                _ = document_or_none.tree
            except DocumentError as error:
                self.broken[filename] = str(error)
                return None
        return document_or_none


@lru_cache(maxsize=MOST_TEXTS)
def _modules_imported_in(text: str) -> tuple[tuple[str, int], ...]:
    """The modules that a text imports, and how many dots stand before each. Kept by the text, for those that were read
    last: each program that imports a file asks for it."""
    return tuple(dict.fromkeys(imported_modules(text.encode(errors="replace"))))


def _is_package(filename: str) -> bool:
    return os.path.basename(filename) == "__init__.py"


def _within(path: str, root: str) -> bool:
    """Whether an absolute path is a folder or lies in it."""
    return path == root or path.startswith(root.rstrip(os.sep) + os.sep)


def _upwards(folder: str, root: str) -> list[str]:
    """A folder and those around it, up to the root where it lies below that."""
    found = [folder]
    while found[-1] != root and _within(found[-1], root):
        found.append(os.path.dirname(found[-1]))
    return found


def analyze(
    documents: Sequence[Document],
    root: Path,
    known: Mapping[str, Declared] | None = None,
    *,
    unsaved: Mapping[str, bytes] | None = None,
    callers: Iterable[str] = (),
) -> Analysis:
    """The facts of documents, read as parts of one program together with the files that they import.

    Args:
        documents: what to analyse; their trees must parse.
        root: the project's root; nothing outside it is read.
        known: what each of them runs on, by filename; read from the files around them where it is not given.
        unsaved: bytes by absolute path that stand instead of what is on disk, wherever something imports them.
        callers: other files of the program, by absolute path: they call the documents.
    """
    callers = list(callers)
    project = Project(documents, root, unsaved, callers)
    machine = Interpreter(project, describe_dataset)
    analysis = Analysis()
    asked = [one.path for one in documents]
    todo = [*asked, *callers]
    with deep_stack():
        for filename in todo:
            _guarded(machine, project, analysis, filename, partial(machine.module, filename))
        _make_samples(machine, project, analysis, machine.recorder.loaders)
        before = len(machine.recorder.loaders)
        Uncalled(machine, frozenset(todo), partial(_guarded, machine, project, analysis)).interpret()
        _make_samples(machine, project, analysis, machine.recorder.loaders[before:])
    for filename in asked:
        document = project.documents[filename]
        if document is None or document.filename in analysis.failures:
            continue
        facts = machine.recorder.facts.get(document.filename)
        if facts is None:
            analysis.failures[document.filename] = project.broken.get(filename, "could not be interpreted")
            continue
        analysis.facts[document.filename] = facts
    runs_on = known if known is not None else _declared(documents, root)
    analysis.consulted = project.consulted.union(*(one.read for one in runs_on.values()))
    assemble(machine, analysis.consulted)
    for filename, one in analysis.facts.items():
        one.target = runs_on[filename].target
    return analysis


def _declared(documents: Iterable[Document], root: Path) -> dict[str, Declared]:
    requirements = Requirements()
    return {one.filename: requirements.of(os.path.dirname(one.path), root) for one in documents}


def _make_samples(machine: Interpreter, project: Project, analysis: Analysis, loaders: list[LoaderCall]) -> None:
    for loader in loaders:
        _guarded(machine, project, analysis, loader.document.path, partial(make_samples, machine, loader))


def _guarded(
    machine: Interpreter, project: Project, analysis: Analysis, filename: str, run: Callable[[], object]
) -> None:
    level = machine.store.level
    try:
        run()
    except RecursionError:
        document = project.documents.get(filename)
        name = document.filename if document is not None else filename
        analysis.failures[name] = "is nested too deeply to be analysed"
        machine.store.abandon(level)
