"""Normalizations by running statistics whose weights a network computes, which autocast breaks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.records.actions import Call
from accel_advisor.syntax.shapes import dotted, keywords_of, self_attribute
from accel_advisor.syntax.walking import descendants

if TYPE_CHECKING:
    from accel_advisor.records.facts import Facts
    from accel_advisor.records.operations import Operation

_NORMALIZES = Call("torch.nn.functional.batch_norm")
_STATISTICS, _WEIGHT = 1, 3
"""Where the running mean and the weight stand among its arguments."""


def computed_scales(facts: Facts) -> Iterator[Operation]:
    """The batch normalizations by running statistics that are given a weight which is no parameter of their module:
    what a network computes under autocast has half precision, and the statistics have not, which raises. Source: tried
    with torch 2.13 on the CPU."""
    for one in facts.operations_of(_NORMALIZES):
        weight = _given(one, "weight", _WEIGHT)
        if weight is None or _given(one, "running_mean", _STATISTICS) is None:
            continue
        while isinstance(weight, cst.Subscript):
            weight = weight.value
        held = self_attribute(weight)
        if _is_handed_in(one, held) if held is not None else not dotted(weight).startswith("self."):
            yield one


def _given(operation: Operation, name: str, position: int) -> cst.BaseExpression | None:
    """An argument as it is written; None where it is absent, or None."""
    if not isinstance(operation.node, cst.Call):
        return None
    positional = [one.value for one in operation.node.args if one.keyword is None]
    value = keywords_of(operation.node).get(name, positional[position] if len(positional) > position else None)
    return None if value is None or dotted(value) == "None" else value


def _is_handed_in(operation: Operation, attribute: str) -> bool:
    """Whether a class only says that an attribute is None to begin with, for another to set it."""
    for cls in descendants(operation.document.tree, cst.ClassDef):
        if any(one is operation.function for one in cls.body.body):
            values = [
                dotted(one.value)
                for one in descendants(cls, cst.Assign)
                if isinstance(one, cst.Assign) and any(self_attribute(each.target) == attribute for each in one.targets)
            ]
            return bool(values) and all(one == "None" for one in values)
    return False
