"""Walking a piece of syntax without libcst's visitors, which rebuild every node that they pass and cost more than a
parse does. The nodes of a tree of which many questions are asked are written down in their order, once."""

from __future__ import annotations

import weakref
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import TypeVar, overload

import libcst as cst

Node = TypeVar("Node", bound=cst.CSTNode)

PARTS: dict[str, tuple[str, ...]] = {
    "AnnAssign": ("target", "annotation", "value"),
    "Annotation": ("annotation",),
    "Arg": ("keyword", "value"),
    "AsName": ("name",),
    "Assert": ("test", "msg"),
    "Assign": ("targets", "value"),
    "AssignTarget": ("target",),
    "Attribute": ("value", "attr"),
    "AugAssign": ("target", "value"),
    "Await": ("expression",),
    "BinaryOperation": ("left", "right"),
    "BooleanOperation": ("left", "right"),
    "Call": ("func", "args"),
    "ClassDef": ("decorators", "name", "type_parameters", "bases", "keywords", "body"),
    "CompFor": ("target", "iter", "ifs", "inner_for_in"),
    "CompIf": ("test",),
    "Comparison": ("left", "comparisons"),
    "ComparisonTarget": ("comparator",),
    "ConcatenatedString": ("left", "right"),
    "Decorator": ("decorator",),
    "Del": ("target",),
    "Dict": ("elements",),
    "DictComp": ("key", "value", "for_in"),
    "DictElement": ("key", "value"),
    "Element": ("value",),
    "Else": ("body",),
    "ExceptHandler": ("type", "name", "body"),
    "ExceptStarHandler": ("type", "name", "body"),
    "Expr": ("value",),
    "Finally": ("body",),
    "For": ("target", "iter", "body", "orelse"),
    "FormattedString": ("parts",),
    "FormattedStringExpression": ("expression", "format_spec"),
    "From": ("item",),
    "FunctionDef": ("decorators", "name", "type_parameters", "params", "returns", "body"),
    "GeneratorExp": ("elt", "for_in"),
    "Global": ("names",),
    "If": ("test", "body", "orelse"),
    "IfExp": ("body", "test", "orelse"),
    "Import": ("names",),
    "ImportAlias": ("name", "asname"),
    "ImportFrom": ("module", "names"),
    "IndentedBlock": ("body",),
    "Index": ("value",),
    "Lambda": ("params", "body"),
    "LazyImport": ("names",),
    "LazyImportFrom": ("module", "names"),
    "List": ("elements",),
    "ListComp": ("elt", "for_in"),
    "Match": ("subject", "cases"),
    "MatchAs": ("pattern", "name"),
    "MatchCase": ("pattern", "guard", "body"),
    "MatchClass": ("cls", "patterns", "kwds"),
    "MatchKeywordElement": ("key", "pattern"),
    "MatchList": ("patterns",),
    "MatchMapping": ("elements", "rest"),
    "MatchMappingElement": ("key", "pattern"),
    "MatchOr": ("patterns",),
    "MatchOrElement": ("pattern",),
    "MatchSequenceElement": ("value",),
    "MatchSingleton": ("value",),
    "MatchStar": ("name",),
    "MatchTuple": ("patterns",),
    "MatchValue": ("value",),
    "Module": ("body",),
    "NameItem": ("name",),
    "NamedExpr": ("target", "value"),
    "Nonlocal": ("names",),
    "Param": ("name", "annotation", "default"),
    "ParamSpec": ("name",),
    "Parameters": ("posonly_params", "params", "star_arg", "kwonly_params", "star_kwarg"),
    "Raise": ("exc", "cause"),
    "Return": ("value",),
    "Set": ("elements",),
    "SetComp": ("elt", "for_in"),
    "SimpleStatementLine": ("body",),
    "SimpleStatementSuite": ("body",),
    "Slice": ("lower", "upper", "step"),
    "StarredDictComp": ("value", "for_in"),
    "StarredDictElement": ("value",),
    "StarredElement": ("value",),
    "Subscript": ("value", "slice"),
    "SubscriptElement": ("slice",),
    "TemplatedString": ("parts",),
    "TemplatedStringExpression": ("expression", "format_spec"),
    "Try": ("body", "handlers", "orelse", "finalbody"),
    "TryStar": ("body", "handlers", "orelse", "finalbody"),
    "Tuple": ("elements",),
    "TypeAlias": ("name", "type_parameters", "value"),
    "TypeParam": ("param", "default"),
    "TypeParameters": ("params",),
    "TypeVar": ("name", "bound"),
    "TypeVarTuple": ("name",),
    "UnaryOperation": ("expression",),
    "While": ("test", "body", "orelse"),
    "With": ("items", "body"),
    "WithItem": ("item", "asname"),
    "Yield": ("value",),
}
"""The fields of each kind of node that hold expressions and statements, in the order of the source. Operators, commas,
brackets and white space are left out; a kind that is not named here holds nothing else. By name, since older releases
of libcst lack some."""

_EMPTY: frozenset[type] = frozenset({type(None), type(cst.MaybeSentinel.DEFAULT), str})
_LEAVES: frozenset[type] = frozenset({cst.Name, cst.SimpleString, cst.Integer, cst.Float})
WORTH_A_PLACE = 12
"""Nodes in one from which on its place is kept: walking through fewer takes no longer than looking them up."""
_backwards: dict[type[cst.CSTNode], tuple[str, ...]] = {}
_sought: dict[tuple[type[cst.CSTNode], ...], tuple[frozenset[type], frozenset[type]]] = {}


def children(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """The expressions, statements and clauses that a node is made of, in source order."""
    for field in PARTS.get(type(node).__name__, ()):
        part = getattr(node, field)
        for one in part if isinstance(part, (tuple, list)) else (part,):
            if type(one) not in _EMPTY:
                yield one


@overload
def descendants(node: cst.CSTNode) -> Iterator[cst.CSTNode]: ...


@overload
def descendants(
    node: cst.CSTNode, *kinds: type[Node], but: frozenset[type[cst.CSTNode]] = frozenset()
) -> Iterator[Node]: ...


def descendants(
    node: cst.CSTNode, *kinds: type[cst.CSTNode], but: frozenset[type[cst.CSTNode]] = frozenset()
) -> Iterator[cst.CSTNode]:
    """A node and every expression, statement and clause in it, in source order.

    Args:
        kinds: the concrete kinds of node that are wanted; all where none is given. ``isinstance`` costs more than the
            walk, since the classes of libcst are abstract base classes.
        but: the concrete kinds that are skipped with all that is in them.
    """
    order = _orders.get(id(node))
    return _walk(node, kinds, but) if order is None else order.within(node, kinds, but)


def _walk(
    node: cst.CSTNode, kinds: tuple[type[cst.CSTNode], ...], but: frozenset[type[cst.CSTNode]]
) -> Iterator[cst.CSTNode]:
    wanted, skipped = _sought.get(kinds) or _seek(kinds)
    stack: list[cst.CSTNode] = [node]
    pop, push, extend = stack.pop, stack.append, stack.extend
    while stack:
        one = pop()
        kind = type(one)
        if kind in but:
            continue
        if not wanted or kind in wanted:
            yield one
        fields = _backwards.get(kind)
        for field in _fields_backwards(kind) if fields is None else fields:
            part = getattr(one, field)
            sort = type(part)
            if sort is tuple or sort is list:
                extend(part[::-1])
            elif sort not in skipped:
                push(part)


def _seek(kinds: tuple[type[cst.CSTNode], ...]) -> tuple[frozenset[type], frozenset[type]]:
    """The kinds of node that are wanted, and those that need no visit: nothing, and what holds nothing."""
    wanted = frozenset(kinds)
    found = _sought[kinds] = (wanted, _EMPTY | (_LEAVES - wanted) if wanted else _EMPTY)
    return found


def _fields_backwards(kind: type[cst.CSTNode]) -> tuple[str, ...]:
    fields = _backwards[kind] = tuple(reversed(PARTS.get(kind.__name__, ())))
    return fields


def keep_order(tree: cst.Module, owner: object) -> None:
    """From the first walk through a whole tree on, walks through it and through what it holds look up where its nodes
    stand, as long as its owner lives. Nothing may change the tree."""
    order = _orders[id(tree)] = _Order(tree)
    weakref.finalize(owner, order.forget).atexit = False


class _Order:
    """The nodes of a tree in the order of the source: what a node holds are those behind it, up to its end."""

    def __init__(self, tree: cst.Module) -> None:
        self._tree = tree
        self._nodes: list[cst.CSTNode] = []
        self._ends = array("i")
        self._of_kind: dict[type[cst.CSTNode], array[int]] = {}
        self._places: dict[int, int] = {}

    def forget(self) -> None:
        """Walks go through the tree itself again."""
        for one in self._places or (id(self._tree),):
            del _orders[one]

    def within(
        self, node: cst.CSTNode, kinds: tuple[type[cst.CSTNode], ...], but: frozenset[type[cst.CSTNode]]
    ) -> Iterator[cst.CSTNode]:
        """What :func:`descendants` gives."""
        if not self._places:
            self._read()
        start = self._places[id(node)]
        end = self._ends[start]
        places: Iterator[int] = iter(range(start, end)) if not kinds else self._of(dict.fromkeys(kinds), start, end)
        if but:
            places = self._outside(self._of(but, start, end), places)
        return map(self._nodes.__getitem__, places)

    def _of(self, kinds: Iterable[type[cst.CSTNode]], start: int, end: int) -> Iterator[int]:
        """Where nodes of some kinds stand within two places, in their order."""
        known = [self._of_kind[one] for one in kinds if one in self._of_kind]
        found = [one[bisect_left(one, start) : bisect_left(one, end)] for one in known]
        return iter(found[0] if len(found) == 1 else sorted(chain.from_iterable(found)))

    def _outside(self, skipped: Iterator[int], places: Iterator[int]) -> Iterator[int]:
        """Those of the places that are not those of skipped nodes or in them."""
        following, until = next(skipped, None), 0
        for place in places:
            while following is not None and following <= place:
                until = max(until, self._ends[following])
                following = next(skipped, None)
            if place >= until:
                yield place

    def _read(self) -> None:
        nodes, ends = self._nodes, self._ends
        unfinished: list[int] = []
        stack: list[cst.CSTNode | None] = [self._tree]
        while stack:
            node = stack.pop()
            if node is None:
                place = unfinished.pop()
                ends[place] = len(nodes)
                if len(nodes) - place >= WORTH_A_PLACE or not place:
                    self._places[id(nodes[place])] = place
                continue
            place, kind = len(nodes), type(node)
            nodes.append(node)
            ends.append(place + 1)
            of_kind = self._of_kind.get(kind)
            if of_kind is None:
                of_kind = self._of_kind[kind] = array("i")
            of_kind.append(place)
            fields = _backwards.get(kind)
            if fields is None:
                fields = _fields_backwards(kind)
            if fields:
                unfinished.append(place)
                stack.append(None)
            for field in fields:
                part = getattr(node, field)
                sort = type(part)
                if sort is tuple or sort is list:
                    stack.extend(part[::-1])
                elif sort not in _EMPTY:
                    stack.append(part)
        _orders.update(dict.fromkeys(self._places, self))


_orders: dict[int, _Order] = {}
"""By the id of each node whose place is known."""
