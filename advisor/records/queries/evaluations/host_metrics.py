"""Evaluations that copy whole predictions to the host, and choose, count or gather there what the GPU could."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.records.actions import any_calls, calls
from accel_advisor.records.queries.evaluations.computed_values import Kind, Origin
from accel_advisor.records.queries.evaluations.evaluation_loops import evaluation_around, runs_each_epoch
from accel_advisor.records.queries.evaluations.host_uses import HostUse, Use, Uses
from accel_advisor.records.queries.evaluations.kept_boxes import are_kept_boxes
from accel_advisor.records.queries.gradients.flows import flow_of
from accel_advisor.records.queries.steps.host_waits import gpu_of
from accel_advisor.syntax.shapes import names_read_in

if TYPE_CHECKING:
    from accel_advisor.records.facts import Facts, Loop
    from accel_advisor.records.operations import Operation, OperationContext
    from accel_advisor.records.queries.gradients.data_flow import DataFlow
    from accel_advisor.values.evidence import Evidence

_JOINS_TENSORS = calls("torch.cat", "torch.concat", "torch.hstack", "torch.vstack")


@dataclass(frozen=True, slots=True)
class HostRead:
    """A copy to the host in each pass of an evaluation.

    Attributes:
        use: what the host does with it, which the GPU could; None where nothing of the kind is seen.
        returns: whether it is a part of a batch, which comes from the host.
    """

    operation: Operation
    use: HostUse | None
    returns: bool


@dataclass(frozen=True, slots=True)
class HostMetric:
    """The copies of one evaluation that stand in one document.

    Attributes:
        reads: those that the host does something with first, by what that costs; then the others.
        each_epoch: whether a training runs the evaluation again and again.
        basis: what shows that they come from a GPU.
    """

    loop: Loop
    reads: tuple[HostRead, ...]
    each_epoch: bool
    basis: Evidence


def host_metrics(facts: Facts) -> Iterator[HostMetric]:
    """The evaluations of which a document does in numpy, or on host tensors, what needs no host."""
    gpu = gpu_of(facts)
    if gpu is None:
        return
    found: dict[Loop, list[HostRead]] = {}
    often: dict[Loop, bool] = {}
    for operation in facts.operations_of(*any_calls("cpu")):
        around = evaluation_around(facts, operation)
        flow = flow_of(facts, operation.function or facts.document.tree) if around is not None else None
        if around is None or flow is None or not flow.holds(operation.node):
            continue
        loop, context = around
        often[loop] = often.get(loop, False) or runs_each_epoch(loop)
        found.setdefault(loop, []).append(_read(facts, flow, operation, context, loop))
    for loop, reads in found.items():
        if any(one.use is not None or one.returns for one in reads):
            yield HostMetric(loop, tuple(sorted(reads, key=_rank)), often[loop], gpu)


def _rank(read: HostRead) -> int:
    """Where a copy stands among the others of an evaluation: first those of which there is more to say."""
    return list(Use).index(read.use.use) if read.use is not None else len(Use) + (not read.returns)


def _read(facts: Facts, flow: DataFlow, operation: Operation, context: OperationContext, loop: Loop) -> HostRead:
    assert isinstance(operation.node, cst.Call)
    assert isinstance(operation.node.func, cst.Attribute)
    origin, uses = Origin(facts, flow, operation.node.func.value), Uses(facts)
    uses.follow(flow, operation.node)
    used = sorted(uses.found, key=lambda one: list(Use).index(one.use))
    dense = origin.resized or _is_of_each(operation, context) or any(one.use is Use.COUNTED for one in used)
    given = context.subject.source is not None
    here = [one for one in used if one.use is not Use.LOSS or one.flow is flow]
    small = given or are_kept_boxes(facts, flow, operation.node.func.value)
    told = (one for one in here if _joins(facts, one, loop) or (not small and _is_told(one, origin.kind, dense=dense)))
    return HostRead(operation, next(told, None), given and _was_moved(facts, context))


def _is_of_each(operation: Operation, context: OperationContext) -> bool:
    """Whether it copies what a loop over the parts of a batch takes: the whole has one dimension more."""
    inner = context.inner.node if context.inner is not None else None
    return isinstance(inner, cst.For) and not names_read_in(inner.target).isdisjoint(names_read_in(operation.node))


def _was_moved(facts: Facts, context: OperationContext) -> bool:
    """Whether the program itself has moved that part of a batch."""
    source, path = context.subject.source, context.subject.path
    moves = [one for each in facts.program for move in each.transfers for one in move.contexts if one.loader is source]
    return any(one.kinds != {"cpu"} and all(map(_may_be_same, one.path, path)) for one in moves)


def _may_be_same(moved: object, copied: object) -> bool:
    return moved == copied or moved is ...


def _joins(facts: Facts, use: HostUse, loop: Loop) -> bool:
    """Whether each pass joins it to what was kept before, and no other rule says so."""
    told = (one.node for one in facts.operations_of(*_JOINS_TENSORS) if one.at_every_step)
    if use.use is not Use.JOINED or not loop.holds(facts.document, use.node) or use.node in told:
        return False
    return loop.carries(use.kept)


def _is_told(use: HostUse, kind: Kind, *, dense: bool) -> bool:
    """Whether the GPU could do the same without the copy, or there would be far less to copy: of scores that have more
    than two dimensions, which ``dense`` ones have in any case."""
    if use.use is Use.CHOSEN:
        over = use.over or 0
        return kind is not Kind.LABELS and (over > 1 or (over == 1 and dense))
    return use.use is Use.LOSS or (use.use is Use.COUNTED and kind is Kind.LABELS)
