"""Which loop of a training does an operation in each of its steps."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.finding import Pause, StepWait
from accel_advisor.records.actions import AnyCall, Asked
from accel_advisor.records.queries.evaluation import evaluates_by_name
from accel_advisor.syntax.walking import descendants
from accel_advisor.values.evidence import PROVEN, Evidence

if TYPE_CHECKING:
    from accel_advisor.records.facts import Facts, Loop, Program
    from accel_advisor.records.operations import Operation, OperationContext
    from accel_advisor.records.transfers import ModuleCallContext, TransferContext
    from accel_advisor.source.document import Document

PROBES = re.compile(r"(?:find|range|search)_?(?:\w+_)?lr|lr_?(?:\w+_)?(?:find|range)", re.IGNORECASE)
"""What functions are called that look for a learning rate, and have to read each loss to know when to stop."""
_TRAINS = re.compile(r"train|fit|tun(?:e|ing)|learn|optimi[sz]e", re.IGNORECASE)
_STOPS = frozenset({"torch.no_grad", "torch.inference_mode"})


def first_training(program: Program) -> Loop | None:
    """The first loop of a program that trains, but for those in files that are named for such a search."""
    probes = [one.document for one in program if PROBES.search(one.document.filename.rpartition("/")[2])]
    return next(iter(program.trainings_but(probes)), None)


def training_loop(context: OperationContext, *, epochs: bool = False) -> Loop | None:
    """The innermost loop around an operation in whose own passes a model learns; None where it evaluates a model,
    looks for a learning rate, where what functions are told there leads to no training, where gradients are wanted for
    their own sake, and where one pass is a whole epoch, which ends with reading values anyway, unless ``epochs`` are
    asked for."""
    if any(one.evaluates for one in context.conditions) or any(map(PROBES.search, context.functions)):
        return None
    loop = next((loop for loop in context.loops if loop.learns and loop.repeats), None)
    if loop is None or (loop.goes_over_epochs and not epochs) or _trains_elsewhere(loop):
        return None
    if loop.evaluates_under(context.conditions) or _steps_elsewhere(context, loop):
        return None
    return None if _evaluates(context, loop) else loop


def _steps_elsewhere(context: OperationContext, loop: Loop) -> bool:
    """Whether a loop computes gradients for their own sake, as an attack on a picture does: it takes no batches and no
    optimizer steps there or right around it, while one does in another loop that computes gradients. One that sets
    gradients to zero may train in a call that is not followed, unless it is seen to compute them."""
    if loop.loaders or loop.updates or (loop.forgets and not loop.backward):
        return False
    above = context.loops[context.loops.index(loop) + 1 :]
    stepping = next((one for one in above if one.updates), None)
    return stepping is not None and stepping.trains_within and not stepping.steps


def _trains_elsewhere(loop: Loop) -> bool:
    """Whether a loop stands in a function that is named for an evaluation, and what trains in it, in another one that
    it calls: that is told not to."""
    name = loop.functions[-1] if loop.functions else ""
    if not evaluates_by_name(name) or _TRAINS.search(name):
        return False
    return all(one.attr.value != "backward" for one in descendants(loop.node, cst.Attribute))


def _evaluates(context: OperationContext, loop: Loop) -> bool:
    """Whether autograd records nothing around an operation since a model is evaluated there: on the batches of a loop
    of its own, or in a function that is named for it. What else stops autograd in a step is a part of the step."""
    if _STOPS.isdisjoint(context.managers):
        return False
    if loop.goes_over_epochs:
        return True
    inside = context.loops[: context.loops.index(loop)]
    called = set(context.functions) - set(loop.functions)
    batches = (loader for one in inside for loader in one.loaders)
    return any(one not in loop.loaders for one in batches) or any(map(evaluates_by_name, called))


def loop_of_each_step(operation: Operation) -> Loop | None:
    """The loop of a training, or over a loader, that does an operation in each of its passes, even if it is also done
    elsewhere, as by a function that several call; None where there is none."""
    return next((loop for context in operation.contexts if (loop := _loop_of(context)) is not None), None)


def basis_of_each_step(operation: Operation, loop: Loop) -> Evidence:
    """What shows that a loop does an operation in each of its passes, as :func:`loop_of_each_step` says."""
    found = [context.basis for context in operation.contexts if _loop_of(context) is loop]
    return PROVEN if not found else min(found, key=lambda one: len(one.grounds))


def _loop_of(context: OperationContext) -> Loop | None:
    loop = training_loop(context)
    if loop is not None and not context.is_skipped_in(loop):
        return loop
    return context.loop if context.at_every_step else None


def happens_in_each_step(facts: Facts, loop: Loop, *asked: Asked) -> bool:
    """Whether each pass of a loop does one of these."""
    contexts = (context for one in facts.program.operations_of(*asked) for context in one.contexts)
    return any(loop in one.loops and not one.is_skipped_in(loop) for one in contexts)


def one_step_each(program: Program) -> bool:
    """Whether the passes of a training are steps over all of the data, whatever they are called: no loader is there."""
    return not any(one.loaders or loop.loaders for one in program for loop in one.loops)


def happens_apart(facts: Facts, *operations: Operation) -> bool:
    """Whether operations happen in no training, in a program that puts a model into evaluation mode: in loops over
    batches that only evaluate, or anywhere if it trains nothing."""
    contexts = [context for one in operations for context in one.contexts]
    if any(training_loop(one, epochs=True) is not None for one in contexts):
        return False
    known = bool(contexts) and all(one.loop is not None for one in contexts)
    return facts.does(AnyCall("eval")) and (known or not facts.trains)


def wait_in(loop: Loop, pause: Pause) -> StepWait:
    """The wait of each pass of a loop."""
    return StepWait(_place(loop.document, loop.node), pause)


def wait_of(operation: Operation, pause: Pause) -> StepWait | None:
    """That of an operation, in the loop that does it in each of its passes, or else in each call of the function that
    it stands in; None outside of both."""
    loop = loop_of_each_step(operation)
    if loop is not None:
        return wait_in(loop, pause)
    function = operation.function
    return StepWait(_place(operation.document, function), pause) if function is not None else None


def wait_for_batches(
    contexts: Iterable[TransferContext | ModuleCallContext], pause: Pause = Pause.COPIES
) -> StepWait | None:
    """That of a copy of batches, in a loop that trains on them, or else in the outermost one that takes batches; None
    outside of loops."""
    around = [(one.loop, *one.loop.outer) for one in contexts if one.loop is not None]
    trains = (one for loops in around for one in loops if one.learns and one.repeats)
    takes = (one for loops in around for one in reversed(loops) if one.loaders)
    loop = next(trains, None) or next(takes, None)
    return wait_in(loop, pause) if loop is not None else None


def _place(document: Document, node: cst.CSTNode) -> str:
    return f"{document.filename}:{document.span(node).start.offset}"
