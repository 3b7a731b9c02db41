"""Differences from one that half precision rounds to nothing where the result is steep, as in a logarithm."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.records.actions import calls, methods
from accel_advisor.records.queries.autocast.widths import Width, calls_of, widths_in
from accel_advisor.records.queries.evaluations.computed_values import called_on

if TYPE_CHECKING:
    from accel_advisor.records.facts import Facts, Loop
    from accel_advisor.records.operations import OperationContext
    from accel_advisor.records.queries.gradients.data_flow import DataFlow
    from accel_advisor.source.document import Document

_NAMES = ("log", "log2", "log10", "sqrt", "rsqrt")
STEEP_NAMES = frozenset({*_NAMES, "acos", "arccos"})
_STEEP = (*calls(*(f"torch.{name}" for name in _NAMES)), *methods("Tensor", *_NAMES), *methods("?", *_NAMES))
"""Functions whose slope has no bound where what they are given comes to nothing."""
_ARCS = (*calls("torch.acos", "torch.arccos"), *methods("Tensor", "acos"), *methods("?", "acos"))
"""Functions whose slope has none at one."""
_BOUNDS = frozenset({"clamp", "clamp_", "clip", "clamp_min", "relu", "relu_", "abs"})
_POWERS = frozenset({"pow", "square"})


def rounded_differences(facts: Facts, loop: Loop) -> Iterator[tuple[Document, cst.CSTNode]]:
    """What of a loop's steps computes ``log(1 - p)``, ``sqrt(1 - cosine ** 2)`` or ``acos(cosine)`` of what autocast
    leaves in half precision: of eight bits, all that is nearer to one than 0.002 is one. The first of each
    function, also of those that nothing is seen to call."""
    widths, seen = widths_in(facts, loop), set[int]()
    for one, call, flow in calls_of(facts, *_STEEP, *_ARCS):
        inside = any(loop in context.loops or _begins_unseen(context) for context in one.contexts)
        if id(one.function) in seen or not inside:
            continue
        given = called_on(call)[1]
        near = given if one.does(*_ARCS) else _taken_from_one(flow, given)
        if near is not None and widths.of(flow, _base(near)) is Width.HALF:
            seen.add(id(one.function))
            yield one.document, call


def _begins_unseen(context: OperationContext) -> bool:
    """Whether nothing is seen to call the ``forward`` that something happens in: a program may choose it by a name."""
    return context.functions[:1] == ("forward",) and not any(one.learns for one in context.loops)


def _taken_from_one(flow: DataFlow, node: cst.BaseExpression | None) -> cst.BaseExpression | None:
    """What is subtracted from one, within bounds or with a small number added."""
    while isinstance(node, cst.Call) and called_on(node)[0] in _BOUNDS:
        node = called_on(node)[1]
    if isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.Add):
        node = node.left
    if node is not None and flow.is_reading(node):
        bound = [value for one in flow.reaching(node) for value in one.values]
        node = bound[0] if len(bound) == 1 else node
    if not isinstance(node, cst.BinaryOperation) or not isinstance(node.operator, cst.Subtract):
        return None
    one = node.left
    return node.right if isinstance(one, (cst.Integer, cst.Float)) and one.evaluated_value == 1 else None


def _base(node: cst.BaseExpression) -> cst.BaseExpression:
    """What is squared, or kept in bounds: it is rounded before."""
    while True:
        if isinstance(node, cst.Call) and called_on(node)[0] in _BOUNDS | _POWERS:
            inner = called_on(node)[1]
            if inner is None:
                return node
            node = inner
        elif isinstance(node, cst.BinaryOperation) and isinstance(node.operator, (cst.Power, cst.Multiply)):
            node = node.left
        else:
            return node
