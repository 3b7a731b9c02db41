"""Walking a piece of syntax without libcst's visitors, which rebuild every node that they pass and cost more than a
parse does."""

from __future__ import annotations

from collections.abc import Iterator
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
        if fields is None:
            fields = _backwards[kind] = tuple(reversed(PARTS.get(kind.__name__, ())))
        for field in fields:
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
