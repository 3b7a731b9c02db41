"""Comments that silence findings, written where :mod:`suppressions` will read them."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from accel_advisor.finding import Edit, Finding
from accel_advisor.source.document import Document
from accel_advisor.source.lines import Lines
from accel_advisor.source.suppressions import Scope, Suppression, Suppressions, last_own_row
from accel_advisor.syntax.line_breaks import NEWLINE


class Form(StrEnum):
    """How a comment is spelled."""

    ACCEL = "accel: ignore"
    NOQA = "noqa"


class Ignorer:
    """Writes the comments of one document.

    Args:
        form: how they are spelled.
        reason: what stands behind each new one; of the form ``accel`` only.
    """

    def __init__(self, document: Document, form: Form, reason: str = "") -> None:
        self._document = document
        self._form = form
        self._reason = f" {reason}" if reason else ""
        self._lines = Lines(document)
        self._written = [one for one in Suppressions(document) if one.ours == (form is Form.ACCEL) and not one.spelled]

    def edits(self, findings: Iterable[Finding]) -> tuple[list[Edit], list[Finding]]:
        """The edits that silence findings, and the findings that have no place for a comment."""
        merged: dict[Suppression, list[str]] = {}
        at_end: dict[int, list[str]] = {}
        above: dict[int, list[str]] = {}
        left: list[Finding] = []
        for finding in findings:
            start, last_row = finding.span.start.row, last_own_row(finding, self._lines)
            written = next((one for one in self._written if _can_take(one, finding, last_row)), None)
            row = next((one for one in range(start, last_row + 1) if self._lines.ends_openly(one)), None)
            if written is not None:
                codes = merged.setdefault(written, [])
            elif row is not None:
                codes = at_end.setdefault(row, [])
            elif self._form is Form.ACCEL:
                codes = above.setdefault(self._lines.statement(start)[0], [])
            else:
                left.append(finding)
                continue
            if finding.code not in codes:
                codes.append(finding.code)
        edits = [self._merge(one, codes) for one, codes in merged.items()]
        edits += [self._append(row, codes) for row, codes in at_end.items()]
        edits += [self._insert(row, codes) for row, codes in above.items()]
        return edits, left

    def _comment(self, codes: list[str]) -> str:
        listed = ", ".join(sorted(codes))
        return f"# {self._form}[{listed}]{self._reason}" if self._form is Form.ACCEL else f"# {self._form}: {listed}"

    def _merge(self, one: Suppression, codes: list[str]) -> Edit:
        """Adds codes to those of a comment, and leaves its reason alone."""
        start, end = one.span.start.offset, one.span.end.offset
        new = sorted(codes)
        if self._form is Form.ACCEL:
            old = self._document.text[start:end]
            opened, closed = start + old.index("[") + 1, start + old.index("]")
            return self._document.edit(opened, closed, ", ".join([*(one.codes or ()), *new]))
        at = one.codes_end
        return self._document.edit(at, at, "".join(f", {code}" for code in new))

    def _append(self, row: int, codes: list[str]) -> Edit:
        line = self._document.line(row)
        start = self._document.offset(row, 1)
        return self._document.edit(start + len(line.rstrip()), start + len(line), f"  {self._comment(codes)}")

    def _insert(self, row: int, codes: list[str]) -> Edit:
        line = self._document.line(row)
        start = self._document.offset(row, 1)
        indentation = line[: len(line) - len(line.lstrip())]
        newline = NEWLINE.match(self._document.text, start + len(line))
        ending = newline[0] if newline is not None else "\n"
        return self._document.edit(start, start, f"{indentation}{self._comment(codes)}{ending}")


def _can_take(one: Suppression, finding: Finding, last_row: int) -> bool:
    """Whether a comment that lists codes refers to the place of a finding, so that one more code silences it."""
    return one.codes is not None and one.scope is not Scope.FILE and one.covers(finding, last_row)
