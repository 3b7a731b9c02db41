"""Comments that silence findings: ``# accel: ignore[CODE] reason``, ``# accel: ignore-file[CODE]`` and ``# noqa``."""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from accel_advisor.finding import Applicability, Finding, Fix, Severity, Span
from accel_advisor.source.document import Document
from accel_advisor.source.lines import Comment, Lines
from accel_advisor.syntax.line_breaks import NEWLINE

_HINT = re.compile(r"#\s*(?:accel(?:\b|[-_ ]?advisor)|noqa)", re.IGNORECASE)
_ACCEL = re.compile(r"#\s*accel\s*:\s*ignore(?P<file>-file)?(?:\s*\[(?P<codes>[^\]\n]*)\])?(?=$|[\s#:,.;-])")
_NOQA = re.compile(
    r"#\s*noqa(?P<codes>\s*:\s*[A-Z][A-Z0-9-]*(?:[\s,]+[A-Z]+[0-9]+\b|,\s*[A-Z][A-Z0-9-]*)*)?(?=$|[\s#,])",
    re.IGNORECASE,
)
_NEAR = re.compile(
    r"#\s*accel(?:[-_ ]?advisor)?\s*(?P<colon>:?)\s*(?P<word>[A-Za-z]+(?:[-_][A-Za-z]+)*)"
    r"(?P<mark>\s*[\[({=:]?)(?P<rest>[^#\n]*)",
    re.IGNORECASE,
)
_CODE = re.compile(r"ACC\d+")
_LISTED = re.compile(r"[\s,]*(?P<one>[A-Za-z][\w-]*)")
_LIKENESS = 0.7
"""Of a word to ``ignore``, from which on it was meant: ``ignor``, ``ingore``, ``ignores``."""
_OTHER_WORDS = frozenset({"disable", "noqa", "silence", "skip", "suppress"})
"""What other tools call it."""


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
        spelled: how a comment must be written that is misspelt and yet says which rules it means; empty for others.
        used: which of its codes silenced something; for None, the empty string.
    """

    span: Span
    codes: tuple[str, ...] | None
    scope: Scope
    rows: tuple[int, int]
    codes_end: int
    ours: bool
    spelled: str = ""
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


_Meant = tuple[int, int, tuple[str, ...], bool, str]
"""Where a misspelt comment begins, where its codes end, those, whether it is for the file, and how it is spelled."""


class Suppressions:
    """The suppressions of one document.

    Args:
        document: whose tokens are read; nothing is parsed.
        known: names by code of the rules, by which a comment is known that lacks its brackets.
    """

    def __init__(self, document: Document, known: Mapping[str, str] | None = None) -> None:
        self._document = document
        self._names = frozenset((known or {}).values())
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
        """Findings for comments of ours that silenced nothing, or are misspelt.

        Args:
            known: names by code of all rules.
            ran: codes of the rules that ran; a comment for a rule that did not is left alone.
            complete: whether everything ran that is on by default; without it a bare ``ignore`` is left alone.
            code: code and name that the findings carry.
        """
        for one in self._found:
            if not one.ours:
                continue
            if one.spelled:
                yield self._misspelt(one, code)
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

    def _misspelt(self, one: Suppression, code: tuple[str, str]) -> Finding:
        """A comment that silences nothing, or by good will only what it names."""
        start, end = one.span.start.offset, one.codes_end
        written = " ".join(self._document.text[start:end].split())
        edit = self._document.edit(start, end, one.spelled)
        advice = "write it so" if one.codes else f"write `{one.spelled}`"
        means = f"is read as `{one.spelled}`" if one.codes else "silences nothing"
        return Finding(
            code=code[0],
            name=code[1],
            message=f"Misspelt suppression: `{written}` {means}; {advice}.",
            severity=Severity.WARNING,
            filename=self._document.filename,
            span=one.span,
            fix=Fix(f"Write `{one.spelled}`", (edit,), Applicability.SAFE) if one.codes else None,
            advice=advice,
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
                newline = NEWLINE.match(text, end)
                edit = document.edit(line_start, newline.end() if newline else end, "")
            else:
                edit = document.edit(line_start + len(before.rstrip()), end, "")
        return Fix("Remove the unused suppression", (edit,), Applicability.SAFE)

    def _read(self, comment: Comment, lines: Lines) -> None:
        row = comment.row
        base = self._document.offset(row, comment.column)
        for pattern, ours in ((_ACCEL, True), (_NOQA, False)):
            found = pattern.search(comment.text)
            meant = self._meant(comment.text, found) if ours else None
            codes: tuple[str, ...] | None
            if meant is not None:
                start, codes_end, codes, for_file, spelled = meant
            elif found is not None:
                start, codes_end, codes = found.start(), found.end(), _codes(found["codes"])
                for_file, spelled = bool(ours and found["file"]), ""
            else:
                continue
            scope, rows = Scope.LINE, (row, row)
            if for_file:
                scope = Scope.FILE
            elif ours and comment.alone:
                scope, rows = Scope.STATEMENT, self._target(comment, lines)
            elif comment.alone:
                continue
            end = comment.text.find("#", codes_end)
            text_end = len(comment.text) if end < 0 else end
            text_end = len(comment.text[:text_end].rstrip())
            span = Span(self._document.location(base + start), self._document.location(base + text_end))
            self._found.append(Suppression(span, codes, scope, rows, base + codes_end, ours, spelled))

    def _meant(self, text: str, read: re.Match[str] | None) -> _Meant | None:
        """What a comment means that is nearly one of ours: without brackets around its rules, with a slip in its word,
        or as other tools have it. None for one that is right, and for what has nothing to do with this tool."""
        if read is not None and read["codes"] is not None:
            return None
        near = _NEAR.search(text)
        if near is None:
            return None
        word, _, part = near["word"].lower().replace("_", "-").partition("-")
        like = difflib.SequenceMatcher(None, word, "ignore").ratio() >= _LIKENESS
        if not like and word not in _OTHER_WORDS:
            return None
        codes, end = self._leading(near["rest"])
        if not codes and (read is not None or not near["colon"] or not like or not near["mark"].strip()):
            return None
        at = near.start("rest") + end
        while codes and text[at : at + 1] in ("]", ")", "}"):
            at += 1
        for_file = part == "file"
        suffix = "-file" if for_file else ""
        spelled = f"# accel: ignore{suffix}[{', '.join(codes) or 'CODE'}]"
        return near.start(), at if codes else near.end("word"), codes, for_file, spelled

    def _leading(self, text: str) -> tuple[tuple[str, ...], int]:
        """The codes and names of rules that a text begins with, and where they end."""
        found: list[str] = []
        at = 0
        while (one := _LISTED.match(text, at)) and (_CODE.fullmatch(one["one"].upper()) or one["one"] in self._names):
            found.append(one["one"])
            at = one.end()
        return tuple(dict.fromkeys(found)), at

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


def _codes(written: str | None) -> tuple[str, ...] | None:
    """The codes and names in a comment; None where it lists none and so means all."""
    if written is None:
        return None
    text = written.strip(" \t:")
    return tuple(dict.fromkeys(re.split(r"[\s,]+", text))) if text else ()


def _meant(text: str, known: Mapping[str, str]) -> bool:
    return any(text == name or (text and code.startswith(text.upper())) for code, name in known.items())


def _could_have(text: str, known: Mapping[str, str], ran: Collection[str]) -> bool:
    """Whether a selector would have silenced something, had there been anything: its rules ran, or there are none."""
    codes = [code for code, name in known.items() if text == name or (text and code.startswith(text.upper()))]
    return all(code in ran for code in codes)


def _listed(texts: Iterable[str]) -> str:
    return ", ".join(f"'{text}'" for text in texts)
