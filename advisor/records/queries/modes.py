"""In which mode a model is when a loop calls it: training, or evaluation."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.records.actions import AnyCall, Within

if TYPE_CHECKING:
    from accel_advisor.records.facts import Facts, Loop
    from accel_advisor.records.given import Module
    from accel_advisor.records.operations import Operation
    from accel_advisor.records.transfers import ModuleCall, ModuleCallContext

_EVAL, _TRAIN = AnyCall("eval"), AnyCall("train")
_DELIBERATE = re.compile(
    r"mc_|_mc|monte_?carlo|posterior|dropout|uncertain|bayes|ensemble|stochastic|calibrat|_bn|bn_|swa|gan\b|generat",
    re.I,
)
"""What files and functions are called that may want the other mode."""


@dataclass(frozen=True, slots=True)
class WrongMode:
    """A loop that calls a model in the mode that is meant for another one.

    Attributes:
        name: what the model is called in the document of the loop; empty where it has no name there.
        layer: a layer of the model that computes something else in this mode.
        evaluation: where the evaluation mode begins, that a loop trains in; None for a loop that evaluates.
    """

    loop: Loop
    name: str
    layer: str
    evaluation: Operation | None = None


def wrong_modes(facts: Facts) -> Iterator[WrongMode]:
    """The loops of a document over loaders that evaluate in training mode, or train in evaluation mode, the first of
    each function."""
    if facts.frameworks or _is_deliberate(facts):
        return
    switched = facts.does(_EVAL) or any(_stays(one) for one in facts.program.operations_of(_TRAIN))
    seen: set[int] = set()
    for loop in facts.loops:
        if not loop.loaders or id(loop.function or loop) in seen:
            continue
        found = None
        if loop.backward:
            found = _training_in_evaluation(facts, loop) if switched else None
        elif loop.graph_free and not loop.graphs and not switched:
            found = _evaluation_in_training(facts, loop)
        if found is not None:
            seen.add(id(loop.function or loop))
            yield found


def _is_deliberate(facts: Facts) -> bool:
    """Whether the program may mean it, by its names, or trains several models against each other."""
    optimizers = [one for one in facts.program.operations_of(Within("torch.optim")) if one.builds_optimizer]
    names = [facts.document.filename.replace("\\", "/").rpartition("/")[2]]
    names += [name for loop in facts.loops for name in loop.functions]
    return len(optimizers) > 1 or any(_DELIBERATE.search(name) for name in names)


def _evaluation_in_training(facts: Facts, loop: Loop) -> WrongMode | None:
    calls = list(_model_calls(facts, loop))
    if any(context.inner is not loop for _, context in calls):
        return None
    for call, context in calls:
        layer = facts.layers.switch(context.model) if context.model is not None else None
        if layer is not None and not context.escaped:
            return WrongMode(loop, _name_of(facts, call), layer)
    return None


def _training_in_evaluation(facts: Facts, loop: Loop) -> WrongMode | None:
    for call, context in _model_calls(facts, loop):
        if context.model is None or context.escaped:
            continue
        layer = facts.layers.switch(context.model)
        evaluations = _evaluations_before(facts, context.model, loop)
        if layer is not None and evaluations:
            return WrongMode(loop, _name_of(facts, call), layer, evaluations[0])
    return None


def _model_calls(facts: Facts, loop: Loop) -> Iterator[tuple[ModuleCall, ModuleCallContext]]:
    """The calls of models, and not of losses, on the batches of a loop."""
    for each in facts.program:
        for call in each.module_calls:
            for context in call.contexts:
                if not call.loss and context.loop is loop:
                    yield call, context


def _name_of(facts: Facts, call: ModuleCall) -> str:
    plain = call.document is facts.document and isinstance(call.node.func, (cst.Name, cst.Attribute))
    return facts.document.code(call.node.func) if plain else ""


def _evaluations_before(facts: Facts, module: Module, training: Loop) -> list[Operation]:
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
