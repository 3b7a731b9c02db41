"""How a line is broken that one more argument would make too long: as the file breaks its own."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from itertools import pairwise

import libcst as cst

from accel_advisor.finding import Edit
from accel_advisor.source.document import Document
from accel_advisor.syntax.line_breaks import NEWLINE

_TRAILERS = re.compile(r"\)(?:[\w.]|\[[^\[\]()]*\]|\(\))*[)\]},:; \t]*")
"""What may end a line behind the last argument: brackets, and an item, attribute or method of the result."""
_BLOCK = re.compile(r"(?:^|[\r\n])(?:class|def|if|for|while|with|try)\b[^\r\n]*:[ \t]*(?:\r\n|\r|\n)([ \t]+)\S")
"""The first line of a block at the top of a file."""


@dataclass(frozen=True, slots=True)
class Break:
    """How a line is broken.

    Attributes:
        edits: what breaks it, whatever is added.
        separator: what stands in front of the added argument.
    """

    edits: tuple[Edit, ...]
    separator: str


def newline_of(document: Document) -> str:
    """The newline that a document's first line ends with."""
    found = NEWLINE.search(document.text)
    return found[0] if found else "\n"


def line_break(document: Document, call: cst.Call, added: int, gone: int = 0) -> Break | None:
    """How the line of a call is broken that so many more characters would make too long; None where they would not,
    where the call goes over several lines, or where no break is known.

    The edits are the same whatever is added, so that two additions to one call, or to two on one line, compose.

    Args:
        gone: how many characters right behind the call another edit takes out.
    """
    span = document.span(call)
    if span.start.row != span.end.row:
        return None
    start = document.offset(span.start.row, 1)
    text = document.line(span.start.row)
    if gone and (behind := span.end.offset - start) + gone <= len(text):
        text = text[:behind] + text[behind + gone :]
    else:
        added, gone = added - gone, 0
    name = call.func.attr.value if isinstance(call.func, cst.Attribute) else ""
    if len(text) + added * max(1, text.count(f".{name}(")) <= document.width:
        return None
    line = _Line(document, start, text, span.start.offset, span.end.offset, gone)
    length = len(line.code) + added
    if length + added * line.like_it(name) <= document.width:
        return None
    if (display := line.tuple_around()) is not None:
        return Break(line.opened(*display), ", ")
    if length <= document.width or not call.args or _TRAILERS.fullmatch(line.code, span.end.offset - 1 - start) is None:
        return None
    arguments = [(document.span(one).start.offset, document.span(one).end.offset) for one in call.args]
    inner = arguments[0][0], arguments[-1][1]
    column = inner[0] - start
    widest = max(added, *(end - first for first, end in arguments))
    if not document.hangs and column + widest < document.width:
        below = "".join(one if one == "\t" else " " for one in line.text[:column])
        return Break((), f",{newline_of(document)}{below}")
    outer = line.only_argument()
    if sum(map(line.code.count, "([{")) != sum(map(line.code.count, ")]}")):
        return None  # what goes on below it is aligned with it
    opened = line.opened(*outer, []) if outer is not None else ()
    if outer is not None and len(line.deeper) + (outer[1] - outer[0]) + added <= document.width:
        return Break(opened, ", ")
    commas = [(end, following) for (_, end), (following, _) in pairwise(arguments)]
    if document.text[inner[1] : span.end.offset - 1].strip():
        return None
    if any(document.text[end:following].strip() != "," for end, following in commas):
        return None
    indent = line.deeper if opened else line.indent
    hung = line.hung(inner[0], span.end.offset - 1, commas, indent)
    return Break((*opened, *hung), f",{line.newline}{indent}{line.step}")


class _Line:
    """The line of a call, without ``gone`` characters behind it; places are those of the document's text."""

    def __init__(self, document: Document, start: int, text: str, first: int, last: int, gone: int) -> None:
        self.document, self.start, self.text, self.first, self.last = document, start, text, first, last
        self.gone = gone
        behind, mark, _ = text[last - start :].partition("#")
        self.code = text[: last - start] + (behind.rstrip() if mark else behind)
        self.indent = text[: len(text) - len(text.lstrip())]
        block = _BLOCK.search(document.text)
        self.step = "\t" if self.indent.endswith("\t") else block[1] if block is not None else "    "
        self.deeper = self.indent + self.step
        self.newline = newline_of(document)
        self._statement = self._parsed()

    def _parsed(self) -> ast.stmt | None:
        row = self.document.location(self.start).row
        if row not in self.document.single_lines:
            return None
        try:
            body = ast.parse(self.text.strip()).body
        except (SyntaxError, ValueError):
            return None
        return body[0] if len(body) == 1 else None

    def _place(self, row_bytes: int) -> int:
        """The place of a column of the statement, which CPython counts in bytes."""
        place = self.start + len(self.indent) + len(self.text.strip().encode()[:row_bytes].decode())
        return place + self.gone if place > self.last else place

    def _span(self, node: ast.expr) -> tuple[int, int]:
        return self._place(node.col_offset), self._place(node.end_col_offset or 0)

    def _elements(self) -> list[ast.expr]:
        """The elements of the tuple without parentheses that the statement assigns or returns, with the call in it."""
        statement = self._statement
        value = statement.value if isinstance(statement, (ast.Assign, ast.Return)) else None
        if not isinstance(value, ast.Tuple) or len(value.elts) < 2:
            return []
        start, end = self._span(value)
        if self._span(value.elts[0])[0] != start or not start <= self.first < self.last <= end:
            return []
        return value.elts

    def like_it(self, name: str) -> int:
        """How many other elements of such a tuple call the same method, which is likely to be given the same."""
        calls = [one.func for one in self._elements() if isinstance(one, ast.Call)]
        return max(0, sum(isinstance(one, ast.Attribute) and one.attr == name for one in calls) - 1)

    def tuple_around(self) -> tuple[int, int, list[tuple[int, int]]] | None:
        """Where the tuple starts and ends, and what is between its elements; None where there is none."""
        spans = [self._span(one) for one in self._elements()]
        between = [(end, following) for (_, end), (following, _) in pairwise(spans)]
        if not spans or any(self.document.text[end:following].strip() != "," for end, following in between):
            return None
        return spans[0][0], spans[-1][1], between

    def only_argument(self) -> tuple[int, int] | None:
        """The only argument, with the call in it, of a call that is the whole statement or its value."""
        statement = self._statement
        value = statement.value if isinstance(statement, (ast.Expr, ast.Assign, ast.Return)) else None
        if not isinstance(value, ast.Call) or len(value.args) != 1 or value.keywords:
            return None
        start, end = self._span(value.args[0])
        end_of_call = self._span(value)[1]
        inside = start <= self.first < self.last <= end
        return (start, end) if inside and self.document.text[end:end_of_call] == ")" else None

    def opened(self, start: int, end: int, between: list[tuple[int, int]]) -> tuple[Edit, ...]:
        """The edits that put what stands from ``start`` to ``end`` on lines of its own: the only argument of a call, or
        the elements of a tuple, which is given parentheses."""
        edit = self.document.edit
        opening, comma, closing = ("(", ",", ")") if between else ("", "", "")
        before = f"{opening}{self.newline}{self.deeper}"
        after = f"{comma}{self.newline}{self.indent}{closing}"
        separators = (edit(place, following, f",{self.newline}{self.deeper}") for place, following in between)
        return edit(start, start, before), *separators, edit(end, end, after)

    def hung(self, start: int, closing: int, commas: list[tuple[int, int]], indent: str) -> tuple[Edit, ...]:
        """The edits that put each argument of a call on its own line, with a comma behind the last one."""
        edit = self.document.edit
        separators = (edit(place, following, f",{self.newline}{indent}{self.step}") for place, following in commas)
        end = edit(closing, closing + 1, f",{self.newline}{indent})")
        return edit(start, start, f"{self.newline}{indent}{self.step}"), *separators, end
