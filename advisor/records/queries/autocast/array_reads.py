"""Where a program hands to numpy what its model computes, which raises in bfloat16: numpy has no such type."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.records.actions import AnyCall, calls, within
from accel_advisor.records.queries.autocast.widths import Width, Widths, calls_of
from accel_advisor.syntax.shapes import receiver_of
from accel_advisor.tables.wrappers import STOPS_AUTOGRAD

if TYPE_CHECKING:
    from accel_advisor.records.facts import Facts, Loop
    from accel_advisor.records.operations import Operation
    from accel_advisor.records.transfers import ModuleCallContext

_TAKES = AnyCall("numpy")
_MAKES = (*calls("numpy.array", "numpy.asarray"), *within("sklearn.metrics"))


def read_as_arrays(facts: Facts, loop: Loop, replicated: tuple[Operation, ...]) -> Iterator[Operation]:
    """The places where numpy, or what asks it, is given results of the models that a loop calls and that are in half
    precision once they run under autocast.

    Args:
        replicated: where DataParallel is put around a model, which has autocast in its ``forward`` then: whoever calls
            it gets such results, an evaluation as well.
    """
    taken = facts.program.operations_of(_TAKES, *_MAKES)
    models = list(_affected(facts, loop, replicated)) if taken else []
    widths = Widths(facts, models)
    for one, call, flow in calls_of(facts, _TAKES, *_MAKES) if models else ():
        owner = receiver_of(call)
        given = [owner] if one.does(_TAKES) and owner is not None else [arg.value for arg in call.args]
        if any(widths.of(flow, each) is Width.HALF and widths.calls for each in given):
            yield one


def reads_arrays(facts: Facts) -> bool:
    """Whether numpy, or what asks it, is given tensors anywhere in a program."""
    return facts.does(_TAKES)


def _affected(facts: Facts, loop: Loop, replicated: tuple[Operation, ...]) -> Iterator[cst.Call]:
    for call, context in facts.program.calls_in.get(loop, ()):
        evaluates = any(one.made_by in STOPS_AUTOGRAD for one in context.regions)
        if not (call.loss or context.nested or evaluates):
            yield call.node  # an evaluation within the loop is no part of what autocast is put around
    for call in (one for each in facts.program for one in each.module_calls) if replicated else ():
        if not call.loss and any(_is_replicated(context, replicated) for context in call.contexts):
            yield call.node


def _is_replicated(context: ModuleCallContext, replicated: tuple[Operation, ...]) -> bool:
    """Whether a call runs a ``forward`` that one of the wrappers calls in threads."""
    inner = [one.module for wrapping in replicated for one in wrapping.given("module", 0).alternatives]
    classes = {id(one.cls) for one in inner if one is not None and one.cls is not None}
    wrappers = {id(one.node) for one in replicated}
    if context.nested:
        return False
    return any(
        id(one.plain.node) in wrappers or (one.cls is not None and id(one.cls) in classes) for one in context.models
    )
