"""Moves and casts of tensors whose result is thrown away."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.records.actions import Action, AnyCall, Call, Method
from accel_advisor.records.clock import CLOCKS
from accel_advisor.syntax.shapes import last_name
from accel_advisor.values.evidence import PROVEN, Evidence, Ground

if TYPE_CHECKING:
    from accel_advisor.records.facts import Facts, Transfer
    from accel_advisor.records.operations import Operation
    from accel_advisor.records.transfers import TransferContext

CASTS: dict[Action, str] = {
    Method("Tensor", "half"): "torch.float16",
    Method("Tensor", "bfloat16"): "torch.bfloat16",
    Method("Tensor", "double"): "torch.float64",
}
_SHOWS_TENSORS = frozenset({Ground.METHOD, Ground.ANNOTATION, Ground.DOCSTRING})
"""What tells a tensor from a module or a batch that moves in place; a name or a loop does not."""


@dataclass(frozen=True, slots=True)
class DiscardedResult:
    """A call whose result is lost.

    Attributes:
        receiver: what it is called on.
        cast: whether it changes the dtype, and no device.
        basis: what shows that it is called on a tensor.
    """

    node: cst.CSTNode
    receiver: cst.BaseExpression
    cast: bool
    basis: Evidence

    @property
    def held(self) -> bool:
        """Whether it casts what an object holds, which may be needed as it is."""
        return self.cast and isinstance(self.receiver, cst.Attribute)


def discarded_results(facts: Facts) -> Iterator[DiscardedResult]:
    """The moves and casts of a document that change nothing, because they are called on a tensor and give another."""
    measures = facts.does(AnyCall("synchronize")) and facts.does(*CLOCKS, Call("torch.cuda.Event"))
    for transfer in facts.transfers:
        kept = _kept(transfer) if transfer.discarded else None
        if kept is not None and transfer.method in ("to", "cuda") and transfer.contexts:
            if measures and all(context.loader is None for context in transfer.contexts):
                continue  # the copy itself may be what is measured
            if all(map(_moves_a_tensor, transfer.contexts)):
                yield DiscardedResult(transfer.node, kept, cast=_is_cast(transfer), basis=_basis(transfer))
    for operation in facts.operations_of(*CASTS):
        kept = _kept(operation) if operation.discarded and _changes(operation) else None
        if kept is not None and all(context.subject.is_plain_tensor for context in operation.contexts):
            yield DiscardedResult(operation.node, kept, cast=True, basis=PROVEN)


def _moves_a_tensor(context: TransferContext) -> bool:
    grounds = frozenset(context.moved.basis.grounds)
    known = context.proven or (grounds and grounds <= _SHOWS_TENSORS)
    return bool(known) and context.moved.is_tensor and not context.stays


def _is_cast(transfer: Transfer) -> bool:
    """Whether what a tensor is moved to is called a dtype."""
    return transfer.device is not None and "dtype" in last_name(transfer.device)


def _basis(transfer: Transfer) -> Evidence:
    return reduce(or_, (one.moved.basis for one in transfer.contexts if not one.proven), PROVEN)


def _changes(operation: Operation) -> bool:
    """Whether a cast gives another dtype than the tensor is known to have."""
    births = [context.subject.born for context in operation.contexts]
    return all(born is None or born.dtype != CASTS[operation.what] for born in births)


def _kept(call: Transfer | Operation) -> cst.BaseExpression | None:
    """What a method is called on, where that is still there after the call."""
    return call.receiver if isinstance(call.receiver, (cst.Name, cst.Attribute, cst.Subscript)) else None
