"""Inputs that are moved by their own gradients within a step, as attacks and samplers do."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.records.actions import AnyCall, AnySets, Call
from accel_advisor.syntax.shapes import dotted, keywords_of, names_read_in
from accel_advisor.syntax.walking import descendants

if TYPE_CHECKING:
    from accel_advisor.records.facts import Facts, Loop
    from accel_advisor.records.operations import Operation

_ASKS = (Call("torch.autograd.grad"), AnyCall("requires_grad_"), AnySets("requires_grad"))


def moved_inputs(facts: Facts, loop: Loop) -> Iterator[tuple[Operation, str]]:
    """Where a loop's steps ask for the gradient of an input, and its name: within an inner loop that moves it. Of
    what is no plain name, as the parameters of a model, nothing is said; the first of each function."""
    seen: set[int] = set()
    for one in facts.program.operations_of(*_ASKS):
        inner = [context.inner for context in one.contexts if loop in context.loops and context.inner is not loop]
        if id(one.function) in seen:
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
    """Whether a loop takes gradients, and each pass adds something to what a name holds, or binds the name to a sum of
    that and something else."""
    if not any(one.attr.value == "grad" for one in descendants(loop.node, cst.Attribute)):
        return False
    if any(_is_named(one.target, name) for one in descendants(loop.node, cst.AugAssign)):
        return True
    bound = [one.value for one in descendants(loop.node, cst.Assign) if _is_named(one.targets[0].target, name)]
    return any(name in names_read_in(value) and _adds(value) for value in bound)


def _is_named(target: cst.BaseExpression, name: str) -> bool:
    return dotted(target).removesuffix(".data") == name


def _adds(value: cst.BaseExpression) -> bool:
    sums = (cst.Add, cst.Subtract)
    return any(isinstance(one.operator, sums) for one in descendants(value, cst.BinaryOperation))
