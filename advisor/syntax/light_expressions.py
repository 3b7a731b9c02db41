"""Expressions of CPython's parser, in libcst's nodes without white space."""

from __future__ import annotations

import ast
import dataclasses
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any, NamedTuple, NoReturn, TypeAlias, TypeVar

import libcst as cst

from accel_advisor.syntax.light_operators import BINARY, BOOLEAN, COMPARED, NUMBERS, UNARY

Node = TypeVar("Node", bound=cst.CSTNode)


Located: TypeAlias = ast.stmt | ast.expr | ast.keyword | ast.arg | ast.alias | ast.excepthandler
"""A node of CPython's that knows where it stands."""


class UnknownSyntaxError(Exception):
    """Syntax of a kind that is not read here."""


class _Makers(dict[type[ast.expr], Callable[[Any], cst.BaseExpression]]):
    def __missing__(self, kind: type[ast.expr]) -> NoReturn:
        raise UnknownSyntaxError(kind.__name__)


class Alone(NamedTuple):
    """The place of an argument that is the only one of its call."""

    value: ast.expr
    call: ast.Call


Place: TypeAlias = Located | Alone
"""What knows where a node stands."""

_LINES = re.compile(rb"\r\n|\r|\n")
_LITERAL = re.compile(
    r"""[a-zA-Z]{0,2}(?:
    '{3}(?:[^\\']|\\.|'(?!''))*+'{3} | "{3}(?:[^\\"]|\\.|"(?!""))*+"{3}
    | '(?:[^\\'\r\n]|\\(?:\r\n|.))*+' | "(?:[^\\"\r\n]|\\(?:\r\n|.))*+"
    )""",
    re.VERBOSE | re.DOTALL,
)
"""One string, which no other follows."""
_OPENING = re.compile(r"""^([a-zA-Z]*)('{3}|"{3}|'|")""")

_set = object.__setattr__
_Default: TypeAlias = tuple[Callable[[object, object], None], object]
_defaults: dict[type[cst.CSTNode], tuple[_Default, ...]] = {}


def build(kind: type[Node], /, **fields: object) -> Node:
    """A node with these fields, and the defaults of all others, which nodes of a kind share. libcst's own constructors
    take several times as long, since they make and check every field of every node.

    Args:
        kind: which fields are given must be the same for every node of a kind.
    """
    made = object.__new__(kind)
    for name, value in fields.items():
        _set(made, name, value)
    defaults = _defaults.get(kind)
    if defaults is None:
        defaults = _defaults[kind] = tuple(_others(kind, fields.keys()))
    for put, value in defaults:
        put(made, value)
    return made


def _others(kind: type[cst.CSTNode], given: Collection[str]) -> Iterator[_Default]:
    for field in dataclasses.fields(kind):
        if field.name not in given:
            factory = field.default_factory
            yield getattr(kind, field.name).__set__, field.default if factory is dataclasses.MISSING else factory()


class Expressions:
    """Makes expressions of the nodes of a text's tree.

    Attributes:
        places: by the id of a node that was made, the one of CPython's that it stands where.
    """

    def __init__(self, text: str) -> None:
        self.places: dict[int, Place] = {}
        self._inside = False
        self._raw = text.encode()
        self._starts = [0, *(newline.end() for newline in _LINES.finditer(self._raw))]
        makers: dict[type[ast.expr], Callable[[Any], cst.BaseExpression]] = {
            ast.Name: self._name,
            ast.Attribute: self._attribute,
            ast.Call: self._call,
            ast.Constant: self._constant,
            ast.JoinedStr: self._formatted,
            ast.Subscript: self._subscript,
            ast.BinOp: self._binary,
            ast.UnaryOp: self._unary,
            ast.BoolOp: self._boolean,
            ast.Compare: self._comparison,
            ast.IfExp: self._conditional,
            ast.Tuple: self._tuple,
            ast.List: self._list,
            ast.Set: self._set_display,
            ast.Dict: self._dict,
            ast.ListComp: self._list_comprehension,
            ast.SetComp: self._set_comprehension,
            ast.GeneratorExp: self._generator,
            ast.DictComp: self._dict_comprehension,
            ast.Lambda: self._lambda,
            ast.NamedExpr: self._named,
            ast.Await: self._await,
            ast.Yield: self._yield,
            ast.YieldFrom: self._yield_from,
        }
        self._makers = _Makers(makers)

    def placed(self, made: Node, place: Place) -> Node:
        """A node, of which it is noted where it stands."""
        self.places[id(made)] = place
        return made

    def expression(self, node: ast.expr) -> cst.BaseExpression:
        """An expression."""
        made = self._makers[type(node)](node)
        self.places[id(made)] = node
        return made

    def optional(self, node: ast.expr | None) -> cst.BaseExpression | None:
        """An expression where there is one."""
        return None if node is None else self.expression(node)

    def word(self, value: str, place: Place) -> cst.Name:
        """A name that is a part of a node, such as a keyword or an attribute."""
        return self.placed(build(cst.Name, value=value), place)

    def begins_line(self, node: ast.stmt) -> bool:
        """Whether nothing but white space stands in front of a statement on its line, and no line continues there."""
        start = self._starts[node.lineno - 1]
        indented = not self._raw[start : start + node.col_offset].strip()
        return indented and not self._raw.endswith((b"\\\n", b"\\\r", b"\\\r\n"), 0, start)

    def begins_with(self, node: ast.stmt, word: bytes) -> bool:
        """Whether a statement begins with a word."""
        return self._raw.startswith(word, self._starts[node.lineno - 1] + node.col_offset)

    def asynchronous(self, is_so: bool) -> cst.Asynchronous | None:
        """The mark of what is asynchronous."""
        return build(cst.Asynchronous) if is_so else None

    def _text(self, node: ast.expr) -> str:
        start = self._starts[node.lineno - 1] + node.col_offset
        return self._raw[start : self._starts[(node.end_lineno or 0) - 1] + (node.end_col_offset or 0)].decode()

    def _name(self, node: ast.Name) -> cst.Name:
        return build(cst.Name, value=node.id)

    def _attribute(self, node: ast.Attribute) -> cst.Attribute:
        return build(cst.Attribute, value=self.expression(node.value), attr=self.word(node.attr, node))

    def _call(self, node: ast.Call) -> cst.Call:
        func = self.expression(node.func)
        parts: list[ast.expr | ast.keyword] = [*node.args, *node.keywords]
        if node.keywords and node.args and _position(node.args[-1]) > _position(node.keywords[0]):
            parts.sort(key=_position)
        args = [self.keyword(one) if isinstance(one, ast.keyword) else self.argument(one) for one in parts]
        if len(args) == 1 and node.args:
            self.places[id(args[0])] = Alone(node.args[0], node)
        return build(cst.Call, func=func, args=args)

    def argument(self, node: ast.expr) -> cst.Arg:
        """An argument without a keyword."""
        star = isinstance(node, ast.Starred)
        value = self.expression(node.value if isinstance(node, ast.Starred) else node)
        return self.placed(build(cst.Arg, keyword=None, star="*" if star else "", value=value), node)

    def keyword(self, node: ast.keyword) -> cst.Arg:
        """An argument with a keyword, or ``**``."""
        keyword = None if node.arg is None else self.word(node.arg, node)
        star = "" if node.arg else "**"
        return self.placed(build(cst.Arg, keyword=keyword, star=star, value=self.expression(node.value)), node)

    def _constant(self, node: ast.Constant) -> cst.BaseExpression:
        value = node.value
        kind = type(value)
        if kind is str or kind is bytes:
            text = self._text(node)
            if not _LITERAL.fullmatch(text):
                self._must_be_outside()
                return _parsed(text)
            return build(cst.SimpleString, value=self._checked(text, value))
        if value is None or kind is bool:
            return build(cst.Name, value=str(value))
        if value is ...:
            return build(cst.Ellipsis)
        return build(NUMBERS[kind], value=self._checked(self._text(node), value))

    def _formatted(self, node: ast.JoinedStr) -> cst.BaseExpression:
        text = self._text(node)
        if not _LITERAL.fullmatch(text):
            self._must_be_outside()
            return _parsed(text)
        outside, self.places, self._inside = (self.places, self._inside), {}, True
        try:
            parts = self._parts(node)
        finally:
            self.places, self._inside = outside
        start, end = _OPENING.findall(text)[0]
        return build(cst.FormattedString, parts=parts, start=start + end, end=end)

    def _must_be_outside(self) -> None:
        """Inside of a formatted string a node does not know for certain where it stands, before Python 3.12."""
        if self._inside:
            raise UnknownSyntaxError("text within a formatted string")

    def _checked(self, text: str, value: object) -> str:
        if self._inside and ast.literal_eval(text) != value:
            self._must_be_outside()
        return text

    def _parts(self, node: ast.expr | None) -> list[cst.BaseFormattedStringContent] | None:
        if not isinstance(node, ast.JoinedStr):
            return None
        made: list[cst.BaseFormattedStringContent] = []
        for one in node.values:
            if isinstance(one, ast.FormattedValue):
                value, spec = self.expression(one.value), self._parts(one.format_spec)
                made.append(build(cst.FormattedStringExpression, expression=value, format_spec=spec))
            elif isinstance(one, ast.Constant):
                made.append(build(cst.FormattedStringText, value=one.value))
        return made

    def _subscript(self, node: ast.Subscript) -> cst.Subscript:
        inner = node.slice
        parts: Sequence[ast.expr] = [inner]
        if isinstance(inner, ast.Tuple) and inner.elts:
            self._must_be_outside()
            if not self._in_parentheses(inner):
                parts = inner.elts
        elements = [build(cst.SubscriptElement, slice=self._slice(one)) for one in parts]
        return build(cst.Subscript, value=self.expression(node.value), slice=elements)

    def _in_parentheses(self, node: ast.Tuple) -> bool:
        text = self._text(node)
        if not (text.startswith("(") and text.endswith(")")):
            return False
        whole = cst.parse_expression(f"({text}\n)")
        return len(whole.lpar) > 1 or not isinstance(whole, cst.Tuple)

    def _slice(self, node: ast.expr) -> cst.BaseSlice:
        if isinstance(node, ast.Slice):
            lower, upper, step = (self.optional(one) for one in (node.lower, node.upper, node.step))
            return self.placed(build(cst.Slice, lower=lower, upper=upper, step=step), node)
        if isinstance(node, ast.Starred):
            return build(cst.Index, value=self.expression(node.value), star="*")
        return build(cst.Index, value=self.expression(node), star=None)

    def _binary(self, node: ast.BinOp) -> cst.BinaryOperation:
        left = self.expression(node.left)
        return build(cst.BinaryOperation, left=left, operator=BINARY[type(node.op)], right=self.expression(node.right))

    def _unary(self, node: ast.UnaryOp) -> cst.UnaryOperation:
        return build(cst.UnaryOperation, operator=UNARY[type(node.op)], expression=self.expression(node.operand))

    def _boolean(self, node: ast.BoolOp) -> cst.BaseExpression:
        operator = BOOLEAN[type(node.op)]
        left, *rest = (self.expression(one) for one in node.values)
        for right in rest:
            left = build(cst.BooleanOperation, left=left, operator=operator, right=right)
        return left

    def _comparison(self, node: ast.Compare) -> cst.Comparison:
        comparisons = [
            build(cst.ComparisonTarget, operator=COMPARED[type(operator)], comparator=self.expression(one))
            for operator, one in zip(node.ops, node.comparators, strict=True)
        ]
        return build(cst.Comparison, left=self.expression(node.left), comparisons=comparisons)

    def _conditional(self, node: ast.IfExp) -> cst.IfExp:
        body, test, orelse = (self.expression(one) for one in (node.body, node.test, node.orelse))
        return build(cst.IfExp, body=body, test=test, orelse=orelse)

    def _elements(self, nodes: Sequence[ast.expr]) -> list[cst.BaseElement]:
        return [
            build(cst.StarredElement, value=self.expression(one.value))
            if isinstance(one, ast.Starred)
            else build(cst.Element, value=self.expression(one))
            for one in nodes
        ]

    def _tuple(self, node: ast.Tuple) -> cst.Tuple:
        return build(cst.Tuple, elements=self._elements(node.elts))

    def _list(self, node: ast.List) -> cst.List:
        return build(cst.List, elements=self._elements(node.elts))

    def _set_display(self, node: ast.Set) -> cst.Set:
        return build(cst.Set, elements=self._elements(node.elts))

    def _dict(self, node: ast.Dict) -> cst.Dict:
        elements = [
            build(cst.StarredDictElement, value=self.expression(value))
            if key is None
            else build(cst.DictElement, key=self.expression(key), value=self.expression(value))
            for key, value in zip(node.keys, node.values, strict=True)
        ]
        return build(cst.Dict, elements=elements)

    def _list_comprehension(self, node: ast.ListComp) -> cst.ListComp:
        return build(cst.ListComp, elt=self.expression(node.elt), for_in=self._comprehension(node.generators))

    def _set_comprehension(self, node: ast.SetComp) -> cst.SetComp:
        return build(cst.SetComp, elt=self.expression(node.elt), for_in=self._comprehension(node.generators))

    def _generator(self, node: ast.GeneratorExp) -> cst.GeneratorExp:
        return build(cst.GeneratorExp, elt=self.expression(node.elt), for_in=self._comprehension(node.generators))

    def _dict_comprehension(self, node: ast.DictComp) -> cst.DictComp:
        key, value = self.expression(node.key), self.expression(node.value)
        return build(cst.DictComp, key=key, value=value, for_in=self._comprehension(node.generators))

    def _comprehension(self, nodes: Sequence[ast.comprehension]) -> cst.CompFor | None:
        made: cst.CompFor | None = None
        for node in reversed(nodes):
            made = build(
                cst.CompFor,
                target=self.expression(node.target),
                iter=self.expression(node.iter),
                ifs=[build(cst.CompIf, test=self.expression(one)) for one in node.ifs],
                inner_for_in=made,
                asynchronous=self.asynchronous(bool(node.is_async)),
            )
        return made

    def _lambda(self, node: ast.Lambda) -> cst.Lambda:
        return build(cst.Lambda, params=self.parameters(node.args), body=self.expression(node.body))

    def _named(self, node: ast.NamedExpr) -> cst.NamedExpr:
        return build(cst.NamedExpr, target=self.expression(node.target), value=self.expression(node.value))

    def _await(self, node: ast.Await) -> cst.Await:
        return build(cst.Await, expression=self.expression(node.value))

    def _yield(self, node: ast.Yield) -> cst.Yield:
        return build(cst.Yield, value=self.optional(node.value))

    def _yield_from(self, node: ast.YieldFrom) -> cst.Yield:
        return build(cst.Yield, value=build(cst.From, item=self.expression(node.value)))

    def parameters(self, node: ast.arguments) -> cst.Parameters:
        """The parameters of a function."""
        plain = [*node.posonlyargs, *node.args]
        defaults = [None] * (len(plain) - len(node.defaults)) + [*node.defaults]
        made = [self._parameter(one, default) for one, default in zip(plain, defaults, strict=True)]
        only = [self._parameter(*one) for one in zip(node.kwonlyargs, node.kw_defaults, strict=True)]
        star: cst.Param | cst.ParamStar | cst.MaybeSentinel = cst.MaybeSentinel.DEFAULT
        if node.vararg is not None:
            star = self._parameter(node.vararg, None, "*")
        elif only:
            star = build(cst.ParamStar)
        return build(
            cst.Parameters,
            params=made[len(node.posonlyargs) :],
            star_arg=star,
            kwonly_params=only,
            star_kwarg=None if node.kwarg is None else self._parameter(node.kwarg, None, "**"),
            posonly_params=made[: len(node.posonlyargs)],
        )

    def _parameter(self, node: ast.arg, default: ast.expr | None, star: str = "") -> cst.Param:
        return build(
            cst.Param,
            name=self.word(node.arg, node),
            annotation=self.annotation(node.annotation),
            default=self.optional(default),
            star=star,
        )

    def annotation(self, node: ast.expr | None) -> cst.Annotation | None:
        """The annotation of a parameter, result or variable."""
        return None if node is None else build(cst.Annotation, annotation=self.expression(node))


def _position(node: ast.expr | ast.keyword) -> tuple[int, int]:
    return node.lineno, node.col_offset


def _parsed(text: str) -> cst.BaseExpression:
    """An expression as libcst parses it: several strings behind each other, which CPython reads as one."""
    return cst.parse_expression(f"({text}\n)")
