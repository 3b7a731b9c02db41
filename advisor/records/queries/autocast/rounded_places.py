"""Whole numbers that take the type of what autocast leaves in half precision, which rounds them, to be places."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.records.actions import methods
from accel_advisor.records.queries.autocast.widths import Width, calls_of, widths_in
from accel_advisor.records.queries.evaluations.computed_values import called_on
from accel_advisor.syntax.shapes import keywords_of

if TYPE_CHECKING:
    from accel_advisor.records.facts import Facts, Loop
    from accel_advisor.records.queries.gradients.data_flow import DataFlow
    from accel_advisor.source.document import Document

WHOLE_NAMES = frozenset({"long", "int"})
_WHOLE = (*methods("Tensor", *WHOLE_NAMES), *methods("?", *WHOLE_NAMES))


def rounded_places(facts: Facts, loop: Loop) -> Iterator[tuple[Document, cst.CSTNode]]:
    """What of a loop's steps makes whole numbers of ``x.new_tensor(numbers)`` or ``numbers.type_as(x)``, where ``x`` is
    in half precision: of eight bits, all numbers above 256 come out even. The first of each function."""
    widths, seen = widths_in(facts, loop), set[int]()
    for one, call, flow in calls_of(facts, *_WHOLE):
        if id(one.function) in seen or not any(loop in context.loops for context in one.contexts):
            continue
        other = _typed_like(flow, called_on(call)[1])
        if other is not None and widths.of(flow, other) is Width.HALF:
            seen.add(id(one.function))
            yield one.document, call


def _typed_like(flow: DataFlow, made: cst.BaseExpression | None) -> cst.BaseExpression | None:
    """What numbers take their type of."""
    if made is not None and flow.is_reading(made):
        bound = [value for one in flow.reaching(made) for value in one.values]
        made = bound[0] if len(bound) == 1 else None
    if not isinstance(made, cst.Call) or not isinstance(made.func, cst.Attribute) or not made.args:
        return None
    if "dtype" in keywords_of(made):
        return None
    return {"new_tensor": made.func.value, "type_as": made.args[0].value}.get(made.func.attr.value)
