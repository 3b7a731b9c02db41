"""What the tool has to say of itself: files that it cannot read, rules that fail."""

from __future__ import annotations

import ast
import json
import os
import warnings
from collections.abc import Iterable

from accel_advisor.finding import Finding, Location, Severity, Span
from accel_advisor.selection import INTERNAL_ERROR, SYNTAX_ERROR
from accel_advisor.source.document import Document, is_notebook
from accel_advisor.source.parsing import DocumentError


def not_python(filename: str, raw: bytes, error: DocumentError, *, read: bool = False) -> Finding:
    """CPython's own words for a syntax error where it sees one: they name the cause, those of libcst the grammar.

    Args:
        read: whether the file was understood nevertheless, as older Python.
    """
    sentence, row, column = str(error), error.row, error.column
    if isinstance(error.__cause__, Exception) and error.syntax:
        try:
            with warnings.catch_warnings(action="ignore"):
                ast.parse(Document.from_bytes(filename, raw).python)
        except SyntaxError as better:
            sentence = f"syntax error: {better.msg}"
            row, column = better.lineno or row, max(1, better.offset or 1)
        except (ValueError, RecursionError, MemoryError):
            sentence = "syntax error: not even CPython's parser can read it"
    if read:
        sentence += "; the file is read as the Python before 3.7 that it seems to be"
    offset = _offset(filename, raw, row, column) if error.syntax else 0
    return unreadable(filename, sentence, row, column, syntax=error.syntax, offset=offset)


def _offset(filename: str, raw: bytes, row: int, column: int) -> int:
    """Where that is in the text, for editors; the end where it lies behind it."""
    document = Document.from_bytes(filename, raw)
    try:
        return min(document.offset(row, column), len(document.text))
    except IndexError:
        return len(document.text)


def is_readable(filename: str, raw: bytes) -> bool:
    """Whether a file can be parsed: a notebook as JSON, another one as Python."""
    try:
        if is_notebook(filename):
            json.loads(raw)
        else:
            with warnings.catch_warnings(action="ignore"):
                ast.parse(raw)
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return False
    return True


def broken_cells(document: Document) -> Iterable[Finding]:
    """One finding for the cells of a notebook that are not Python: drafts, exercises to fill in, other languages."""
    if not document.broken_cells:
        return
    (cell, error), *others = document.broken_cells
    row = document.location(cell.start).row + error.row - 1
    place = document.location(min(cell.end, document.offset(row, error.column)))
    more = {0: "", 1: ", as is another one"}.get(len(others), f", as are {len(others)} others")
    message = f"{_sentence(str(error), 'cell', error.syntax)}; the cell is left out{more}."
    yield Finding(*SYNTAX_ERROR, message, Severity.INFO, document.filename, Span(place, place))


def unreadable(
    filename: str, sentence: str, row: int = 1, column: int = 1, *, syntax: bool = False, offset: int = 0
) -> Finding:
    """A file that cannot be read, decoded or parsed, and why: a sentence without its subject, or whole where the syntax
    is wrong."""
    message = f"{_sentence(sentence, 'file', syntax)}."
    return tool_finding(filename, SYNTAX_ERROR, message, Severity.ERROR, row, column, offset)


def _sentence(error: str, what: str, syntax: bool) -> str:
    return (f"{error[:1].upper()}{error[1:]}" if syntax else f"This {what} {error}").rstrip(".")


def internal_error(filename: str, what: str, error: Exception) -> Finding:
    """Something of this tool that failed on a file."""
    import traceback

    frame = traceback.extract_tb(error.__traceback__)[-1]
    where = f"{os.path.basename(frame.filename)}:{frame.lineno}"
    message = f"Internal error: {what} failed with {type(error).__name__} at {where}: {error}; please report it."
    return tool_finding(filename, INTERNAL_ERROR, message, Severity.ERROR)


def tool_finding(
    filename: str,
    code: tuple[str, str],
    message: str,
    severity: Severity,
    row: int = 1,
    column: int = 1,
    offset: int = 0,
) -> Finding:
    """A finding of the tool itself, under one of its own codes."""
    place = Location(offset, row, column)
    return Finding(code[0], code[1], message, severity, filename, Span(place, place))
