"""Models that nothing moved, where their inputs are on a GPU, or are moved there by the model itself."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import libcst as cst

if TYPE_CHECKING:
    from accel_advisor.records.facts import Facts, ModuleCall
    from accel_advisor.records.given import Module


@dataclass(frozen=True, slots=True)
class UnmovedModel:
    """A model that is on the host for certain, and a call that combines its weights with what is on a GPU.

    Attributes:
        moves_inputs: whether the model itself moves what it is given.
    """

    call: ModuleCall
    module: Module
    moves_inputs: bool


def unmoved_models(facts: Facts) -> Iterator[UnmovedModel]:
    """The models that a document calls on tensors on a GPU, or that move tensors there, each with its first call."""
    if facts.frameworks:
        return
    moves = [move for each in facts.program for move in each.transfers]
    moved = {id(one.moved.module) for move in moves for one in move.contexts}
    seen: set[int] = set()
    for call in facts.module_calls:
        found = _unmoved(facts, call)
        if found is not None and id(found.module) not in moved and id(found.module.node) not in seen:
            seen.add(id(found.module.node))
            yield found


def device_where_built(facts: Facts, module: Module) -> str | None:
    """The device that a batch is moved to, as code that means the same behind the call that builds a model; None where
    none is known, or no call in this document builds it."""
    document = facts.document
    if module.document is not document or not isinstance(module.node, cst.Call):
        return None
    built = document.order(module.node)
    bound = [one.name for one in facts.devices if one.scope.kind == "module" and document.order(one.node) < built]
    for transfer in facts.transfers:
        if transfer.device is not None and "cuda" in transfer.kinds:
            code = document.code(transfer.device)
            if isinstance(transfer.device, cst.SimpleString) or code in bound:
                return code
    return None


def _unmoved(facts: Facts, call: ModuleCall) -> UnmovedModel | None:
    if call.loss or call.framework:
        return None
    module = call.contexts[0].model if call.contexts else None
    if module is None or not module.has_state:
        return None
    if any(one.model is not module or one.escaped or one.wrapper or not one.on_host for one in call.contexts):
        return None
    if all(any(map(facts.moves_to_gpu, one.arguments)) for one in call.contexts):
        return UnmovedModel(call, module, moves_inputs=True)
    for context in call.contexts:
        if not any(one.given.on_accelerator and facts.must_be_with_weights(one) for one in context.arguments):
            return None
    return UnmovedModel(call, module, moves_inputs=False)
