"""What a lint comes to: the findings, and what they were found in."""

from __future__ import annotations

from dataclasses import dataclass, field

from accel_advisor.finding import Finding
from accel_advisor.selection import INTERNAL_ERROR
from accel_advisor.source.document import Document, DocumentError


@dataclass(frozen=True, slots=True)
class Program:
    """Files that were understood together.

    Attributes:
        filenames: those that were asked for.
        consulted: other files that were read on the way.
    """

    filenames: tuple[str, ...]
    consulted: frozenset[str] = frozenset()


@dataclass(slots=True)
class Report:
    """What a lint found.

    Attributes:
        findings: in the order of files, places and codes.
        checked: how many files were looked at, those that mention no accelerator included.
        sources: the bytes of each file that has a finding, as they were linted.
        programs: which files were understood together.
        notes: sentences about what could not be looked at.
        failures: sentences about rules that did not run, because they cannot be loaded.
        hidden: how many findings a baseline holds, which are not among the others.
        fixed: how many findings were fixed before.
    """

    findings: list[Finding] = field(default_factory=list)
    checked: int = 0
    sources: dict[str, bytes] = field(default_factory=dict)
    programs: list[Program] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    failures: tuple[str, ...] = ()
    hidden: int = 0
    fixed: int = 0

    @property
    def broken(self) -> bool:
        """Whether something of this tool failed, so that findings may be missing."""
        return bool(self.failures) or any(one.code == INTERNAL_ERROR[0] for one in self.findings)

    def document(self, filename: str) -> Document | None:
        """The text that a finding speaks of; None where the file could not be read."""
        raw = self.sources.get(filename)
        if raw is None:
            return None
        try:
            return Document.from_bytes(filename, raw)
        except DocumentError:
            return Document(filename, raw.decode("latin-1"))


@dataclass(frozen=True, slots=True)
class Result:
    """What was found in one program."""

    program: Program
    findings: tuple[Finding, ...]
