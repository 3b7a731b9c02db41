"""The arithmetic of a function's expressions: which library functions they call, what they multiply, and by what."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.records.actions import Call
from accel_advisor.records.queries.written_out.bound_names import BoundNames
from accel_advisor.syntax.shapes import assigned_value, dotted, last_name
from accel_advisor.values.values import Module

if TYPE_CHECKING:
    from accel_advisor.records.facts import Facts
    from accel_advisor.source.document import Document

_ROOTS, _PI = frozenset({"sqrt"}), frozenset({"pi"})
_MODULES = {
    "torch.nn.Sigmoid": "sigmoid",
    "torch.nn.Tanh": "tanh",
    "torch.nn.Softplus": "softplus",
    "torch.nn.ReLU6": "relu6",
    "torch.nn.Hardsigmoid": "hardsigmoid",
}
_OWNERS = ("torch", "torch.nn.functional", "torch.special")


def functions_called(facts: Facts) -> dict[int, str]:
    """The last names of torch's own functions, and of its modules that stand for one, by the calls of them."""
    found = {
        id(one.node): one.what.name
        for one in facts.operations
        if isinstance(one.what, Call) and one.what.owner in _OWNERS
    }
    for call in facts.module_calls:
        for module in (context.module for context in call.contexts):
            if isinstance(module, Module) and module.kind in _MODULES and not _is_adjusted(module):
                found[id(call.node)] = _MODULES[module.kind]
    return found


def _is_adjusted(module: Module) -> bool:
    """Whether a softplus is given a slope."""
    return module.kind == "torch.nn.Softplus" and isinstance(module.node, cst.Call) and bool(module.node.args)


@dataclass(frozen=True, slots=True)
class Product:
    """A product: a number, and what else is multiplied."""

    number: float
    factors: tuple[cst.BaseExpression, ...]


class Arithmetic:
    """The expressions of one function.

    Args:
        document: where it stands.
        body: its statements.
        called: what its calls are calls of, as :func:`functions_called` says.
    """

    def __init__(self, document: Document, body: cst.BaseSuite, called: Mapping[int, str]) -> None:
        self._document, self._body, self._called = document, body, called

    @cached_property
    def _names(self) -> BoundNames:
        """Only where a name has to be followed: most functions multiply none."""
        return BoundNames(self._document, self._body)

    def function(self, node: cst.CSTNode | None) -> tuple[str, tuple[cst.Arg, ...]]:
        """Which function of torch a call is one of, or which method, and what it is given: the tensor first. An empty
        name for any other expression."""
        if not isinstance(node, cst.Call):
            return "", ()
        name = self._called.get(id(node))
        if name is not None:
            return name, tuple(node.args)
        func = node.func
        if isinstance(func, cst.Attribute) and not dotted(func.value).startswith("self"):
            return func.attr.value, (cst.Arg(func.value), *node.args)
        return "", ()

    def given(self, node: cst.BaseExpression) -> cst.BaseExpression:
        """What the name that an expression is was given by the last assignment above it; else the expression."""
        bound = self._names.bound_by(node) if isinstance(node, cst.Name) else None
        named = isinstance(bound, cst.Assign) and isinstance(bound.targets[0].target, cst.Name)
        value = assigned_value(bound) if bound is not None and named else None
        return node if value is None else value

    def same(self, one: cst.BaseExpression, other: cst.BaseExpression) -> bool:
        """Whether two expressions certainly are one tensor: the same name, attribute or item, of the same assignment
        where it is a name."""
        if self._document.code(one) != self._document.code(other):
            return False
        if isinstance(one, cst.Name) and isinstance(other, cst.Name):
            return self._names.bound_by(one) is self._names.bound_by(other)
        return isinstance(one, (cst.Attribute, cst.Subscript)) and isinstance(other, (cst.Attribute, cst.Subscript))

    def product(self, node: cst.BaseExpression) -> Product:
        """An expression as a product; of itself, where it is none."""
        number = number_of(node)
        if number is not None:
            return Product(number, ())
        if isinstance(node, cst.BinaryOperation):
            if isinstance(node.operator, cst.Multiply):
                return self._times(node.left, node.right)
            if isinstance(node.operator, cst.Divide):
                return self._by(node.left, node.right) or Product(1.0, (node,))
        name, args = self.function(node)
        if len(args) == 2 and name in ("mul", "mul_", "multiply"):
            return self._times(args[0].value, args[1].value)
        if len(args) == 2 and name in ("div", "div_"):
            return self._by(args[0].value, args[1].value) or Product(1.0, (node,))
        return Product(1.0, (node,))

    def sum(self, node: cst.BaseExpression) -> tuple[cst.BaseExpression, float] | None:
        """What a number is added to, and that number; None for other expressions."""
        parts: tuple[cst.BaseExpression, ...] = ()
        if isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.Add):
            parts = (node.left, node.right)
        name, args = self.function(node)
        if len(args) == 2 and name in ("add", "add_"):
            parts = (args[0].value, args[1].value)
        for part, other in (parts, parts[::-1]) if parts else ():
            number = number_of(part)
            if number is not None:
                return other, number
        return None

    def _times(self, left: cst.BaseExpression, right: cst.BaseExpression) -> Product:
        first, second = self.product(left), self.product(right)
        return Product(first.number * second.number, first.factors + second.factors)

    def _by(self, left: cst.BaseExpression, right: cst.BaseExpression) -> Product | None:
        divisor = number_of(right)
        if not divisor:
            return None
        top = self.product(left)
        return Product(top.number / divisor, top.factors)


def number_of(node: cst.CSTNode) -> float | None:
    """The number that an expression of numbers is, with roots, powers and pi; None for others."""
    if isinstance(node, (cst.Integer, cst.Float)):
        return float(node.evaluated_value)
    if isinstance(node, cst.UnaryOperation) and isinstance(node.operator, cst.Minus):
        inner = number_of(node.expression)
        return None if inner is None else -inner
    if isinstance(node, cst.Attribute) and node.attr.value in _PI:
        return math.pi
    if isinstance(node, cst.Call) and len(node.args) == 1:
        root = last_name(node.func) in _ROOTS
        inner = number_of(node.args[0].value) if root else None
        return math.sqrt(inner) if inner is not None and inner >= 0 else None
    if isinstance(node, cst.BinaryOperation):
        left, right = number_of(node.left), number_of(node.right)
        return None if left is None or right is None else _result(node.operator, left, right)
    return None


def _result(operator: cst.BaseBinaryOp, left: float, right: float) -> float | None:
    if isinstance(operator, cst.Multiply):
        return left * right
    if isinstance(operator, cst.Divide) and right:
        return left / right
    return left**right if isinstance(operator, cst.Power) and 0 < left < 1e6 and abs(right) < 9 else None
