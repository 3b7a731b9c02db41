"""Activations that are computed step by step where torch has one function for each.

A product is one where its factors are a tensor and what is computed of that same tensor: ``x * sigmoid(x)``. Names are
followed in the order of the text.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.project.target import Version
from accel_advisor.records.queries.written_out.arithmetic import Arithmetic, Product, functions_called, number_of
from accel_advisor.records.queries.written_out.definitions import Definition, computing_functions
from accel_advisor.syntax.imports import name_at_top
from accel_advisor.syntax.walking import descendants

if TYPE_CHECKING:
    from accel_advisor.records.facts import Facts

_WORDS = ("sigmoid", "tanh", "erf", "relu6", "clamp", "hardtanh", "ReLU6", "Sigmoid", "Tanh")
"""One of them stands in each class or function that has something to find."""
_INNER: frozenset[type[cst.CSTNode]] = frozenset({cst.FunctionDef, cst.ClassDef, cst.Lambda})


@dataclass(frozen=True, slots=True)
class _Kind:
    """A function of ``torch.nn.functional``: what it is called, what it is given beside the tensor, and the version of
    torch that it came with."""

    name: str
    since: Version
    also: str = ""


_SILU, _MISH = _Kind("silu", (1, 7)), _Kind("mish", (1, 9))
_HARDSWISH, _HARDSIGMOID = _Kind("hardswish", (1, 6)), _Kind("hardsigmoid", (1, 6))
_GELU, _GELU_TANH = _Kind("gelu", (1, 4)), _Kind("gelu", (1, 12), ', approximate="tanh"')


@dataclass(frozen=True, slots=True)
class Activation:
    """One activation that is computed step by step.

    Attributes:
        node: all of it, but for what stands in statements above.
        tensor: what it is computed of.
        definition: the function or class that it stands in.
        name, also: the function of ``torch.nn.functional`` that computes it, and what that is given besides.
        since: the version of torch that has this function.
        whole: whether all of it stands in ``node``.
    """

    node: cst.BaseExpression
    tensor: cst.BaseExpression
    definition: Definition
    name: str
    also: str
    since: Version
    whole: bool


def name_of_functional(facts: Facts) -> str | None:
    """What a document calls ``torch.nn.functional`` at its top; None where it imports neither that nor torch."""
    document = facts.document
    name = name_at_top(document.tree, "torch.nn.functional")
    if name is not None and document.imported.get(name) == "torch.nn.functional":
        return name
    return f"{facts.torch_name}.nn.functional" if facts.torch_name is not None else None


def written_out_activations(facts: Facts) -> Iterator[Activation]:
    """The activations of a document that a run may compute, in the order of its text: no part of another one, and none
    in a backward pass."""
    definitions = list(computing_functions(facts, _WORDS))
    called = functions_called(facts) if definitions else {}
    for definition in definitions:
        yield from _Reader(Arithmetic(facts.document, definition.function.body, called), definition).found()


@dataclass(frozen=True, slots=True)
class _Gate:
    """What a tensor is multiplied with: which activation the product is, the tensor, the number that belongs to it, and
    the expressions that names stand for on the way."""

    kind: _Kind
    tensor: cst.BaseExpression
    number: float = 1.0


class _Reader:
    """The activations of one function."""

    def __init__(self, arithmetic: Arithmetic, definition: Definition) -> None:
        self._arithmetic, self._definition = arithmetic, definition
        self._names = [one.value for one in descendants(definition.function.body, cst.Name)]

    def found(self) -> Iterator[Activation]:
        """The outermost products that are activations, but for those that others are computed of."""
        seen: set[int] = set()
        matches: list[Activation] = []
        used: set[int] = set()
        for node in descendants(self._definition.function.body, cst.BinaryOperation, cst.Call, but=_INNER):
            if id(node) in seen:
                continue
            match = self._activation(node, used)
            if match is not None:
                matches.append(match)
                seen |= {id(one) for one in descendants(node)}
        yield from (one for one in matches if id(one.node) not in used)

    def _activation(self, node: cst.BaseExpression, used: set[int]) -> Activation | None:
        product = self._arithmetic.product(node)
        whole = True
        for factor in product.factors if len(product.factors) == 2 else ():
            value = self._arithmetic.given(factor)
            if value is not factor and self._is_gate(value) and self._is_read_once(factor):
                other = next(one for one in product.factors if one is not factor)
                inner = self._arithmetic.product(value)
                product = Product(product.number * inner.number, (other, *inner.factors))
                used.add(id(value))
                whole = False
                break
        found = self._matches(product)
        if found is None:
            return None
        kind, tensor = found.kind, found.tensor
        return Activation(node, tensor, self._definition, kind.name, kind.also, kind.since, whole)

    def _is_read_once(self, name: cst.BaseExpression) -> bool:
        return isinstance(name, cst.Name) and self._names.count(name.value) == 2

    def _is_gate(self, value: cst.BaseExpression) -> bool:
        factors = self._arithmetic.product(value).factors
        return len(factors) == 1 and self._gate(factors[0]) is not None

    def _matches(self, product: Product) -> _Gate | None:
        """The gate of a product that is an activation."""
        if len(product.factors) == 1:
            gate = self._gate(product.factors[0])
            alone = gate is not None and gate.kind is _HARDSWISH and _near(gate.number, product.number)
            return _Gate(_HARDSIGMOID, gate.tensor) if gate is not None and alone and gate.number < 1 else None
        if len(product.factors) != 2:
            return None
        for one, other in (product.factors, product.factors[::-1]):
            gate = self._gate(one)
            if gate is not None and self._arithmetic.same(gate.tensor, other) and _near(product.number, gate.number):
                return gate
        return None

    def _gate(self, node: cst.BaseExpression) -> _Gate | None:
        name, args = self._arithmetic.function(node)
        if args and name in ("sigmoid", "sigmoid_"):
            return _Gate(_SILU, args[0].value)
        if args and name == "hardsigmoid":
            return _Gate(_HARDSWISH, args[0].value)
        if args and name in ("relu6", "clamp", "clamp_", "hardtanh") and (name == "relu6" or _to_six(args[1:])):
            shifted = self._arithmetic.sum(args[0].value)
            return _Gate(_HARDSWISH, shifted[0], 1 / 6) if shifted is not None and shifted[1] == 3 else None
        if args and name == "tanh":
            inner, of = self._arithmetic.function(self._arithmetic.given(args[0].value))
            return _Gate(_MISH, of[0].value) if inner == "softplus" and len(of) == 1 else None
        return self._gelu_gate(node)

    def _gelu_gate(self, node: cst.BaseExpression) -> _Gate | None:
        plus = self._arithmetic.sum(node)
        if plus is None or plus[1] != 1:
            return None
        name, args = self._arithmetic.function(plus[0])
        if len(args) != 1 or name not in ("erf", "tanh"):
            return None
        inner = self._arithmetic.product(self._arithmetic.given(args[0].value))
        if len(inner.factors) != 1:
            return None
        if name == "erf":
            return _Gate(_GELU, inner.factors[0], 0.5) if _near(inner.number, math.sqrt(0.5)) else None
        tensor = self._cubed(inner.factors[0]) if _near(inner.number, math.sqrt(2 / math.pi)) else None
        return _Gate(_GELU_TANH, tensor, 0.5) if tensor is not None else None

    def _cubed(self, node: cst.BaseExpression) -> cst.BaseExpression | None:
        """The tensor of ``x + 0.044715 * x ** 3``."""
        if not isinstance(node, cst.BinaryOperation) or not isinstance(node.operator, cst.Add):
            return None
        product = self._arithmetic.product(node.right)
        if not _near(product.number, 0.044715):
            return None
        powers = [self._power(one) for one in product.factors]
        same = all(power is not None and self._arithmetic.same(power[0], node.left) for power in powers)
        return node.left if same and sum(power[1] for power in powers if power is not None) == 3 else None

    def _power(self, node: cst.BaseExpression) -> tuple[cst.BaseExpression, float] | None:
        if isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.Power):
            number = number_of(node.right)
            return (node.left, number) if number is not None else None
        name, args = self._arithmetic.function(node)
        if name == "pow" and len(args) == 2:
            number = number_of(args[1].value)
            return (args[0].value, number) if number is not None else None
        return node, 1.0


def _near(one: float, other: float) -> bool:
    return abs(one - other) < 1e-3 * abs(other)


def _to_six(args: tuple[cst.Arg, ...]) -> bool:
    """Whether a range is given that goes from 0 to 6."""
    return [number_of(one.value) for one in args[:2]] == [0.0, 6.0]
