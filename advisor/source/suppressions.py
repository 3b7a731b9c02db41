"""Comments that silence findings: ``# accel: ignore[CODE] reason``, ``# accel: ignore-file[CODE]`` and ``# noqa``."""

from __future__ import annotations

import re
import tokenize
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from ..finding import Applicability, Finding, Fix, Severity, Span
from .document import Document

_HINT = re.compile(r"accel\s*:|noqa", re.IGNORECASE)
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
        ours: whether it is an ``accel:`` comment, whose uselessness is worth reporting.
        used: which of its codes silenced something; for None, the empty string.
    """

    span: Span
    codes: tuple[str, ...] | None
    scope: Scope
    rows: tuple[int, int]
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
        self._ends: dict[int, int] = {}
        if _HINT.search(document.text):
            self._read()

    def __iter__(self) -> Iterator[Suppression]:
        return iter(self._found)

    def apply(self, findings: Iterable[Finding]) -> list[Finding]:
        """The findings that no comment silences; notes which comments were used."""
        kept: list[Finding] = []
        for finding in findings:
            start, end = finding.span.start.row, finding.span.end.row
            last_row = max(start, min(end, self._ends.get(start, end)))
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
            ran: codes of the rules that ran; a comment for a rule that did not is left in peace.
            complete: whether everything ran that is on by default; without it a bare ``ignore`` is left in peace.
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

    def _read(self) -> None:
        comments: list[tuple[tokenize.TokenInfo, bool, int]] = []
        first_row: int | None = None
        for token in _tokens(self._document):
            row = token.start[0]
            if token.type == tokenize.COMMENT:
                alone = not self._document.line(row)[: token.start[1]].strip()
                comments.append((token, alone, first_row or 0))
            elif token.type == tokenize.NEWLINE:
                begin = first_row if first_row is not None else row
                self._ends.update(dict.fromkeys(range(begin, row + 1), row))
                first_row = None
            elif first_row is None and token.type not in _SPACE:
                first_row = row
        for token, alone, inside in comments:
            self._comment(token, alone, bool(inside))

    def _comment(self, token: tokenize.TokenInfo, alone: bool, inside: bool) -> None:
        row, column = token.start
        base = self._document.offset(row, column + 1)
        for pattern, ours in ((_ACCEL, True), (_NOQA, False)):
            found = pattern.search(token.string)
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
            elif ours and alone:
                scope, rows = Scope.STATEMENT, self._target(row, inside)
            elif alone:
                continue
            end = token.string.find("#", found.end())
            text_end = len(token.string) if end < 0 else end
            text_end = len(token.string[:text_end].rstrip())
            span = Span(self._document.location(base + found.start()), self._document.location(base + text_end))
            self._found.append(Suppression(span, codes, scope, rows, ours))

    def _target(self, row: int, inside: bool) -> tuple[int, int]:
        """The lines that a comment alone on its line speaks of: the statement below it, or within a statement the
        line below it. Other comments may stand between, an empty line may not."""
        below = row + 1
        while self._row_is_comment(below):
            below += 1
        return (below, below) if inside else (below, self._ends.get(below, below))

    def _row_is_comment(self, row: int) -> bool:
        try:
            return self._document.line(row).lstrip().startswith("#")
        except IndexError:  # past the last line
            return False


_SPACE = frozenset({tokenize.NL, tokenize.INDENT, tokenize.DEDENT, tokenize.ENCODING, tokenize.ENDMARKER})


def _tokens(document: Document) -> Iterator[tokenize.TokenInfo]:
    """The tokens as far as they can be told; what comes after an error holds no suppression."""
    lines = (line + "\n" for line in re.split(r"\r\n|\r|\n", document.python))
    try:
        yield from tokenize.generate_tokens(lambda: next(lines, ""))
    except (tokenize.TokenError, SyntaxError):
        return


def _meant(text: str, known: Mapping[str, str]) -> bool:
    return any(text == name or (text and code.startswith(text.upper())) for code, name in known.items())


def _could_have(text: str, known: Mapping[str, str], ran: Collection[str]) -> bool:
    """Whether a selector would have silenced something, had there been anything: its rules ran, or there are none."""
    codes = [code for code, name in known.items() if text == name or (text and code.startswith(text.upper()))]
    return all(code in ran for code in codes)


def _listed(texts: Iterable[str]) -> str:
    return ", ".join(f"'{text}'" for text in texts)
