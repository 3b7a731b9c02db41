"""Lines of files as they are known at run time: by file and row, in a notebook the row of its cells' program."""

from __future__ import annotations

import linecache
import os
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from accel_advisor.finding import Location
from accel_advisor.source.document import Document, is_notebook
from accel_advisor.source.parsing import DocumentError

Row = tuple[int | None, int]
"""A cell and a row in it, both from 1; None and a row of the file where that is no notebook."""


def line_at(filename: str, row: int) -> str:
    """A line, with its newline; empty where there is none."""
    if not is_notebook(filename):
        return linecache.getline(filename, row)
    lines = _lines_of(_document(filename), python=False)
    return lines[row - 1] if 0 < row <= len(lines) else ""


def python_lines(filename: str) -> Sequence[str]:
    """All lines of a file as Python reads them, without a notebook's magics; none where it cannot be read."""
    return _lines_of(_document(filename), python=True) if is_notebook(filename) else linecache.getlines(filename)


def row_for_people(filename: str, row: int, content: bytes | None = None) -> Row:
    """Where somebody finds a line who has the file before them.

    Args:
        content: of the file when it ran, where that may have been another than it is now.
    """
    if not is_notebook(filename):
        return None, row
    document = Document.from_bytes(filename, content) if content is not None else _document(filename)
    return place_of(document.location(document.offset(row, 1))) if document is not None else (None, row)


def place_of(location: Location) -> Row:
    """As :func:`row_for_people`, of a place that knows its cell."""
    return (location.cell.number, location.cell.row) if location.cell else (None, location.row)


def line_name(filename: str, row: int) -> str:
    """A line after the name of its file, as ``12``, or in a notebook ``cell 3:4``."""
    return named_line(*row_for_people(filename, row))


def named_line(cell: int | None, row: int) -> str:
    """As :func:`line_name`, from what :func:`row_for_people` says."""
    return f"cell {cell}:{row}" if cell is not None else str(row)


def _document(filename: str) -> Document | None:
    try:
        return _read(filename, os.stat(filename).st_mtime_ns)
    except (OSError, DocumentError):  # gone, or no notebook any more
        return None


@lru_cache(4)
def _read(filename: str, _changed: int) -> Document:
    return Document.read(Path(filename))


def _lines_of(document: Document | None, *, python: bool) -> Sequence[str]:
    if document is None:
        return ()
    return (document.python if python else document.text).splitlines(keepends=True)
