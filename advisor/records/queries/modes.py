"""In which mode a model is when a loop calls it: training, or evaluation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from accel_advisor.records.actions import AnyCall

if TYPE_CHECKING:
    from accel_advisor.records.facts import Facts, Loop
    from accel_advisor.records.given import Module
    from accel_advisor.records.operations import Operation
    from accel_advisor.records.transfers import ModuleCall, ModuleCallContext

_EVAL, _TRAIN = AnyCall("eval"), AnyCall("train")


def begins_evaluation(facts: Facts) -> bool:
    """Whether the program calls ``eval()``, or ``train(False)``, on anything."""
    return facts.does(_EVAL) or any(_stays(one) for one in facts.program.operations_of(_TRAIN))


def model_calls(facts: Facts, loop: Loop) -> Iterator[tuple[ModuleCall, ModuleCallContext]]:
    """The calls of models, and not of losses, on the batches of a loop."""
    for each in facts.program:
        for call in each.module_calls:
            for context in call.contexts:
                if not call.loss and context.loop is loop:
                    yield call, context


def evaluations_before(facts: Facts, module: Module, training: Loop) -> list[Operation]:
    """The calls of ``eval()`` on a model in each epoch of its training, where an evaluation follows, and nothing calls
    ``train()`` before the next epoch's training does: from the second epoch on the model learns in evaluation mode."""
    epochs = next((outer for outer in training.outer if outer.counts and not outer.loaders), None)
    if epochs is None or _within(facts, _TRAIN, epochs):
        return []
    evaluated = any(
        context.evaluating and epochs in (context.loop, *context.loop.outer)
        for each in facts.program
        for call in each.module_calls
        for context in call.contexts
        if context.model is not None and context.model.plain is module.plain
        if context.loop is not training and context.loop is not None and not context.loop.backward
    )
    found = [
        one
        for one in _within(facts, _EVAL, epochs)
        if all(c.subject.module is not None and c.subject.module.plain is module.plain for c in one.contexts)
    ]
    return found if evaluated and not any(_precedes(one, training) for one in found) else []


def _within(facts: Facts, asked: AnyCall, loop: Loop) -> list[Operation]:
    """The operations of a kind that happen in each pass of a loop."""
    found = (one for one in facts.program.operations_of(asked) if asked is _EVAL or not _stays(one))
    return [one for one in found if any(loop in context.loops for context in one.contexts)]


def _stays(operation: Operation) -> bool:
    return operation.gives("mode", False, 0)


def _precedes(operation: Operation, training: Loop) -> bool:
    """Whether a call stands before a loop in the same function, where it may well be meant for it."""
    document = operation.document
    if document is not training.document:
        return False
    here = any(context.functions == training.functions for context in operation.contexts)
    return here and document.span(operation.node).start < document.span(training.node).start
