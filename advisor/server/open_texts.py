"""Texts that a client has open, and places in them as the protocol counts: lines from 0, characters in some units."""

from __future__ import annotations

import bisect
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from lsprotocol import types

from accel_advisor.syntax.line_breaks import line_starts

Change = types.TextDocumentContentChangePartial | types.TextDocumentContentChangeWholeDocument


class Places:
    """Places in one text.

    Args:
        encoding: what a unit of a line is: a byte of UTF-8, half of UTF-16, or a character (``utf-32``).
    """

    def __init__(self, text: str, encoding: str) -> None:
        self._text = text
        self._encoding = encoding

    @cached_property
    def _starts(self) -> list[int]:
        return line_starts(self._text)

    def offset(self, position: types.Position) -> int:
        """The character at a position; one behind the end of its line, or of the text, is that end."""
        if position.line >= len(self._starts):
            return len(self._text)
        start = self._starts[position.line]
        ends = position.line + 1 < len(self._starts)
        line = self._text[start : self._starts[position.line + 1]].rstrip("\r\n") if ends else self._text[start:]
        return start + _characters(line, position.character, self._encoding)

    def position(self, offset: int) -> types.Position:
        """The position of the character at an offset."""
        line = bisect.bisect_right(self._starts, offset) - 1
        return types.Position(line, _units(self._text[self._starts[line] : offset], self._encoding))

    def range(self, start: int, end: int) -> types.Range:
        """The range of the characters from ``start`` up to ``end``."""
        return types.Range(self.position(start), self.position(end))


@dataclass(slots=True)
class OpenText:
    """A text document, or a cell of a notebook.

    Attributes:
        version: the client's number of the text.
    """

    uri: str
    text: str
    version: int
    language: str = "python"

    def apply(self, changes: Sequence[Change], version: int, encoding: str) -> None:
        """Makes changes one after the other, each of which refers to the text that the one before it left."""
        for one in changes:
            if isinstance(one, types.TextDocumentContentChangePartial):
                places = Places(self.text, encoding)
                start, end = places.offset(one.range.start), places.offset(one.range.end)
                self.text = self.text[:start] + one.text + self.text[end:]
            else:
                self.text = one.text
        self.version = version


@dataclass(slots=True)
class OpenNotebook:
    """A notebook document.

    Attributes:
        cells: in order: whether each holds code, and the URI of its text.
        texts: the texts by URI.
    """

    cells: list[types.NotebookCell]
    texts: dict[str, OpenText] = field(default_factory=dict)

    def apply(self, change: types.NotebookDocumentChangeEvent, encoding: str) -> None:
        """Makes a change."""
        if change.cells is None:
            return
        if change.cells.structure is not None:
            array = change.cells.structure.array
            self.cells[array.start : array.start + array.delete_count] = array.cells or []
            self.open(change.cells.structure.did_open or [])
            for closed in change.cells.structure.did_close or []:
                self.texts.pop(closed.uri, None)
        for data in change.cells.data or []:
            self.cells = [data if one.document == data.document else one for one in self.cells]
        for edited in change.cells.text_content or []:
            self.texts[edited.document.uri].apply(edited.changes, edited.document.version, encoding)

    def open(self, documents: Sequence[types.TextDocumentItem]) -> None:
        """Takes the texts of cells."""
        for one in documents:
            self.texts[one.uri] = OpenText(one.uri, one.text, one.version, one.language_id)

    def cell(self, number: int) -> OpenText | None:
        """The text of a cell, counted from 1."""
        return self.texts.get(self.cells[number - 1].document) if 0 < number <= len(self.cells) else None

    @property
    def json(self) -> dict[str, object]:
        """The notebook as its file would have it, as far as the linter reads it."""
        cells: list[dict[str, object]] = []
        for one in self.cells:
            text = self.texts.get(one.document)
            code = one.kind is types.NotebookCellKind.Code and text is not None
            language = text.language if text is not None else ""
            cells.append(
                {
                    "cell_type": "code" if code else "markdown",
                    "metadata": {"vscode": {"languageId": language}} if code else {},
                    "source": text.text if text is not None else "",
                }
            )
        return {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}


def _units(text: str, encoding: str) -> int:
    if encoding == types.PositionEncodingKind.Utf8:
        return len(text.encode(errors="surrogatepass"))
    if encoding == types.PositionEncodingKind.Utf32 or text.isascii():
        return len(text)
    return len(text) + sum(one > "\uffff" for one in text)


def _characters(line: str, units: int, encoding: str) -> int:
    """How many characters of a line the first units are; all of it where it has fewer."""
    if encoding == types.PositionEncodingKind.Utf32 or line.isascii():
        return min(units, len(line))
    taken = 0
    for number, one in enumerate(line):
        if taken >= units:
            return number
        taken += _units(one, encoding)
    return len(line)
