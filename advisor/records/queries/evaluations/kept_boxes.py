"""The few boxes that a suppression leaves of all that a detector predicts."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.syntax.shapes import last_name
from accel_advisor.syntax.walking import descendants

if TYPE_CHECKING:
    from accel_advisor.records.facts import Facts
    from accel_advisor.records.queries.gradients.data_flow import DataFlow

_SUPPRESSES = re.compile(r"(?:^|_)nms(?:$|_|\d)|non_?max", re.IGNORECASE)
_PARTS = frozenset({"zip", "enumerate", "list", "tuple", "reversed", "tqdm"})
"""What gives the parts of what it is given."""
_SAME = frozenset("detach cpu numpy cuda to float clone contiguous".split())


def are_kept_boxes(facts: Facts, flow: DataFlow, node: cst.BaseExpression) -> bool:
    """Whether a value may be what a function left that is named for non-maximum suppression, or a part of it."""
    seen: set[int] = set()
    left = [node]
    while left:
        one = left.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        if isinstance(one, cst.Call):
            name = last_name(one.func)
            if _SUPPRESSES.search(name):
                return not _keeps_the_map(facts, one)
            if name in _PARTS:
                left += [each.value for each in one.args]
            elif name in _SAME and isinstance(one.func, cst.Attribute):
                left.append(one.func.value)
        elif flow.is_reading(one):
            left += [value for binding in flow.reaching(one) for value in binding.values]
        elif isinstance(one, (cst.Subscript, cst.Attribute)):
            left.append(one.value)
        elif isinstance(one, (cst.ListComp, cst.GeneratorExp)):
            left.append(one.elt)
    return False


def _keeps_the_map(facts: Facts, call: cst.Call) -> bool:
    """Whether a suppression is that of heat maps, by pooling, which leaves a map of the same size."""
    inner = (one for function in facts.call_graph.called_from(call) for one in descendants(function, cst.Call))
    return any("pool" in last_name(one.func).lower() for one in inner)
