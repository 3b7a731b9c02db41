"""Loops that evaluate: they take batches, train nothing, and run once or in each epoch."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.records.queries.steps.host_waits import is_for_eyes
from accel_advisor.records.queries.steps.training_steps import training_loop

if TYPE_CHECKING:
    from accel_advisor.records.facts import Facts, Loop
    from accel_advisor.records.operations import Operation, OperationContext


def evaluation_around(facts: Facts, operation: Operation) -> tuple[Loop, OperationContext] | None:
    """The loop over batches that trains nothing and does an operation in each of its passes, before others one that a
    training runs again and again; None where there is none, or a training does it in its steps as well."""
    if any(map(_is_of_a_step, operation.contexts)):
        return None
    found: list[tuple[Loop, OperationContext]] = []
    for context in operation.contexts:
        loops = [one for one in context.loops if not one.backward and _takes_batches(facts, one)]
        if not loops or context.subject.on_host or context.subject.module is not None:
            continue
        if is_for_eyes(context) or any(one.for_debugging for one in context.conditions):
            continue
        side = context.alternative_in(loops[-1])
        if not context.is_skipped_in(loops[-1]) or (side is not None and not side.rare):
            found.append((loops[-1], context))
    return next((one for one in found if runs_each_epoch(one[0])), found[0] if found else None)


def _takes_batches(facts: Facts, loop: Loop) -> bool:
    """Whether it goes over a loader, or over what nothing is known of and calls a model in its passes."""
    if loop.loaders or not isinstance(loop.node, cst.For) or loop.counts:
        return bool(loop.loaders)
    return any(not call.loss for call, _ in facts.program.calls_in.get(loop, ()))


def _is_of_a_step(context: OperationContext) -> bool:
    """Whether each step of a training does it."""
    loop = training_loop(context)
    return loop is not None and not context.spares_passes_of(loop)


def runs_each_epoch(loop: Loop) -> bool:
    """Whether it runs in the passes of a loop over epochs, or of one that trains."""
    return any(one.backward or one.goes_over_epochs or one.counts for one in loop.outer)
