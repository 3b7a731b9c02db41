"""Comments that silence findings: ``# accel: ignore[CODE] reason``, ``# accel: ignore-file[CODE]`` and ``# noqa``."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from accel_advisor.finding import Applicability, Finding, Fix, Severity, Span
from accel_advisor.source.document import Document
from accel_advisor.source.lines import Comment, Lines

_HINT = re.compile(r"#\s*(?:accel\s*:|noqa)", re.IGNORECASE)
_ACCEL = re.compile(r"#\s*accel\s*:\s*ignore(?P<file>-file)?(?:\s*\[(?P<codes>[^\]\n]*)\])?(?=$|[\s#:,.;-])")
_NOQA = re.compile(
    r"#\s*noqa(?P<codes>\s*:\s*[A-Z][A-Z0-9-]*(?:[\s,]+[A-Z]+[0-9]+\b|,\s*[A-Z][A-Z0-9-]*)*)?(?=$|[\s#,])",
    re.IGNORECASE,
)


class Scope(StrEnum):
    """What a suppression covers."""

    LINE = "line"
    STATEMENT = "statement"
    FILE = "file"


@dataclass(eq=False, slots=True)
class Suppression:
    """One comment.

    Attributes:
        span: the comment, from its ``#`` on, or its part from the second ``#`` on.
        codes: rules by code, name or prefix as they were written; None for all of them.
        rows: the lines that it covers, first and last, counted from 1.
        codes_end: the offset after the last of them.
        ours: whether it is an ``accel:`` comment, whose uselessness is worth reporting.
        used: which of its codes silenced something; for None, the empty string.
    """

    span: Span
    codes: tuple[str, ...] | None
    scope: Scope
    rows: tuple[int, int]
    codes_end: int
    ours: bool
    used: set[str] = field(default_factory=set)

    def covers(self, finding: Finding, last_row: int) -> bool:
        """Whether a finding stands in its reach.

        Args:
            last_row: the last line of the statement's own part of the finding.
        """
        first, last = self.rows
        start = finding.span.start.row
        match self.scope:
            case Scope.FILE:
                return True
            case Scope.STATEMENT:
                return first <= start <= last
            case Scope.LINE:
                return start <= first <= last_row

    def match(self, finding: Finding) -> str | None:
        """The code, as it was written, that means a finding; None where none does."""
        if self.codes is None:
            return ""
        for code in self.codes:
            if code == finding.name or (code and finding.code.startswith(code.upper())):
                return code
        return None


class Suppressions:
    """The suppressions of one document.

    Args:
        document: whose tokens are read; nothing is parsed.
    """

    def __init__(self, document: Document) -> None:
        self._document = document
        self._found: list[Suppression] = []
        self._lines: Lines | None = None
        if _HINT.search(document.text):
            self._lines = Lines(document)
            for comment in self._lines.comments:
                self._read(comment, self._lines)

    def __iter__(self) -> Iterator[Suppression]:
        return iter(self._found)

    def apply(self, findings: Iterable[Finding]) -> list[Finding]:
        """The findings that no comment silences; notes which comments were used."""
        kept: list[Finding] = []
        for finding in findings:
            last_row = last_own_row(finding, self._lines) if self._lines is not None else finding.span.end.row
            silenced = False
            for one in self._found:
                if one.covers(finding, last_row):
                    code = one.match(finding)
                    if code is not None:
                        one.used.add(code)
                        silenced = True
            if not silenced:
                kept.append(finding)
        return kept

    def unused(
        self, known: Mapping[str, str], ran: Collection[str], *, complete: bool, code: tuple[str, str]
    ) -> Iterator[Finding]:
        """Findings for comments of ours that silenced nothing.

        Args:
            known: names by code of all rules.
            ran: codes of the rules that ran; a comment for a rule that did not is left alone.
            complete: whether everything ran that is on by default; without it a bare ``ignore`` is left alone.
            code: code and name that the findings carry.
        """
        for one in self._found:
            if not one.ours:
                continue
            if one.codes is None:
                if not one.used and complete:
                    yield self._unused(one, "it silences nothing", code)
                continue
            useless = [text for text in one.codes if text not in one.used and _could_have(text, known, ran)]
            unknown = [text for text in useless if not _meant(text, known)]
            if unknown:
                reason = f"no rule is called {_listed(unknown)}"
            elif useless:
                reason = f"{_listed(useless)} is not reported here"
            else:
                continue
            yield self._unused(one, reason, code, set(useless))

    def _unused(
        self, one: Suppression, reason: str, code: tuple[str, str], useless: Collection[str] | None = None
    ) -> Finding:
        return Finding(
            code=code[0],
            name=code[1],
            message=f"Unused suppression: {reason}; remove it.",
            severity=Severity.WARNING,
            filename=self._document.filename,
            span=one.span,
            fix=self._removal(one, useless),
        )

    def _removal(self, one: Suppression, useless: Collection[str] | None) -> Fix:
        """Takes the useless codes out, or the whole comment (with its reason, and its line where it stands alone)."""
        document = self._document
        text = document.text
        start, end = one.span.start.offset, one.span.end.offset
        remaining = [text for text in one.codes or () if useless is not None and text not in useless]
        if remaining:
            old = text[start:end]
            content = old[: old.index("[") + 1] + ", ".join(remaining) + old[old.index("]") :]
            edit = document.edit(start, end, content)
        else:
            row = one.span.start.row
            line_start = document.offset(row, 1)
            before = text[line_start:start]
            whole = end == line_start + len(document.line(row))
            if whole and not before.strip():
                newline = re.compile(r"\r\n|\r|\n").match(text, end)
                edit = document.edit(line_start, newline.end() if newline else end, "")
            else:
                edit = document.edit(line_start + len(before.rstrip()), end, "")
        return Fix("Remove the unused suppression", (edit,), Applicability.SAFE)

    def _read(self, comment: Comment, lines: Lines) -> None:
        row = comment.row
        base = self._document.offset(row, comment.column)
        for pattern, ours in ((_ACCEL, True), (_NOQA, False)):
            found = pattern.search(comment.text)
            if not found:
                continue
            written = found["codes"]
            codes: tuple[str, ...] | None = None
            if written is not None:
                codes = (
                    tuple(dict.fromkeys(re.split(r"[\s,]+", written.strip(" \t:")))) if written.strip(" \t:") else ()
                )
            scope, rows = Scope.LINE, (row, row)
            if ours and found["file"]:
                scope = Scope.FILE
            elif ours and comment.alone:
                scope, rows = Scope.STATEMENT, self._target(comment, lines)
            elif comment.alone:
                continue
            end = comment.text.find("#", found.end())
            text_end = len(comment.text) if end < 0 else end
            text_end = len(comment.text[:text_end].rstrip())
            span = Span(self._document.location(base + found.start()), self._document.location(base + text_end))
            self._found.append(Suppression(span, codes, scope, rows, base + found.end(), ours))

    def _target(self, comment: Comment, lines: Lines) -> tuple[int, int]:
        """The lines that a comment alone on its line refers to: the statement below it, or within a statement the
        line below it. Other comments may stand between, an empty line may not."""
        below = comment.row + 1
        while self._row_is_comment(below):
            below += 1
        return (below, below) if comment.inside else (below, lines.statement(below)[1])

    def _row_is_comment(self, row: int) -> bool:
        try:
            return self._document.line(row).lstrip().startswith("#")
        except IndexError:  # past the last line
            return False


def last_own_row(finding: Finding, lines: Lines) -> int:
    """The last line on which a comment at the end refers to a finding: that of the finding, but not beyond its own
    statement or, for a compound one, its header."""
    start, end = finding.span.start.row, finding.span.end.row
    return max(start, min(end, lines.statement(start)[1]))


def _meant(text: str, known: Mapping[str, str]) -> bool:
    return any(text == name or (text and code.startswith(text.upper())) for code, name in known.items())


def _could_have(text: str, known: Mapping[str, str], ran: Collection[str]) -> bool:
    """Whether a selector would have silenced something, had there been anything: its rules ran, or there are none."""
    codes = [code for code, name in known.items() if text == name or (text and code.startswith(text.upper()))]
    return all(code in ran for code in codes)


def _listed(texts: Iterable[str]) -> str:
    return ", ".join(f"'{text}'" for text in texts)
