"""One source file: its text exactly as it stands on disk, its libcst tree, and places in it."""

from __future__ import annotations

import bisect
import io
import os
import re
import tokenize
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from accel_advisor.finding import Edit, Location, Span
from accel_advisor.source.notebook import Cell, Notebook
from accel_advisor.source.older_python import Reading, as_today
from accel_advisor.source.parsing import DocumentError, parsable, syntax_of
from accel_advisor.syntax.line_breaks import line_starts
from accel_advisor.syntax.nesting import deep_stack

if TYPE_CHECKING:
    import libcst as cst

    from accel_advisor.syntax.tree import Syntax

Found = TypeVar("Found")

_HANGING = re.compile(r"\([ \t]*(?:\#[^\r\n]*)?(?:\r\n|\r|\n)")
"""A bracket at the end of its line."""
_ALIGNED = re.compile(r"(?:\r\n|\r|\n|\A)([^\r\n(]*\()[^\r\n()]+,[ \t]*(?:\r\n|\r|\n)([ \t]+)(?=\S)")
"""A line that breaks off behind an argument, with what stands in front of the first one, and the start of the next."""
_STRING = re.compile(r"\#[^\r\n]*|([\"'])\1\1[\s\S]*?\1\1\1|([\"'])(?:[^\\\r\n\"']|\\[^\r\n])*\2")
"""A comment, a string of several lines, or one without a quotation mark in it."""
_SEMICOLON = re.compile(r"[ \t]*;")


@dataclass(frozen=True, slots=True)
class Part:
    """A stretch of a document's text; ``cell`` is the number of the notebook's cell that it is."""

    start: int
    end: int
    cell: int | None = None


_TELLING = 50
"""Lines of a file from which on the longest shows how long they may be."""
_UNBREAKABLE = re.compile(r"\s*(?:#.*\w|[bBfFrRuU]{0,2}['\"](?!['\"]{2}))|.*://")
"""A line that is a comment in words, begins with a string, or holds an address."""
_MOST = 120
"""Characters that a line has at most, however long others are."""


class Document:
    """A source file or notebook: text, encoding, newlines, tree and positions.

    Args:
        filename: the path as the user gave it; findings carry it unchanged.
        text: the decoded text, newlines untouched, without a byte order mark; of a notebook, that of its code cells.
        encoding: what :meth:`encode` writes, a Python codec name.
        bom: whether the file starts with a UTF-8 byte order mark.
        notebook: the cells that the text comes from; None for a file of Python.

    Attributes:
        placed: whether anybody asked where something stands in it.
    """

    def __init__(
        self,
        filename: str,
        text: str,
        *,
        encoding: str = "utf-8",
        bom: bool = False,
        notebook: Notebook | None = None,
    ) -> None:
        self.filename = filename
        self.text = text
        self.encoding = encoding
        self.bom = bom
        self.notebook = notebook
        self.placed = False

    @classmethod
    def read(cls, path: str | Path) -> Document:
        """Reads a file from disk.

        Raises:
            DocumentError: the file cannot be opened, or its bytes do not fit the encoding that it declares.
        """
        try:
            raw = Path(path).read_bytes()
        except OSError as error:
            raise DocumentError(f"cannot be read: {error.strerror or error}") from error
        return cls.from_bytes(str(path), raw)

    @classmethod
    def from_bytes(cls, filename: str, raw: bytes) -> Document:
        """Decodes ``raw`` by its byte order mark or coding line (PEP 263), or as a notebook where its name says so.

        Raises:
            DocumentError: unknown encoding, bytes that do not fit it, or no notebook.
        """
        if is_notebook(filename):
            notebook = Notebook(raw)
            return cls(filename, notebook.text, notebook=notebook)
        try:
            encoding, _ = tokenize.detect_encoding(io.BytesIO(raw).readline)
        except SyntaxError as error:
            raise DocumentError(f"cannot be decoded: {error.msg}") from error
        bom = encoding == "utf-8-sig"
        if bom:
            encoding, raw = "utf-8", raw[3:]
        try:
            text = raw.decode(encoding)
        except UnicodeDecodeError as error:
            row = raw.count(b"\n", 0, error.start) + 1
            raise DocumentError(f"cannot be decoded as {encoding}: {error.reason}", row) from error
        return cls(filename, text, encoding=encoding, bom=bom)

    def encode(self, text: str) -> bytes:
        """``text`` as bytes in this document's encoding, with its byte order mark where it had one."""
        raw = text.encode(self.encoding)
        return b"\xef\xbb\xbf" + raw if self.bom else raw

    @cached_property
    def path(self) -> str:
        """Where the file is: absolute, and free of symbolic links."""
        return os.path.realpath(self.filename)

    @property
    def tree(self) -> cst.Module:
        """The libcst tree, mostly without its white space (:mod:`accel_advisor.syntax.light`); of older Python, that of
        the same code in today's.

        Raises:
            DocumentError: the text is not Python that libcst can parse.
        """
        return self._syntax.tree

    @property
    def outdated(self) -> DocumentError | None:
        """Why today's Python does not run the text, where it is older Python that was understood nevertheless.

        Raises:
            DocumentError: the text is not Python that libcst can parse, and not known to be older.
        """
        return self._understood[2]

    @property
    def today(self) -> str:
        """The text in today's Python, line by line: other than :attr:`text` only where that is older.

        Raises:
            DocumentError: the text is not Python that libcst can parse.
        """
        reading = self._understood[1]
        return self.text if reading is None else reading.text

    @property
    def _syntax(self) -> Syntax:
        return self._understood[0]

    @cached_property
    def _understood(self) -> tuple[Syntax, Reading | None, DocumentError | None]:
        try:
            return syntax_of(self._parsed, self.filename), None, None
        except DocumentError as error:
            reading = as_today(self._parsed) if error.syntax and self.notebook is None else None
            if reading is not None:
                with suppress(DocumentError):
                    return syntax_of(reading.text, self.filename), reading, error
            raise

    def once(self, find: Callable[[cst.Module], Found]) -> Found:
        """What a function finds in :attr:`tree`: it is called once for the same text of the file.

        Raises:
            DocumentError: the text is not Python that libcst can parse.
        """
        return self._syntax.once(find)

    @property
    def imported(self) -> dict[str, str]:
        """The full names of what only imports bind (:func:`~accel_advisor.syntax.imports.imported_names`)."""
        from accel_advisor.syntax.imports import imported_names

        return self.once(imported_names)

    @cached_property
    def python(self) -> str:
        """The text without what is not Python, the magics of a notebook: as long as :attr:`text`, line by line."""
        return self.text if self.notebook is None else self.notebook.python

    @property
    def broken_cells(self) -> tuple[tuple[Cell, DocumentError], ...]:
        """The cells of a notebook that are not Python and left out, each with the reason."""
        return () if self.notebook is None else self.notebook.broken

    @cached_property
    def _parsed(self) -> str:
        """The text that is parsed: as long as :attr:`text`, without what the parser loses."""
        return parsable(self.python)

    @property
    def parts(self) -> tuple[Part, ...]:
        """What the text consists of, each to be edited for itself: the cells of a notebook, or all of it."""
        if self.notebook is None:
            return (Part(0, len(self.text)),)
        return tuple(Part(cell.start, cell.end, cell.number) for cell in self.notebook.cells)

    def encode_parts(self, texts: Sequence[str]) -> bytes:
        """The file with new texts of its :attr:`parts`."""
        return self.encode(*texts) if self.notebook is None else self.notebook.rewritten(texts)

    def displays(self, node: cst.CSTNode) -> bool:
        """Whether a notebook shows the value of an expression: as the last statement of a cell that no semicolon
        ends."""
        return id(node) in self._displayed

    @cached_property
    def _displayed(self) -> frozenset[int]:
        if self.notebook is None:
            return frozenset()
        import libcst as cst

        ends = [part.end for part in self.parts]
        last = {bisect.bisect_left(ends, self._offsets(line)[1]): line for line in self.tree.body}
        lines = [line.body[-1] for line in last.values() if isinstance(line, cst.SimpleStatementLine)]
        shown = [line for line in lines if isinstance(line, cst.Expr)]
        return frozenset(id(one.value) for one in shown if not _SEMICOLON.match(self.text, self._offsets(one)[1]))

    @cached_property
    def _line_starts(self) -> list[int]:
        return line_starts(self.text)

    def _offsets(self, node: cst.CSTNode) -> tuple[int, int]:
        try:
            with deep_stack():
                syntax, reading, _ = self._understood
                start, end = syntax.offsets(node)
                return (start, end) if reading is None else (reading.back(start), reading.back(end))
        except RecursionError as error:
            raise DocumentError("is nested too deeply to be edited") from error
        except ValueError as error:
            message = "does not survive a round trip through the parser, so it cannot be edited"
            raise DocumentError(message) from error

    def location(self, offset: int) -> Location:
        """The location of the character at ``offset``."""
        self.placed = True
        row = bisect.bisect_right(self._line_starts, offset)
        cell = self.notebook.place(offset) if self.notebook is not None else None
        return Location(offset, row, offset - self._line_starts[row - 1] + 1, cell)

    def offset(self, row: int, column: int) -> int:
        """The offset of a place given by row and column, both counted from 1, the column in characters."""
        self.placed = True
        return self._line_starts[row - 1] + column - 1

    def span(self, node: cst.CSTNode) -> Span:
        """Where a node of :attr:`tree` stands, without the parentheses around it."""
        start, end = self._offsets(node)
        return Span(self.location(start), self.location(end))

    def order(self, node: cst.CSTNode) -> int:
        """A number that grows from one node of the document to the next: all else may change that stands before it."""
        return self._offsets(node)[0]

    def code(self, node: cst.CSTNode) -> str:
        """The text of a node, as it stands in the document."""
        start, end = self._offsets(node)
        return self.text[start:end]

    def line(self, row: int) -> str:
        """The text of a line, counted from 1, without its newline."""
        self.placed = True
        starts = self._line_starts
        end = starts[row] if row < len(starts) else len(self.text)
        return self.text[starts[row - 1] : end].rstrip("\r\n")

    @cached_property
    def lines(self) -> int:
        """How many lines it has; those that are not blank where only an excerpt of the file is read."""
        return self.text.count("\n")

    @cached_property
    def width(self) -> int:
        """How long its lines may be, in characters: as long as its longest, from 79 to 120, and at least 100 where it
        has too few lines to tell. Formatters leave strings, comments and addresses alone: long ones tell nothing."""
        lines = self.text.splitlines()
        least = 79 if len(lines) >= _TELLING else 100
        telling = [len(one) for one in lines if not _UNBREAKABLE.match(one)]
        return max(least, min(_MOST, max(telling, default=0)))

    @cached_property
    def quote(self) -> str:
        """The quotation mark that most of its strings have."""
        found = [one[2] for one in _STRING.finditer(self.text) if one[2]]
        return max('"', "'", key=found.count)

    @cached_property
    def hangs(self) -> bool:
        """Whether it breaks its calls behind the bracket, as Black does, rather than below the first argument."""
        pairs = (found.group(1, 2) for found in _ALIGNED.finditer(self.text))
        aligned = sum(len(head.expandtabs()) == len(below.expandtabs()) for head, below in pairs)
        return sum(1 for _ in _HANGING.finditer(self.text)) > aligned

    @cached_property
    def single_lines(self) -> frozenset[int]:
        """The lines, counted from 1, that are a simple statement, or several, and nothing else."""
        from libcst import SimpleStatementLine

        from accel_advisor.syntax.walking import descendants

        spans = [self.span(one) for one in descendants(self.tree, SimpleStatementLine)]
        return frozenset(one.start.row for one in spans if one.start.row == one.end.row)

    def comment_beside(self, row: int) -> str:
        """What a line, counted from 1, holds from its first ``#`` on; empty where it has none."""
        line = self.line(row)
        return line[line.find("#") :] if "#" in line else ""

    def comment_above(self, row: int) -> str:
        """The line above another one, counted from 1, where it is a comment; empty where it is none."""
        above = self.line(row - 1).strip() if row > 1 else ""
        return above if above.startswith("#") else ""

    def edit(self, start: int, end: int, content: str) -> Edit:
        """The edit that replaces the characters from ``start`` up to ``end`` by ``content``."""
        return Edit(self.filename, Span(self.location(start), self.location(end)), content)


def is_notebook(filename: str) -> bool:
    """Whether a file is a notebook, by its name."""
    return filename.endswith(".ipynb")


def python_bytes(filename: str, raw: bytes) -> bytes:
    """A file's bytes as far as they are source: those of a notebook's code cells, magics and all."""
    if not is_notebook(filename):
        return raw
    try:
        return Document.from_bytes(filename, raw).text.encode(errors="surrogatepass")
    except DocumentError:
        return b""
