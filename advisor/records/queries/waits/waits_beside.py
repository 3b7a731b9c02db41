"""Which waits of a step cost next to nothing beside another one: what is read twice, or where the GPU has little to do,
since a wait that stays is near."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from accel_advisor.records.actions import AnyCall, Call, calls, methods
from accel_advisor.records.queries.old_torch import breaks_with
from accel_advisor.records.queries.precision import is_on
from accel_advisor.records.queries.steps.step_values import read_by
from accel_advisor.records.queries.waits.step_waits import Need, Wait

if TYPE_CHECKING:
    import libcst as cst

    from accel_advisor.records.conditions import Condition
    from accel_advisor.records.facts import Facts, Program
    from accel_advisor.records.given import Given
    from accel_advisor.records.loops import Loop
    from accel_advisor.records.operations import Operation, OperationContext
    from accel_advisor.source.document import Document

    _Place = tuple[int, ...]

SYNCHRONIZES = calls("torch.cuda.synchronize", "torch.accelerator.synchronize")
"""Functions that wait until the GPU has done everything."""
_STEP, _BACKWARD, _CLIP = AnyCall("step"), AnyCall("backward"), Call("torch.nn.utils.clip_grad_norm_")
_COPIES = (*methods("Tensor", "cpu", "numpy", "tolist"), *methods("?", "cpu"))
"""What reads more than a number, perhaps."""
_CLIPS_ON_GPU = (1, 7)
"""Since this torch, ``clip_grad_norm_`` compares on the GPU. Source: its code in 1.6 and 1.7."""


def waits_beside(facts: Facts, loop: Loop, waits: list[Wait], needed: Iterable[Operation]) -> Iterator[Wait]:
    """The waits of a loop in one document, in their order, each with what keeps it from costing much: a read of the
    same value, a branch, or another wait of the step, such as those of ``needed``, which have to be."""
    parts, always = _Parts(facts.program, loop), facts.program.once(_always).get(loop, ())
    clocked = next((one for one in always if one.does(*SYNCHRONIZES)), None)
    stay = {part: one for one in (*_that_stay(facts, loop, always), *needed) for part in parts.of(one)}
    before: list[tuple[Operation, object]] = []
    own: set[int] = set()
    for one in waits:
        value = one if one.need is Need.FAILURE else read_by(loop, one.operation)
        others = [(other, read) for other, read in before if not _excludes(other, one.operation)]
        again = any(read == value for _, read in others)
        before.append((one.operation, value))
        here = parts.of(one.operation)
        inside = loop.holds(one.operation.document, one.operation.node) and not one.each
        follows = inside and here <= own and not one.operation.does(*_COPIES)
        own |= here if inside else set()
        near = stay[min(here)] if here and here <= stay.keys() else None
        beside = clocked if inside and clocked is not None else near  # what others call may wait many times
        beside = None if one.each or one.guards or one.need is Need.HOST else beside
        instead = not again and len(others) + 1 < len(before)
        yield replace(one, instead=instead, again=again, follows=follows, beside=beside)


class _Parts:
    """The parts of a pass, in order: between the calls of models and the backward passes, which the GPU needs time
    for."""

    def __init__(self, program: Program, loop: Loop) -> None:
        self._loop = loop
        passes = program.once(_passes).get(loop, ())
        models = (one for one, _ in program.calls_in.get(loop, ()) if not one.loss)
        places = [place for one in passes for place in self._places(one)]
        places += [(_end(one.document, one.node),) for one in models if loop.holds(one.document, one.node)]
        self._bounds = sorted(places)

    def of(self, operation: Operation) -> set[int]:
        """Those in which an operation happens; none where the ways that lead to it are not known."""
        return {bisect(self._bounds, place) for place in self._places(operation)}

    def _places(self, operation: Operation) -> Iterator[_Place]:
        """Where in a pass an operation happens, for each way that leads there: the ends of the calls, from that in the
        text of the loop on, and its own."""
        own = _end(operation.document, operation.node)
        if self._loop.holds(operation.document, operation.node):
            yield (own,)
            return
        for way in operation.ways:
            first = next((at for at, one in enumerate(way) if self._loop.holds(one.document, one.node)), None)
            if first is not None:
                yield (*(_end(one.document, one.node) for one in way[first:]), own)


def _end(document: Document, node: cst.CSTNode) -> int:
    return document.span(node).end.offset


def _passes(program: Program) -> dict[Loop, dict[Operation, None]]:
    """The backward passes in each loop of a program."""
    found: dict[Loop, dict[Operation, None]] = {}
    for one in program.operations_of(_BACKWARD):
        for loop in {loop for context in one.contexts for loop in context.loops}:
            found.setdefault(loop, {})[one] = None
    return found


def _always(program: Program) -> dict[Loop, dict[Operation, None]]:
    """What happens in each pass of each loop of a program, of all that may wait for the GPU for its own sake."""
    found: dict[Loop, dict[Operation, None]] = {}
    for one in program.operations_of(*SYNCHRONIZES, _STEP, _CLIP):
        for context in one.contexts:
            for loop in context.loops:
                if happens_always(context, loop):
                    found.setdefault(loop, {})[one] = None
    return found


def _that_stay(facts: Facts, loop: Loop, always: Iterable[Operation]) -> Iterator[Operation]:
    """What waits in each pass of a loop for its own sake, of what always happens there: the step of a gradient scaler,
    which asks whether gradients overflowed, unless the optimizer does so on the GPU, and the clipping of an old
    torch."""
    old = facts.target.rules_out("torch", _CLIPS_ON_GPU) or breaks_with(facts, _CLIPS_ON_GPU)
    for one in always:
        scalers = (each for each in one.contexts if loop in each.loops) if one.what.owner.endswith("GradScaler") else ()
        asks = any(is_on(facts, each.subject) and not _is_fused(each.given("optimizer", 0)) for each in scalers)
        if asks or (old and one.does(_CLIP)):
            yield one


def _is_fused(optimizer: Given) -> bool:
    return optimizer.argument("fused").is_literal(True)


def happens_always(context: OperationContext, loop: Loop) -> bool:
    """Whether an operation happens in each pass of a loop, whatever options say."""
    if loop not in context.loops or context.is_skipped_in(loop):
        return False
    inside = context.loops[: context.loops.index(loop) + 1]
    return not any(one.is_choice and one.within in inside for one in context.conditions)


def _excludes(one: Operation, other: Operation) -> bool:
    """Whether two operations stand in branches of which one is taken."""
    return all(
        any(here.node is there.node and here.branch != there.branch for here in left for there in right)
        for left in (_branches(context) for context in one.contexts)
        for right in (_branches(context) for context in other.contexts)
    )


def _branches(context: OperationContext) -> list[Condition]:
    return [one for one in context.conditions if one.branch is not None]
