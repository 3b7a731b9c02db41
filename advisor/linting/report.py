"""What a lint comes to: the findings, and what they were found in."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from accel_advisor.config import Config
from accel_advisor.finding import Finding
from accel_advisor.selection import INTERNAL_ERROR
from accel_advisor.sights import Landmark, Seen
from accel_advisor.source.document import Document
from accel_advisor.source.parsing import DocumentError
from accel_advisor.source.shown_path import shown_path


@dataclass(frozen=True, slots=True)
class Program:
    """Files that are understood together, whichever of them were asked for.

    Attributes:
        filenames: as messages name them, in the order in which they are analysed.
        configs: the configuration of each.
        root: the folder that imports are looked for in.
        consulted: other files that were read on the way.
        callers: those of the files that are only here because they call the others: what is found in them is found in
            a program of their own.
        scripts: those of the callers of which only the excerpt is read.
        placed: the scripts of which it matters where their lines stand, each with the digest of that.
    """

    filenames: tuple[str, ...]
    configs: tuple[Config, ...]
    root: str
    consulted: frozenset[str] = frozenset()
    callers: frozenset[str] = frozenset()
    scripts: frozenset[str] = frozenset()
    placed: tuple[tuple[str, str], ...] = ()


@dataclass(slots=True)
class Report:
    """What a lint found.

    Attributes:
        findings: in the order of files, places and codes.
        checked: how many files were looked at, those that mention no accelerator included.
        asked: how each file that was asked for and mentions accelerators was named, by its absolute path.
        sources: the bytes of each file that has a finding, as they were linted.
        seen: what was seen in files that train and that all rules are silent about.
        landmarks: the places that a trial measures.
        programs: which files were understood together.
        notes: sentences about what could not be looked at.
        failures: sentences about configurations that cannot be used, whose files are left out, and about rules that did
            not run, because they cannot be loaded.
        minor: how many findings are left out because they are of little consequence where they stand.
        hidden: how many findings a baseline holds, which are not among the others.
        unchanged: how many findings stand on lines that did not change, and are left out for that.
        fixed: the findings that were fixed before.
        left_out: files that were found below a folder and that their owner gave up, by their absolute paths, each with
            the folder that says so, or its own name.
    """

    findings: list[Finding] = field(default_factory=list)
    checked: int = 0
    asked: dict[str, str] = field(default_factory=dict)
    sources: dict[str, bytes] = field(default_factory=dict)
    seen: list[Seen] = field(default_factory=list)
    landmarks: list[Landmark] = field(default_factory=list)
    programs: list[Program] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    failures: tuple[str, ...] = ()
    minor: int = 0
    hidden: int = 0
    unchanged: int = 0
    fixed: list[Finding] = field(default_factory=list)
    left_out: dict[str, str] = field(default_factory=dict)

    @property
    def broken(self) -> bool:
        """Whether something of this tool failed, so that findings may be missing."""
        return bool(self.failures) or any(one.code == INTERNAL_ERROR[0] for one in self.findings)

    def leave_out(self, files: Mapping[str, str]) -> None:
        """Counts files, by their absolute paths, as not asked for, each with what it is left out for."""
        self.left_out |= {path: shown_path(what) for path, what in files.items()}
        self.checked -= len(files)
        for path in files:
            self.asked.pop(path, None)

    def take(self, result: Result) -> None:
        """Adds what was found in the files of a program that were asked for, under the names that the user gave."""
        self.programs.append(result.program)
        names = {name: self.asked.get(os.path.realpath(name)) for name in result.program.filenames}
        self.findings += [self._named(one) for one in result.findings if names.get(one.filename) is not None]
        self.seen += [
            replace(one, filename=self._name(one.filename))
            for one in result.seen
            if names.get(one.filename) is not None
        ]
        self.landmarks += [
            replace(one, filename=self._name(one.filename))
            for one in result.landmarks
            if names.get(one.filename) is not None
        ]

    def _named(self, finding: Finding) -> Finding:
        fix = finding.fix
        if fix is not None:
            fix = replace(fix, edits=tuple(replace(one, filename=self._name(one.filename)) for one in fix.edits))
        related = tuple(replace(one, filename=self._name(one.filename)) for one in finding.related)
        return replace(finding, filename=self._name(finding.filename), fix=fix, related=related)

    def _name(self, filename: str) -> str:
        path = os.path.realpath(filename)
        return self.asked.get(path) or shown_path(path)

    def document(self, filename: str) -> Document | None:
        """The text that a finding is about; None where the file could not be read."""
        raw = self.sources.get(filename)
        if raw is None:
            return None
        try:
            return Document.from_bytes(filename, raw)
        except DocumentError:
            return Document(filename, raw.decode("latin-1"))


@dataclass(frozen=True, slots=True)
class Result:
    """What was found in one program: in each of its files, under the names that the program gives them.

    Attributes:
        seen: what was seen in those of its files that train and that all rules are silent about.
        landmarks: the places that a trial measures.
    """

    program: Program
    findings: tuple[Finding, ...]
    seen: tuple[Seen, ...] = ()
    landmarks: tuple[Landmark, ...] = ()
