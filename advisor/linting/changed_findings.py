"""Findings on lines that a change touches, also while fixes move and change lines."""

from __future__ import annotations

import difflib
import os
from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path

from accel_advisor.finding import Finding
from accel_advisor.linting.report import Report
from accel_advisor.project.changed_lines import ChangedLines
from accel_advisor.project.discovery import Found
from accel_advisor.selection import TOOL_CODES, UNUSED_SUPPRESSION


class ChangedFindings:
    """Tells findings on new and changed lines from the others.

    Args:
        lines: what changed, in the files as they are on disk.
        files: what is to be linted. All is asked for now, before a fix changes what is on disk.
        unsaved: the names of those whose text comes from elsewhere.

    Attributes:
        files: those of the files that have a new or changed line, or may have one.

    Raises:
        GitError: what changed is not known.
    """

    def __init__(self, lines: ChangedLines, files: Sequence[Found], unsaved: Collection[str] = ()) -> None:
        self._rows: dict[str, frozenset[int] | None] = {}
        self._texts: dict[str, bytes] = {}
        self._moved: dict[tuple[str, bytes], frozenset[int]] = {}
        self.files = [one for one in files if self._has_changed(lines, one.filename, unsaved)]

    def on_changed_lines(self, report: Report, findings: Sequence[Finding]) -> list[Finding]:
        """Those of a report's findings that are about a new or changed line: one that they begin in, end in or span."""
        return [one for one in findings if self._touches(report, one)]

    def only(self, report: Report) -> Report:
        """A report without the findings on lines that did not change; it says how many there are."""
        kept = self.on_changed_lines(report, report.findings)
        return replace(report, findings=kept, unchanged=len(report.findings) - len(kept))

    def _has_changed(self, lines: ChangedLines, filename: str, unsaved: Collection[str]) -> bool:
        path = os.path.realpath(filename)
        self._rows[path] = rows = lines.of(filename)
        may_have = rows != frozenset() or filename in unsaved
        if rows is not None and may_have:
            self._texts[path] = Path(path).read_bytes()
        return may_have

    def _touches(self, report: Report, finding: Finding) -> bool:
        if finding.code in TOOL_CODES and finding.code != UNUSED_SUPPRESSION[0]:
            return True  # about the file as a whole: its other findings are not known
        path = os.path.realpath(finding.filename)
        rows = self._rows.get(path, frozenset())
        if rows is None:
            return True
        text = report.sources.get(finding.filename)
        if text is not None and path in self._texts and text != self._texts[path]:
            rows = self._after(path, text)
        (first, _), (last, column) = finding.span.start.in_file, finding.span.end.in_file
        last = max(first, last - (column == 1))
        return any(row in rows for row in range(first, last + 1))

    def _after(self, path: str, text: bytes) -> frozenset[int]:
        """The rows of a text that are new or changed, where the one on disk is fixed, or not saved yet."""
        if (path, text) not in self._moved:
            old, new = self._texts[path].split(b"\n"), text.split(b"\n")
            on_disk = self._rows[path] or frozenset()
            rows: set[int] = set()
            for tag, start, _, first, end in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
                same = tag == "equal"
                rows |= {at + 1 for at in range(first, end) if not same or at - first + start + 1 in on_disk}
            self._moved[path, text] = frozenset(rows)
        return self._moved[path, text]
