"""Findings and edits in the terms of the protocol."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from lsprotocol import types

from accel_advisor.finding import Edit, Finding, Severity, Span
from accel_advisor.server.open_files import OpenFile
from accel_advisor.server.open_texts import Places
from accel_advisor.source.document import Document
from accel_advisor.source.notebook import length_in_common
from accel_advisor.source.parsing import DocumentError

SOURCE = "accel-advisor"
SEVERITIES = {
    Severity.ERROR: types.DiagnosticSeverity.Error,
    Severity.WARNING: types.DiagnosticSeverity.Warning,
    Severity.INFO: types.DiagnosticSeverity.Information,
}


class Translator:
    """Says where things stand, in the texts that the client has open or in files on disk.

    Args:
        opened: the open file with an absolute path; None where none is.
        encoding: the units that client and server agreed upon.
        versioned: whether the client takes edits of texts with versions.
    """

    def __init__(self, opened: Callable[[str], OpenFile | None], encoding: str, *, versioned: bool) -> None:
        self._opened = opened
        self._encoding = encoding
        self._versioned = versioned

    def location(self, filename: str, span: Span) -> types.Location | None:
        """A span of a file; None where its text cannot be read, or is another one by now."""
        file = self._opened(filename)
        if file is not None and file.notebook is not None:
            number = span.start.cell.number if span.start.cell is not None else 1
            cell = file.notebook.cell(number)
            if cell is None:
                return None
            shift = _cell_start(file, number)
            start, end = span.start.offset - shift, span.end.offset - shift
            return types.Location(cell.uri, Places(cell.text, self._encoding).range(max(start, 0), max(end, 0)))
        if file is not None and file.text is not None:
            places = Places(file.text.text, self._encoding)
            return types.Location(file.uri, places.range(span.start.offset, span.end.offset))
        try:
            document = Document.read(filename)
        except DocumentError:
            return None
        uri = Path(os.path.abspath(filename)).as_uri()
        if span.start.cell is not None:  # the editor shows a notebook, which has no line of its own for this
            return types.Location(uri, types.Range(types.Position(0, 0), types.Position(0, 0)))
        places = Places(document.text, self._encoding)
        return types.Location(uri, places.range(span.start.offset, span.end.offset))

    def diagnostic(self, finding: Finding, page: str | None) -> tuple[str, types.Diagnostic] | None:
        """A finding as a diagnostic, with the URI of the text that it stands in."""
        at = self.location(finding.filename, finding.span)
        if at is None:
            return None
        related = [
            types.DiagnosticRelatedInformation(where, one.message)
            for one in finding.related
            if (where := self.location(one.filename, one.span)) is not None
        ]
        return at.uri, types.Diagnostic(
            at.range,
            finding.message,
            SEVERITIES[finding.severity],
            finding.code,
            types.CodeDescription(page) if page else None,
            SOURCE,
            related_information=related or None,
            data={"name": finding.name, "confidence": finding.confidence.value},
        )

    def workspace_edit(self, edits: Iterable[Edit]) -> types.WorkspaceEdit | None:
        """Edits of several files at once; None where one of them has no place in a text that is open or on disk."""
        found: dict[str, list[types.TextEdit]] = {}
        for one in edits:
            at = self.location(one.filename, one.span)
            if at is None or (one.span.start.cell is not None and self._opened(one.filename) is None):
                return None
            found.setdefault(at.uri, []).append(types.TextEdit(at.range, one.content))
        return self.of_texts(found)

    def texts(self, path: str, after: str) -> list[tuple[str, str, str]] | None:
        """The texts that a file consists of: the URI of each, how it is, and how a new text of the file has it; None
        for a notebook that is not open, or a file that cannot be read."""
        file = self._opened(path)
        if file is not None and file.notebook is not None:
            new = Document.from_bytes(path, after.encode())
            cells = [(file.notebook.cell(part.cell or 0), new.text[part.start : part.end]) for part in new.parts]
            return [(cell.uri, cell.text, text) for cell, text in cells if cell is not None]
        if file is not None and file.text is not None:
            return [(file.uri, file.text.text, after)]
        try:
            document = Document.read(path)
        except DocumentError:
            return None
        return None if document.notebook is not None else [(Path(path).as_uri(), document.text, after)]

    def replacing(self, before: str, after: str) -> types.TextEdit:
        """The edit that makes one text of another: of the lines from the first to the last that differ."""
        old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
        first = length_in_common(old, new)
        last = length_in_common(old[first:][::-1], new[first:][::-1])
        start = sum(map(len, old[:first]))
        end = len(before) - sum(map(len, old[len(old) - last :]))
        places = Places(before, self._encoding)
        return types.TextEdit(places.range(start, end), "".join(new[first : len(new) - last]))

    def of_texts(self, edits: dict[str, list[types.TextEdit]]) -> types.WorkspaceEdit:
        """Edits by URI as one."""
        if not self._versioned:
            return types.WorkspaceEdit(changes=edits)
        return types.WorkspaceEdit(
            document_changes=[
                types.TextDocumentEdit(
                    types.OptionalVersionedTextDocumentIdentifier(uri, self._version(uri)), list(own)
                )
                for uri, own in edits.items()
            ]
        )

    def _version(self, uri: str) -> int | None:
        file = self._opened(uri)
        return file.version_of(uri) if file is not None else None


def overlapping(findings: Iterable[Finding], wanted: types.Location, translator: Translator) -> Iterator[Finding]:
    """The findings of which a place meets the lines of a range."""
    for one in findings:
        spans = [one.span, *(other.span for other in one.related if other.filename == one.filename)]
        for span in spans:
            at = translator.location(one.filename, span)
            if at is None or at.uri != wanted.uri:
                continue
            first, last = at.range.start.line, at.range.end.line
            if first <= wanted.range.end.line and wanted.range.start.line <= last:
                yield one
                break


def _cell_start(file: OpenFile, number: int) -> int:
    """Where the text of a cell begins in the program that the cells of a notebook are together."""
    document = file.document
    parts = document.parts if document is not None else ()
    return next((part.start for part in parts if part.cell == number), 0)
