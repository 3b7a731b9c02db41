"""The files of a project as one program: which file an import means, and the facts of each file."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from accel_advisor.analysis.assembly import assemble
from accel_advisor.analysis.module_finder import ModuleFinder
from accel_advisor.analysis.uncalled import Uncalled
from accel_advisor.datasets.description import describe_dataset
from accel_advisor.datasets.sample_making import make_samples
from accel_advisor.interpreter.interpreter import Interpreter
from accel_advisor.project.requirements import Declared, Requirements
from accel_advisor.records.facts import Facts, LoaderCall, Program
from accel_advisor.source.document import Document
from accel_advisor.source.parsing import DocumentError
from accel_advisor.source.shown_path import shown_path
from accel_advisor.syntax.nesting import deep_stack

MOST_CONSULTED = 100
MOST_CONSULTED_CHARACTERS = 1_000_000
"""Files, and characters in them, that are read for one analysis beyond those that were asked for."""


@dataclass(slots=True)
class Analysis:
    """What became of the documents that were asked for.

    Attributes:
        facts: by filename.
        failures: why a document has no facts, in one sentence, by filename.
        consulted: other files of the project that were read.
        documents: all that were read, those that were asked for and others.
        machine: what they were interpreted by; None once it was taken apart.
    """

    facts: dict[str, Facts] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)
    consulted: frozenset[str] = frozenset()
    documents: tuple[Document, ...] = ()
    machine: Interpreter | None = field(default=None, repr=False)

    def take_apart(self) -> None:
        """Ends what parts of it know of each other, once nobody asks it anything any more. Then all of it is gone with
        the last that refers to it, and no collector has to look for it among everything that is kept."""
        if self.machine is not None:
            recorder = self.machine.recorder
            for facts in recorder.facts.values():
                facts.forget()
                facts.program.forget()
                facts.program = Program()
                for loop in facts.loops:
                    loop.learning.clear()
                    loop.begun.clear()
            for loader in (*recorder.loaders, *recorder.evident_loaders):
                loops = (loader.loops, loader.passes, loader.around, loader.now_and_then, loader.renewed)
                for known in (*loops, loader.transfers):
                    known.clear()
            vars(self.machine).clear()
            self.machine = None


class Project:
    """Finds and loads the modules of one project; nothing outside its root is read.

    Args:
        documents: what is known already.
        root: the folder that imports are looked for in, beside the importing file's own.
        unsaved: bytes by absolute path that stand instead of what is on disk, wherever something imports them.
        callers: other files of the program, by absolute path.
        finder: finds the modules of this root; one of its own where none is given.

    Attributes:
        program: the paths of the documents that were asked for, and of the callers.
    """

    def __init__(
        self,
        documents: Iterable[Document],
        root: Path,
        unsaved: Mapping[str, bytes] | None = None,
        callers: Iterable[str] = (),
        finder: ModuleFinder | None = None,
    ) -> None:
        self.documents: dict[str, Document | None] = {one.path: one for one in documents}
        self._unsaved = unsaved or {}
        self.asked = frozenset(self.documents)
        self.program = self.asked.union(callers)
        self._folders = frozenset(map(os.path.dirname, self.program))
        self.broken: dict[str, str] = {}
        self._characters_left = MOST_CONSULTED_CHARACTERS
        self._finder = finder or ModuleFinder(os.path.realpath(root), unsaved)

    @property
    def consulted(self) -> frozenset[str]:
        """Files that were read without being asked for, whether or not they could be parsed, or that tell where those
        are found which are imported."""
        read = {one for one, document in self.documents.items() if document} | self.broken.keys()
        return frozenset(read.union(*map(self._finder.adders, read)) - self.asked)

    def resolve(self, name: str, level: int, importer: Document) -> str | None:
        """The file that a module's name means, seen from the importing document; None where it is a library. The folder
        of a script is on the search path of all that it imports."""
        found = self._finder.resolve(name, level, importer.path, importer.text)
        if found is None and name and not level:
            return self._finder.in_folders(name, self._folders)
        return found

    def members(self, package: str, level: int, importer: Document, beginning: str, end: str) -> list[str]:
        """The files of the modules of a package whose names begin and end so, by name."""
        return self._finder.members(package, level, importer.path, importer.text, beginning, end)

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


def analyze(
    documents: Sequence[Document],
    root: Path,
    known: Mapping[str, Declared] | None = None,
    *,
    unsaved: Mapping[str, bytes] | None = None,
    callers: Iterable[str] = (),
    finder: ModuleFinder | None = None,
) -> Analysis:
    """The facts of documents, read as parts of one program together with the files that they import.

    Args:
        documents: what to analyse; their trees must parse.
        root: the project's root; nothing outside it is read.
        known: what each of them runs on, by filename; read from the files around them where it is not given.
        unsaved: bytes by absolute path that stand instead of what is on disk, wherever something imports them.
        callers: other files of the program, by absolute path: they call the documents.
        finder: finds the modules of this root, and has perhaps found them for other programs before.
    """
    callers = list(callers)
    project = Project(documents, root, unsaved, callers, finder)
    machine = Interpreter(project, describe_dataset)
    analysis = Analysis(machine=machine)
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
    analysis.documents = tuple(one for one in project.documents.values() if one is not None)
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
