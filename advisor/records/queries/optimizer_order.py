"""Optimizers that get their parameters, or their state, before the model is moved or sharded."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.records.actions import AnyCall, Call, Within, calls

if TYPE_CHECKING:
    from accel_advisor.records.facts import Facts
    from accel_advisor.records.given import Module
    from accel_advisor.records.operations import Operation

_EAGER = Call("torch.optim.Adagrad")
"""The optimizer that makes its state when it is built."""
_SHARDS = calls("torch.distributed.fsdp.fully_shard", "torch.distributed.fsdp.FullyShardedDataParallel")


def replaced_parameters(facts: Facts) -> Iterator[tuple[Operation, Operation]]:
    """The calls in a document that build an optimizer, each with the call of FSDP that replaces the parameters which
    it holds."""
    wraps = {one.node for one in facts.operations_of(*_SHARDS) if isinstance(one.node, cst.Call)}
    for index, operation in enumerate(facts.operations):
        model = operation.given("params", 0).parameters_of if operation.builds_optimizer else None
        wrap = _later(facts, index, model, wraps)
        if wrap is not None:
            yield operation, wrap


def stranded_states(facts: Facts) -> Iterator[tuple[Operation, Operation]]:
    """The calls in a document that make or load an optimizer's state, each with the call that moves the model to a GPU
    afterwards."""
    moves = {one.node for one in facts.transfers if all(context.to_cuda for context in one.contexts)}
    for index, operation in enumerate(facts.operations):
        move = _later(facts, index, _with_state(operation), moves)
        if move is not None:
            yield operation, move


def _with_state(operation: Operation) -> Module | None:
    """The model whose parameters get state here, where they do."""
    if operation.what is _EAGER:
        return operation.given("params", 0).parameters_of
    if operation.does(Within("torch.optim")) and operation.does(AnyCall("load_state_dict")):
        return operation.contexts[0].subject.argument("params", 0).parameters_of
    return None


def _later(facts: Facts, index: int, model: Module | None, nodes: set[cst.Call]) -> Operation | None:
    """The first of some operations that happens to a model for certain after another one, and before an optimizer is
    built again."""
    first, found = facts.operations[index], None
    if model is None or len(first.contexts) != 1:
        return None
    for operation in facts.operations[index + 1 :]:
        for context in operation.contexts:
            together = context.functions == first.contexts[0].functions and not context.guarded
            subject = context.given("module", 0) if context.subject.absent else context.subject
            if operation.node in nodes and subject.module is model and together:
                found = found or operation
            rebuilt = operation.does(Within("torch.optim")) and context.given("params", 0).parameters_of is model
            if found and rebuilt:
                return None
    return found
