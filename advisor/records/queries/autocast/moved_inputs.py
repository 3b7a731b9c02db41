"""Inputs that are moved by their own gradients within a step, as attacks and samplers do."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.records.actions import AnyCall, AnySets, Call
from accel_advisor.records.queries.gradients.flows import flow_of
from accel_advisor.syntax.shapes import dotted, keywords_of, names_read_in
from accel_advisor.syntax.walking import descendants

if TYPE_CHECKING:
    from accel_advisor.records.facts import Facts, Loop
    from accel_advisor.records.operations import Operation

_ASKS = (Call("torch.autograd.grad"), AnyCall("requires_grad_"), AnySets("requires_grad"))


def moved_inputs(facts: Facts, loop: Loop) -> Iterator[tuple[Operation, str]]:
    """Where a loop's steps ask for the gradient of an input, and its name: within an inner loop that moves it. Of what
    a function gives out or is no plain name, as parameters, nothing is said; the first of each function."""
    seen: set[int] = set()
    for one in facts.program.operations_of(*_ASKS):
        inner = [context.inner for context in one.contexts if loop in context.loops and context.inner is not loop]
        flow = flow_of(facts, one.function or one.document.tree)
        if not inner or flow is None or id(one.function) in seen:
            continue
        for around in dict.fromkeys(each for each in inner if each is not None):
            name = next((each for each in _asked(one.node) if _is_moved(around, each)), "")
            if name:
                seen.add(id(one.function))
                yield one, name
                break


def _asked(node: cst.CSTNode) -> Iterator[str]:
    """The plain names by which gradients are asked for."""
    if isinstance(node, cst.Call) and dotted(node.func).endswith(".requires_grad_"):
        yield dotted(node.func).rpartition(".")[0]
    elif isinstance(node, cst.Call):
        places = [one.value for one in node.args if one.keyword is None]
        inputs = keywords_of(node).get("inputs") or (places[1] if len(places) > 1 else None)
        parts = [one.value for one in inputs.elements] if isinstance(inputs, (cst.List, cst.Tuple)) else [inputs]
        yield from (one.value for one in parts if isinstance(one, cst.Name))
    else:
        yield dotted(node).rpartition(".")[0]


def _is_moved(loop: Loop, name: str) -> bool:
    """Whether each pass of a loop computes something new from a name and a gradient, and gives it that name."""
    for one in descendants(loop.node, cst.Assign, cst.AugAssign):
        target = one.target if isinstance(one, cst.AugAssign) else one.targets[0].target
        moved = dotted(target).removesuffix(".data") == name
        if moved and _is_computed(one) and (isinstance(one, cst.AugAssign) or name in names_read_in(one.value)):
            return True
    return False


def _is_computed(statement: cst.Assign | cst.AugAssign) -> bool:
    read = names_read_in(statement.value)
    return isinstance(statement, cst.AugAssign) or (
        any(
            isinstance(one.operator, (cst.Add, cst.Subtract))
            for one in descendants(statement.value, cst.BinaryOperation)
        )
        and len(read) > 1
    )
