"""From a text to its libcst tree, and why there is none."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from accel_advisor.syntax.nesting import too_deep
from accel_advisor.syntax.tree_cache import Recent

if TYPE_CHECKING:
    import libcst as cst

    from accel_advisor.syntax.tree import Syntax

_LINE_OF_SPACE = re.compile(r"(?<=[\r\n])[ \t]+")
_LEADING_FEEDS = re.compile(r"(?:^|(?<=[\r\n]))\f+")


class DocumentError(Exception):
    """A document that cannot be read or parsed; the message is one sentence that names what is wrong.

    Attributes:
        row, column: where, counted from 1, as far as known.
        syntax: whether it was read and is not Python; the message then has no subject to be put before it.
    """

    def __init__(self, message: str, row: int = 1, column: int = 1, *, syntax: bool = False) -> None:
        super().__init__(message)
        self.row = row
        self.column = column
        self.syntax = syntax


def syntax_error(text: str) -> DocumentError | None:
    """Why a text is not Python, in CPython's words; None where it is, or where libcst reads what is newer Python."""
    try:
        with warnings.catch_warnings(action="ignore"):
            ast.parse(text)
    except SyntaxError as error:
        try:
            _parse(parsable(text))
        except DocumentError:
            return DocumentError(
                f"syntax error: {error.msg}", error.lineno or 1, max(1, error.offset or 1), syntax=True
            )
        return None
    except (RecursionError, MemoryError):
        return DocumentError("is nested too deeply to be parsed")
    except UnicodeEncodeError:
        return DocumentError("syntax error: half of a surrogate pair", syntax=True)
    except ValueError as error:  # null bytes
        return DocumentError(f"syntax error: {error}", syntax=True)
    return None


def _parse(text: str) -> cst.Module:
    """The libcst tree of a text.

    Raises:
        DocumentError: the text is not Python that libcst can parse.
    """
    import libcst as cst

    try:
        with _unchecked_nodes():
            return cst.parse_module(text)
    except cst.ParserSyntaxError as error:
        raise DocumentError(
            f"syntax error: {error.message}", error.editor_line, error.editor_column, syntax=True
        ) from error
    except RecursionError as error:
        raise DocumentError("is nested too deeply to be parsed") from error


@contextmanager
def _unchecked_nodes() -> Iterator[None]:
    """Lets the parser build nodes without libcst's checks of what a caller gives to their constructors, which take an
    eighth of the time of a parse: what it builds is what it has read."""
    from libcst._nodes.base import CSTNode

    check = CSTNode.__post_init__
    CSTNode.__post_init__ = _unchecked  # type: ignore[assignment, method-assign]
    try:
        yield
    finally:
        CSTNode.__post_init__ = check  # type: ignore[method-assign]


def _unchecked(node: cst.CSTNode) -> None:
    """In place of ``CSTNode.__post_init__``."""


def _read(text: str) -> Syntax:
    """The syntax of a text.

    Raises:
        DocumentError: the text is not Python that libcst can parse.
    """
    from accel_advisor.syntax.tree import Syntax

    row = too_deep(text)
    if row is not None:
        raise DocumentError("is nested too deeply to be parsed", row)
    return Syntax(text, _parse)


_SYNTAX = Recent(_read)


def syntax_of(text: str, filename: str) -> Syntax:
    """The syntax of a file's text; that of the last few is kept, for this file alone.

    Raises:
        DocumentError: the text is not Python that libcst can parse.
    """
    return _SYNTAX.of(text, filename)


def parsable(text: str) -> str:
    """A text without what libcst's parser loses.

    At the start of a line a form feed becomes a line of its own (it starts the indentation again), elsewhere a space;
    lines of white space behind the last statement become comments.
    """
    if "\f" in text:
        text = _LEADING_FEEDS.sub(lambda feeds: "\n" * len(feeds[0]), text).replace("\f", " ")
    end = len(text.rstrip(" \t\r\n"))
    return text[:end] + _LINE_OF_SPACE.sub(lambda space: "#".ljust(len(space[0])), text[end:])
