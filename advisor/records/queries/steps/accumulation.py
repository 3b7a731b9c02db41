"""Gradients that are accumulated over several steps: where the optimizer steps then, and what each of them exchanges
among processes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.records.actions import AnyCall, AnySets, Call, Within, calls

if TYPE_CHECKING:
    from accel_advisor.records.facts import Facts, Loop
    from accel_advisor.records.operations import Operation

_WRAPPER = Call("torch.nn.parallel.DistributedDataParallel")
_SETTLES = (
    *(AnyCall("no_sync"), AnySets("require_backward_grad_sync")),
    *calls("torch.distributed.fsdp.FullyShardedDataParallel", "torch.distributed.fsdp.fully_shard"),
)


def needless_exchanges(facts: Facts) -> Iterator[tuple[Operation, Operation]]:
    """The backward passes of a document that average gradients among processes in every pass of a loop, each with the
    step of an optimizer, in the same loop, that uses them in some passes only."""
    if not facts.trains_in_parallel or not facts.does(_WRAPPER) or facts.does(*_SETTLES):
        return
    clears = [one for one in facts.operations_of(AnyCall("zero_grad")) if _some_passes(one)]
    for step in facts.operations_of(AnyCall("step")):
        if not _is_step(step) or not _some_passes(step) or not any(one.runs_with(step) for one in clears):
            continue
        for backward in facts.operations_of(AnyCall("backward")):
            if not backward.guarded and _loops(backward) == _loops(step):
                yield backward, step
                break


def paces(facts: Facts) -> dict[Loop, frozenset[cst.CSTNode]]:
    """The conditions that count the passes of a loop off, where all optimizers that step in it do so under them: what
    happens there happens in each step of the training."""
    found: dict[Loop, frozenset[cst.CSTNode]] = {}
    for operation in facts.program.operations_of(AnyCall("step")):
        if operation.does(Within("torch.optim.lr_scheduler")):
            continue
        for context in operation.contexts:
            loop = context.inner
            if loop is not None and loop.learns:
                counted = () if context.period.absent else context.conditions
                nodes = frozenset(one.node for one in counted if one.varies is loop and one.branch == 0)
                found[loop] = found.get(loop, nodes) & nodes
    return found


def _is_step(operation: Operation) -> bool:
    optimizes = operation.does(Within("torch.optim")) and not operation.does(Within("torch.optim.lr_scheduler"))
    return optimizes or "GradScaler" in operation.what.owner


def _some_passes(operation: Operation) -> bool:
    """Whether it happens once in several passes of a loop over batches, unless somebody configures otherwise."""
    for context in operation.contexts:
        every = context.period.default
        once = every.written and every.literal in (None, 1)
        if every.absent or once or context.loop is None or context.inner is not context.loop:
            return False
    return True


def _loops(operation: Operation) -> set[Loop | None]:
    return {context.inner for context in operation.contexts}
