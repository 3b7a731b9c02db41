"""Layer norms that are computed step by step: a mean, a variance of the same tensor, and a quotient of both."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.records.queries.written_out.arithmetic import Arithmetic, functions_called, number_of
from accel_advisor.records.queries.written_out.definitions import computing_functions
from accel_advisor.syntax.shapes import dotted
from accel_advisor.syntax.walking import descendants

if TYPE_CHECKING:
    from accel_advisor.records.facts import Facts

_INNER: frozenset[type[cst.CSTNode]] = frozenset({cst.FunctionDef, cst.ClassDef})


@dataclass(frozen=True, slots=True)
class LayerNorm:
    """One layer norm that is computed step by step.

    Attributes:
        node: the quotient.
        last: whether it goes over the last dimension; over the second otherwise.
    """

    node: cst.BinaryOperation
    last: bool


def written_out_layer_norms(facts: Facts) -> Iterator[LayerNorm]:
    """The layer norms in the ``forward`` of a document's modules, whose variance is the biased one and whose epsilon is
    added to that, as torch does it."""
    methods = (one for one in computing_functions(facts, ("sqrt",)) if one.owner is not None)
    definitions = [one for one in methods if one.function.name.value == "forward"]
    called = functions_called(facts) if definitions else {}
    for definition in definitions:
        body = definition.function.body
        reader = _Reader(Arithmetic(facts.document, body, called))
        for node in descendants(body, cst.BinaryOperation, but=_INNER):
            found = reader.normalized(node)
            if found is not None:
                yield LayerNorm(node, found[1] == -1)


_Over = tuple[cst.BaseExpression, int]
"""A tensor, and the dimension that something goes over."""


class _Reader:
    def __init__(self, arithmetic: Arithmetic) -> None:
        self._arithmetic = arithmetic

    def normalized(self, node: cst.BinaryOperation) -> _Over | None:
        """What a quotient normalizes, if it does so."""
        pairs: tuple[tuple[cst.BaseExpression, cst.BaseExpression | None], ...]
        if isinstance(node.operator, cst.Divide):
            pairs = ((node.left, self._under_root(node.right, "sqrt")),)
        elif isinstance(node.operator, cst.Multiply):
            pairs = (
                (node.left, self._under_root(node.right, "rsqrt")),
                (node.right, self._under_root(node.left, "rsqrt")),
            )
        else:
            return None
        for top, root in pairs:
            centred = self._centred(top)
            spread = self._variance(root) if root is not None and centred is not None else None
            if centred is not None and spread is not None and self._meets(centred, spread):
                return centred
        return None

    def _meets(self, one: _Over, other: _Over) -> bool:
        return one[1] == other[1] and one[1] in (-1, 1) and self._arithmetic.same(one[0], other[0])

    def _under_root(self, node: cst.BaseExpression, root: str) -> cst.BaseExpression | None:
        """What an epsilon was added to before the root was taken."""
        name, args = self._arithmetic.function(self._arithmetic.given(node))
        total = self._arithmetic.given(args[0].value) if name == root and len(args) == 1 else None
        if not isinstance(total, cst.BinaryOperation) or not isinstance(total.operator, cst.Add):
            return None
        others = [one for one in (total.left, total.right) if not self._is_small(one)]
        return others[0] if len(others) == 1 else None

    def _is_small(self, node: cst.BaseExpression) -> bool:
        name = node.attr if isinstance(node, cst.Attribute) else node
        return number_of(node) is not None or (isinstance(name, cst.Name) and "eps" in name.value.lower())

    def _centred(self, node: cst.BaseExpression) -> _Over | None:
        """The tensor that its mean was taken from."""
        value = self._arithmetic.given(node)
        if not isinstance(value, cst.BinaryOperation) or not isinstance(value.operator, cst.Subtract):
            return None
        mean = self._reduced(value.right, "mean")
        return mean if mean is not None and self._arithmetic.same(mean[0], value.left) else None

    def _variance(self, node: cst.BaseExpression) -> _Over | None:
        spread = self._reduced(node, "var")
        if spread is not None:
            return spread
        squares = self._reduced(node, "mean")
        base = self._squared(squares[0]) if squares is not None else None
        centred = self._centred(base) if base is not None else None
        return centred if squares is not None and centred is not None and centred[1] == squares[1] else None

    def _squared(self, node: cst.BaseExpression) -> cst.BaseExpression | None:
        value = self._arithmetic.given(node)
        if isinstance(value, cst.BinaryOperation) and isinstance(value.operator, cst.Power):
            return value.left if number_of(value.right) == 2 else None
        name, args = self._arithmetic.function(value)
        two = name == "pow" and len(args) == 2 and number_of(args[1].value) == 2
        return args[0].value if two or (name == "square" and len(args) == 1) else None

    def _reduced(self, node: cst.BaseExpression, reduction: str) -> _Over | None:
        """The tensor and the one dimension of a mean, or of a biased variance, that keeps this dimension."""
        name, args = self._arithmetic.function(self._arithmetic.given(node))
        if name != reduction or len(args) < 2:
            return None
        named = {one.keyword.value: one.value for one in args if one.keyword is not None}
        plain = [one.value for one in args if one.keyword is None]
        over = number_of(named.get("dim", plain[1] if len(plain) > 1 else cst.Name("None")))
        keeps = named.get("keepdim", plain[-1] if len(plain) > 2 else None)
        biased = dotted(named.get("unbiased")) == "False" or number_of(named.get("correction", cst.Name("None"))) == 0
        if over is None or dotted(keeps) != "True" or (reduction == "var" and not biased):
            return None
        return plain[0], int(over)
