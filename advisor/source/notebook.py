"""Notebooks: the code cells of an .ipynb file as one program, and new text of them written into the file's own JSON."""

from __future__ import annotations

import bisect
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise
from typing import Any

from accel_advisor.finding import CellPlace
from accel_advisor.source.magics import blank, masked
from accel_advisor.source.parsing import DocumentError, syntax_error
from accel_advisor.syntax.line_breaks import NEWLINE

CELL_END = "\n\n"
"""What separates cells in the program: no comment at the end of one refers to the next."""

_DECODER = json.JSONDecoder()
_SPACE = re.compile(r"[ \t\r\n]*")
_UNIT = re.compile(r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\.|.", re.DOTALL)
"""What spells one character within a JSON string."""
_ESCAPED_UNIT = re.compile(r"\\u(?!00[0-7])[0-9a-fA-F]{4}")


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of a cell's text, and where the JSON has it: a string of a list, or a line of a single string.

    Attributes:
        start, end: in the JSON, without quotes.
        text: what is spelled there.
    """

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Cell:
    """A code cell.

    Attributes:
        number: among all cells of the notebook, counted from 1.
        text: its source.
        start: where that begins in the program.
    """

    number: int
    text: str
    start: int

    @property
    def end(self) -> int:
        """Where its text ends in the program."""
        return self.start + len(self.text)


@dataclass(frozen=True, slots=True)
class Spelling:
    """Where the JSON has a code cell.

    Attributes:
        value: the span of the value that holds its source.
        pieces: of its text, in order.
    """

    value: tuple[int, int]
    pieces: tuple[Piece, ...]


class Notebook:
    """The code of a notebook, and the JSON around it.

    A notebook in another language than Python has no cells.

    Args:
        raw: the bytes of the file.

    Raises:
        DocumentError: they are not a notebook.
    """

    def __init__(self, raw: bytes) -> None:
        try:
            self._json = raw.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            row = raw.count(b"\n", 0, error.start) + 1
            raise DocumentError(f"cannot be decoded as utf-8: {error.reason}", row) from error
        self._bom = raw.startswith(b"\xef\xbb\xbf")
        try:
            data = json.loads(self._json)
        except json.JSONDecodeError as error:
            said = error.msg.removesuffix(" at")
            raise DocumentError(f"is no notebook, because it is not JSON: {said}", error.lineno, error.colno) from error
        except (ValueError, RecursionError) as error:
            # too deep, or a number too long; CPython's words name its own limits
            raise DocumentError("is no notebook, because its JSON cannot be read") from error
        self.cells = tuple(self._read(data))
        self.text = "".join(cell.text + CELL_END for cell in self.cells)

    def _read(self, data: Any) -> Iterator[Cell]:
        if not isinstance(data, dict) or not isinstance(data.get("cells", data.get("worksheets")), list):
            raise DocumentError("is no notebook: it has no list of cells")
        if not _is_python(data.get("metadata")):
            return
        start = 0
        for number, cell in enumerate(_all_cells(data), 1):
            if not isinstance(cell, dict) or cell.get("cell_type") != "code" or not _is_python_cell(cell):
                continue
            source = cell.get("source" if "source" in cell else "input")  # as the third format has it
            lines = [line for line in (source if isinstance(source, list) else [source]) if isinstance(line, str)]
            if source != lines and source != "".join(lines):
                continue
            text = "".join(lines)
            yield Cell(number, text, start)
            start += len(text) + len(CELL_END)

    @cached_property
    def spellings(self) -> dict[int, Spelling]:
        """Where the JSON has the code cells, by their numbers: looked for when something is to be said of a place, or
        written there."""
        starts = list(self._starts())
        found: dict[int, Spelling] = {}
        for cell in self.cells:
            spans = {name: (begin, end) for name, begin, end in _values(self._json, starts[cell.number - 1])}
            value = spans["source"] if "source" in spans else spans["input"]
            found[cell.number] = Spelling(value, tuple(self._pieces(*value)))
        return found

    def _starts(self) -> Iterator[int]:
        """Where each cell begins in the JSON."""
        tops = [_skip(self._json, 0)]
        cells = self._lists(tops, "cells")
        if not cells:
            sheets = [start for at in self._lists(tops, "worksheets") for _, start, _ in _values(self._json, at)]
            cells = self._lists(sheets, "cells")
        for at in cells:
            for _, start, _ in _values(self._json, at):
                yield start

    def _lists(self, objects: Iterable[int], key: str) -> list[int]:
        """Where the lists begin that JSON objects have under a key."""
        members = [{name: at for name, at, _ in _values(self._json, one)} for one in objects if self._json[one] == "{"]
        return [one[key] for one in members if key in one and self._json[one[key]] == "["]

    def _pieces(self, start: int, end: int) -> Iterator[Piece]:
        if self._json[start] == "[":
            for _, begin, stop in _values(self._json, start):
                yield Piece(begin + 1, stop - 1, json.loads(self._json[begin:stop]))
            return
        begin = at = start + 1
        for unit in _UNIT.finditer(self._json, at, end - 1):
            at = unit.end()
            if unit[0] == "\\n" or at == end - 1:
                yield Piece(begin, at, json.loads(f'"{self._json[begin:at]}"'))
                begin = at

    @cached_property
    def _checked(self) -> tuple[str, tuple[tuple[Cell, DocumentError], ...]]:
        parts: list[str] = []
        broken: list[tuple[Cell, DocumentError]] = []
        for cell in self.cells:
            python = cell.text
            if syntax_error(python) is not None:
                python = masked(cell.text)
                error = syntax_error(python)
                if error is not None:
                    python = blank(cell.text)
                    broken.append((cell, error))
            parts += [python, CELL_END]
        return "".join(parts), tuple(broken)

    @property
    def python(self) -> str:
        """The program without what is not Python: as long as :attr:`text`, with the same lines."""
        return self._checked[0]

    @property
    def broken(self) -> tuple[tuple[Cell, DocumentError], ...]:
        """Cells that cannot be parsed, which are left out of the program, and why; rows are those of the cell."""
        return self._checked[1]

    def place(self, offset: int) -> CellPlace | None:
        """Where a place of the program is found by someone who has the notebook, or its file, before them."""
        index = bisect.bisect_right(self.cells, offset, key=lambda cell: cell.start) - 1
        if index < 0:
            return None
        cell = self.cells[index]
        row = 1 + bisect.bisect(self._line_ends, offset) - bisect.bisect(self._line_ends, cell.start)
        at = self._in_json(cell, offset - cell.start)
        file_row = bisect.bisect_right(self._json_lines, at)
        return CellPlace(cell.number, row, file_row, at - self._json_lines[file_row - 1] + 1)

    @cached_property
    def _line_ends(self) -> list[int]:
        return [newline.end() for newline in NEWLINE.finditer(self.text)]

    @cached_property
    def _json_lines(self) -> list[int]:
        return [0, *accumulate(len(line) + 1 for line in self._json.split("\n"))]

    def _in_json(self, cell: Cell, position: int) -> int:
        """Where the JSON has the character at a position of a cell's text."""
        spelling = self.spellings[cell.number]
        for piece in spelling.pieces:
            if position < len(piece.text):
                units = _UNIT.finditer(self._json, piece.start, piece.end)
                return next(unit.start() for index, unit in enumerate(units) if index == position)
            position -= len(piece.text)
        return spelling.pieces[-1].end if spelling.pieces else spelling.value[0]

    def rewritten(self, texts: Sequence[str]) -> bytes:
        """The file with new text in its cells; where that is the old one, nothing changes.

        Args:
            texts: one for each of :attr:`cells`.

        Raises:
            UnicodeEncodeError: a text holds half of a surrogate pair.
        """
        parts: list[str] = []
        at = 0
        for cell, text in zip(self.cells, texts, strict=True):
            if text != cell.text:
                spelling = self.spellings[cell.number]
                start, end = spelling.value
                parts += [self._json[at:start], self._spelled(spelling, text)]
                at = end
        raw = "".join([*parts, self._json[at:]]).encode()
        return b"\xef\xbb\xbf" + raw if self._bom else raw

    def _spelled(self, spelling: Spelling, text: str) -> str:
        """The JSON of a cell's new text, in the form of the old: lines that stay are spelled as they were."""
        source, old = self._json, spelling.pieces
        start, end = spelling.value
        listed = source[start] == "["
        if not text or not old:
            return json.dumps(_lines(text) if listed else text, ensure_ascii=self._escapes)
        first, last = _changed([piece.text for piece in old], text)
        kept = sum(len(piece.text) for piece in old[:first])
        dropped = sum(len(piece.text) for piece in old[last:])
        lines = _lines(text[kept : len(text) - dropped])
        alike = old[first:last] if len(lines) == last - first else [None] * len(lines)
        spelled: list[tuple[int | None, str]] = [
            *((index, source[old[index].start : old[index].end]) for index in range(first)),
            *((None, self._respelled(line, piece)) for line, piece in zip(lines, alike, strict=True)),
            *((index, source[old[index].start : old[index].end]) for index in range(last, len(old))),
        ]
        between = [source[one.end : other.start] for one, other in pairwise(old)]
        usual = between[0] if between else f'",{source[start + 1 : old[0].start]}' if listed else ""
        parts = [source[start : old[0].start], spelled[0][1]]
        for (before, _), (index, raw) in pairwise(spelled):
            parts += [between[before] if before is not None and index == before + 1 else usual, raw]
        return "".join([*parts, source[old[-1].end : end]])

    def _respelled(self, line: str, old: Piece | None) -> str:
        """The inside of a JSON string that holds a line; what it has in common with an old one stays as it is."""
        units = [unit[0] for unit in _UNIT.finditer(self._json, old.start, old.end)] if old else []
        before = old.text if old else ""
        same = length_in_common(before, line)
        behind = length_in_common(before[same:][::-1], line[same:][::-1])
        new = json.dumps(line[same : len(line) - behind], ensure_ascii=self._escapes)[1:-1]
        return "".join([*units[:same], new, *units[len(units) - behind :]])

    @cached_property
    def _escapes(self) -> bool:
        """Whether the file writes characters beyond ASCII by escapes."""
        return self._json.isascii() and _ESCAPED_UNIT.search(self._json) is not None


def _all_cells(data: dict[str, Any]) -> Iterator[Any]:
    """Every cell, decoded."""
    sheets = [data] if isinstance(data.get("cells"), list) else data["worksheets"]
    for sheet in sheets:
        cells = sheet.get("cells") if isinstance(sheet, dict) else None
        if isinstance(cells, list):
            yield from cells


def _values(text: str, at: int) -> Iterator[tuple[str, int, int]]:
    """The values of the JSON object or array that begins at ``at``: key (empty in an array), start and end of each."""
    closing = "}" if text[at] == "{" else "]"
    at = _skip(text, at + 1)
    while text[at] != closing:
        key = ""
        if closing == "}":
            key, at = _DECODER.raw_decode(text, at)
            at = _skip(text, _skip(text, at) + 1)
        _, end = _DECODER.raw_decode(text, at)
        yield key, at, end
        at = _skip(text, end)
        if text[at] == ",":
            at = _skip(text, at + 1)


def _skip(text: str, at: int) -> int:
    space = _SPACE.match(text, at)
    return space.end() if space else at


def _changed(old: Sequence[str], text: str) -> tuple[int, int]:
    """The range of the old pieces that a new text does not keep: those before it are whole lines at its start, those
    behind it whole lines at its end."""
    first = at = 0
    while first < len(old) and text.startswith(old[first], at):
        end = at + len(old[first])
        if not old[first].endswith("\n") and end < len(text):
            break
        first, at = first + 1, end
    last, end = len(old), len(text)
    while last > first and text.endswith(old[last - 1], at, end):
        begin = end - len(old[last - 1])
        if begin > at and text[begin - 1] != "\n":
            break
        last, end = last - 1, begin
    return first, last


def length_in_common(one: Sequence[str], other: Sequence[str]) -> int:
    """How many characters of two texts, or lines of two lists, are the same at their start."""
    shorter = min(len(one), len(other))
    return next((at for at in range(shorter) if one[at] != other[at]), shorter)


def _lines(text: str) -> list[str]:
    return [line for line in re.split(r"(?<=\n)", text) if line]


def _is_python(metadata: Any) -> bool:
    language = _within(metadata, "language_info", "name") or _within(metadata, "kernelspec", "language")
    return language is None or "python" in language.lower()


def _is_python_cell(cell: dict[str, Any]) -> bool:
    language = _within(cell, "metadata", "vscode", "languageId") or _within(cell, "language")
    return language is None or "python" in language.lower()


def _within(data: Any, *keys: str) -> str | None:
    for key in keys:
        data = data.get(key) if isinstance(data, dict) else None
    return data if isinstance(data, str) else None
