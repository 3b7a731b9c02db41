"""Models that nothing moved, where their inputs are on a GPU."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from accel_advisor.records.facts import Facts, ModuleCall
    from accel_advisor.records.given import Module


def unmoved_models(facts: Facts) -> Iterator[tuple[ModuleCall, Module]]:
    """The calls in a document of models that are on the host for certain on tensors that are on a GPU, the first of
    each model."""
    if facts.frameworks:
        return
    moves = [move for each in facts.program for move in each.transfers]
    moved = {id(one.moved.module) for move in moves for one in move.contexts}
    seen: set[int] = set()
    for call in facts.module_calls:
        module = _unmoved(facts, call)
        if module is not None and id(module) not in moved and id(module.node) not in seen:
            seen.add(id(module.node))
            yield call, module


def _unmoved(facts: Facts, call: ModuleCall) -> Module | None:
    if call.loss or call.framework:
        return None
    for context in call.contexts:
        module = context.model
        if module is None or module is not call.contexts[0].model:
            return None
        if context.escaped or context.wrapper is not None or not context.on_host or not module.has_state:
            return None
        if not any(one.given.on_accelerator and facts.must_be_with_weights(one) for one in context.arguments):
            return None
    return call.contexts[0].model if call.contexts else None
