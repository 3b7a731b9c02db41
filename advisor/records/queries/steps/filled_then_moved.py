"""Tensors that are filled on the host and moved at once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.records.actions import Call, calls
from accel_advisor.records.queries.training_loops import runs_often

if TYPE_CHECKING:
    from accel_advisor.records.facts import Facts
    from accel_advisor.records.operations import Operation, OperationContext
    from accel_advisor.records.transfers import Transfer

_EXACT = calls("torch.zeros", "torch.ones", "torch.full", "torch.empty", "torch.eye")
_RANDOM = calls("torch.rand", "torch.randn", "torch.randint", "torch.randperm")
_STEPPED = calls("torch.arange", "torch.linspace", "torch.logspace")
_UNWANTED = ("device", "out", "generator", "pin_memory", "requires_grad")


@dataclass(frozen=True, slots=True)
class FilledThenMoved:
    """A move of a tensor that the factory before it could have filled where it goes.

    Attributes:
        often: whether it happens at every step.
        same: whether the device would fill it with the same numbers.
    """

    transfer: Transfer
    factory: Operation
    call: cst.Call
    often: bool
    same: bool

    @property
    def device(self) -> str:
        """The code of the device; empty where the call gives other arguments in its place."""
        if self.transfer.device is not None:
            return self.transfer.document.code(self.transfer.device)
        return "" if self.transfer.node.args else '"cuda"'


def filled_then_moved(facts: Facts) -> Iterator[FilledThenMoved]:
    """All such moves of a document, in the order in which they were met."""
    made = {one.node: one for one in facts.operations_of(*_EXACT, *_RANDOM, *_STEPPED)}
    for transfer in facts.transfers:
        func = transfer.node.func
        call = func.value if isinstance(func, cst.Attribute) else None
        factory = made.get(call) if isinstance(call, cst.Call) else None
        if isinstance(call, cst.Call) and factory is not None and _moves(transfer) and _is_plain(factory):
            often = all(runs_often(facts, context) for context in factory.contexts)
            yield FilledThenMoved(transfer, factory, call, often, _fills_the_same(factory))


def _moves(transfer: Transfer) -> bool:
    if transfer.method not in ("to", "cuda") or not transfer.contexts or transfer.discarded:
        return False  # what is thrown away was made to start CUDA, or to measure it
    return all(
        context.from_host and not context.casts and context.kinds != {"cpu"} and context.device.means_device
        for context in transfer.contexts
    )


def _is_plain(factory: Operation) -> bool:
    return all(context.given(name).absent for context in factory.contexts for name in _UNWANTED)


def _fills_the_same(factory: Operation) -> bool:
    return factory.what in _EXACT or (factory.what is Call("torch.arange") and all(map(_counts, factory.contexts)))


def _counts(context: OperationContext) -> bool:
    return all(type(one.literal) is int for one in context.values)
