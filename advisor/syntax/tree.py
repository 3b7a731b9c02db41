"""The tree of a text, and where its nodes stand in it."""

from __future__ import annotations

import ast
import bisect
import re
from collections.abc import Callable, Iterator
from functools import cached_property
from itertools import zip_longest
from typing import TypeVar

import libcst as cst

from accel_advisor.syntax.light import read
from accel_advisor.syntax.light_expressions import Alone, Located, Place
from accel_advisor.syntax.line_breaks import line_starts
from accel_advisor.syntax.positions import Positions
from accel_advisor.syntax.walking import descendants, keep_order

Found = TypeVar("Found")

_DEFINED = re.compile(r"(?:async[ \t]+)?(?:def|class)[ \t]+")
_SPACE = re.compile(r"[ \t\r\n]*+")


class Syntax:
    """The tree of a text.

    The tree is a light one (:mod:`accel_advisor.syntax.light`) wherever CPython can read the text. The place of most
    of its nodes is known from CPython. For one in a formatted string that string is parsed once more, by libcst; for
    any other the whole text is; there the node is looked up.

    Args:
        text: what is read.
        parse: libcst's parser, which says what is wrong with a text.

    Attributes:
        tree: nothing may change it.

    Raises:
        DocumentError: the text is not Python that libcst can parse.
    """

    def __init__(self, text: str, parse: Callable[[str], cst.Module]) -> None:
        self._text = text
        self._parse = parse
        light = read(text)
        self._places: dict[int, Place] = {} if light is None else light.places
        self.tree = parse(text) if light is None else light.tree
        self._light = light is not None
        keep_order(self.tree, self)
        self._parts: dict[int, dict[int, tuple[int, int]]] = {}
        self._found: dict[Callable[[cst.Module], object], object] = {}

    def once(self, find: Callable[[cst.Module], Found]) -> Found:
        """What a function finds in the tree. It is called once for a tree, however many programs read the file."""
        if find not in self._found:
            self._found[find] = find(self.tree)
        return self._found[find]  # type: ignore[return-value]

    def offsets(self, node: cst.CSTNode) -> tuple[int, int]:
        """Where a node begins and ends, in characters, without the parentheses around it.

        Raises:
            ValueError: the whole tree does not give the text back, so that no place in it would be right.
            KeyError: the node is not of this tree, or is the module itself.
            DocumentError: libcst cannot parse what CPython can.
        """
        place = self._places.get(id(node))
        known = None if place is None else self._known(node, place)
        if known is None and self._light:
            known = self._in_text(node)
        if known is not None:
            return known
        return self._positions.of(self._counterparts[id(node)] if self._light else node)

    def _in_text(self, node: cst.CSTNode) -> tuple[int, int] | None:
        """Where a node of a formatted string stands; None where it is in none, or where libcst reads that otherwise."""
        text = self._texts.get(id(node))
        place = None if text is None else self._places.get(id(text))
        if text is None or place is None or isinstance(place, Alone):
            return None
        if id(text) not in self._parts:
            self._parts[id(text)] = _places_in(text, self._ends(place), self._text)
        return self._parts[id(text)].get(id(node))

    @cached_property
    def _texts(self) -> dict[int, cst.BaseExpression]:
        """The formatted strings, and those that several stand behind each other in, by the ids of what is in them."""
        found: dict[int, cst.BaseExpression] = {}
        for text in descendants(self.tree, cst.FormattedString, cst.ConcatenatedString):
            for one in descendants(text):
                if isinstance(text, cst.BaseExpression):
                    found.setdefault(id(one), text)
        return found

    @cached_property
    def whole(self) -> cst.Module:
        """The tree with its white space: its code is the text, character for character.

        Raises:
            DocumentError: libcst cannot parse what CPython can.
        """
        return self._parse(self._text) if self._light else self.tree

    @cached_property
    def _positions(self) -> Positions:
        return Positions(self.whole, self._text)

    @cached_property
    def _counterparts(self) -> dict[int, cst.CSTNode]:
        """The nodes of the whole tree by the ids of those of the light one."""
        pairs = list(zip_longest(_named(self.tree), _named(self.whole)))
        if any(type(light) is not type(whole) for light, whole in pairs):
            raise ValueError("the two parsers do not read the same")
        return {id(light): whole for light, whole in pairs}

    @cached_property
    def _starts(self) -> list[int]:
        return line_starts(self._text)

    @cached_property
    def _ascii(self) -> bool:
        return self._text.isascii()

    def _offset(self, row: int, column: int) -> int:
        """The offset of a place that CPython gives, which counts bytes of UTF-8."""
        start = self._starts[row - 1]
        if self._ascii:
            return start + column
        return start + len(self._text[start : start + column].encode()[:column].decode())

    def _ends(self, place: Located) -> tuple[int, int]:
        start = self._offset(place.lineno, place.col_offset)
        return start, self._offset(place.end_lineno or place.lineno, place.end_col_offset or 0)

    def _known(self, node: cst.CSTNode, place: Place) -> tuple[int, int] | None:
        """Where a node stands by CPython; None where that is not known, mostly for parentheses, which CPython counts
        to some nodes and libcst to others."""
        if isinstance(place, Alone):
            start, end = self._ends(place.value)
            behind = self._text[end : self._ends(place.call)[1]]
            known = behind.count(")") == 1 and "#" not in behind and not isinstance(place.value, ast.GeneratorExp)
            return (start, end) if known else None
        start, end = self._ends(place)
        if type(node) is cst.Name:
            return self._name(node, place, start)
        if type(node) is cst.Arg and not isinstance(place, ast.keyword):
            return None if self._may_be_in_parentheses(start, end) else (start, end)
        if isinstance(place, (ast.Tuple, ast.GeneratorExp)) and isinstance(node, (cst.Tuple, cst.GeneratorExp)):
            return self._without_parentheses(place, start, end)
        return start, end

    def _name(self, node: cst.Name, place: Located, start: int) -> tuple[int, int] | None:
        if isinstance(place, ast.Attribute):
            start = self._ends(place)[1] - len(node.value)
        elif isinstance(place, ast.stmt):
            defined = _DEFINED.match(self._text, start)
            start = start if defined is None else defined.end()
        # CPython normalizes names (PEP 3131)
        return (start, start + len(node.value)) if self._text.startswith(node.value, start) else None

    def _may_be_in_parentheses(self, start: int, end: int) -> bool:
        behind = _SPACE.match(self._text, end)
        if behind is None or self._text[behind.end()] not in ")#":
            return False
        before = start - 1
        while self._text[before] in " \t\r\n":
            before -= 1
        line = self._text[self._starts[bisect.bisect_right(self._starts, before) - 1] : before]
        return self._text[before] == "(" or "#" in line

    def _without_parentheses(self, place: ast.Tuple | ast.GeneratorExp, start: int, end: int) -> tuple[int, int] | None:
        if self._text[start] != "(":
            return start, end
        if isinstance(place, ast.Tuple):
            if not place.elts:
                return None
            first = self._ends(place.elts[0])
            if first[0] == start:
                return start, end
            if ")" in self._text[first[1] : end - 1].partition(",")[0]:
                return None
        inner = self._text[start + 1 : end - 1]
        if "#" in inner:
            return None
        return end - 1 - len(inner.lstrip()), start + 1 + len(inner.rstrip())


def _places_in(text: cst.BaseExpression, ends: tuple[int, int], source: str) -> dict[int, tuple[int, int]]:
    """Where the nodes of a formatted string stand, which is at ``ends``; nothing where libcst reads it otherwise."""
    code = f"({source[ends[0] : ends[1]]})"
    try:
        parsed = cst.parse_module(code)
    except cst.ParserSyntaxError:
        return {}
    pairs = list(zip_longest(_named(text), _named(_only_expression(parsed) or parsed)))
    if any(type(light) is not type(whole) for light, whole in pairs):
        return {}
    positions = Positions(parsed, code)
    shift = ends[0] - 1  # behind the parenthesis
    return {id(light): (start + shift, end + shift) for light, whole in pairs for start, end in [positions.of(whole)]}


def _only_expression(tree: cst.Module) -> cst.BaseExpression | None:
    line = tree.body[0]
    only = line.body[0] if isinstance(line, cst.SimpleStatementLine) else None
    return only.value if isinstance(only, cst.Expr) else None


def _named(tree: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """The nodes that both kinds of tree have: of the texts in formatted strings CPython joins some."""
    return (one for one in descendants(tree) if type(one) is not cst.FormattedStringText)
