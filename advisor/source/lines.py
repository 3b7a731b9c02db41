"""The lines of a document as its tokens have them: comments, statements, and lines that no comment can end."""

from __future__ import annotations

import tokenize
from collections.abc import Iterator
from dataclasses import dataclass

from accel_advisor.source.document import Document
from accel_advisor.syntax.line_breaks import NEWLINE

_SPACE = frozenset({tokenize.NL, tokenize.INDENT, tokenize.DEDENT, tokenize.ENCODING, tokenize.ENDMARKER})
_FORMATTED_START = getattr(tokenize, "FSTRING_START", None)  # from Python 3.12 on a formatted string is several tokens
_FORMATTED_END = getattr(tokenize, "FSTRING_END", None)


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment.

    Attributes:
        text: from its ``#`` on.
        row, column: where that stands, both counted from 1.
        alone: whether nothing stands before it on its line.
        inside: whether a statement goes on after it.
    """

    text: str
    row: int
    column: int
    alone: bool
    inside: bool


class Lines:
    """What the tokens say about the lines of a document, as far as they can be read; nothing is parsed."""

    def __init__(self, document: Document) -> None:
        self.comments: list[Comment] = []
        self._document = document
        self._statements: dict[int, tuple[int, int]] = {}
        self._within: set[int] = set()
        first_row: int | None = None
        formatted: list[int] = []
        for token in _tokens(document):
            row = token.start[0]
            if token.type == tokenize.COMMENT:
                alone = not document.line(row)[: token.start[1]].strip()
                self.comments.append(Comment(token.string, row, token.start[1] + 1, alone, first_row is not None))
                continue
            if token.type == tokenize.NEWLINE:
                begin = first_row if first_row is not None else row
                self._statements.update(dict.fromkeys(range(begin, row + 1), (begin, row)))
                first_row = None
            elif first_row is None and token.type not in _SPACE:
                first_row = row
            if token.type == tokenize.STRING:
                self._within.update(range(row, token.end[0]))
            elif token.type == _FORMATTED_START:
                formatted.append(row)
            elif token.type == _FORMATTED_END and formatted:
                self._within.update(range(formatted.pop(), token.end[0]))
        self._commented = {one.row for one in self.comments}

    def statement(self, row: int) -> tuple[int, int]:
        """The first and the last line of the statement that a line belongs to, of a compound one those of its header;
        the line itself where it belongs to none."""
        return self._statements.get(row, (row, row))

    def ends_openly(self, row: int) -> bool:
        """Whether a comment can be written at the end of a line: it does not end within a string, before a backslash or
        in a command of IPython."""
        line = self._document.line(row)
        goes_on = line.endswith("\\") and row not in self._commented
        start = self._document.offset(row, 1)
        return row not in self._within and not goes_on and self._document.python[start : start + len(line)] == line


def _tokens(document: Document) -> Iterator[tokenize.TokenInfo]:
    """The tokens as far as they can be read; what comes after an error is not looked at."""
    lines = (line + "\n" for line in NEWLINE.split(document.python))
    try:
        yield from tokenize.generate_tokens(lambda: next(lines, ""))
    except (tokenize.TokenError, SyntaxError):
        return
