"""Attributes of loaders that are set after these were built, which raises."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.records.actions import Sets, Within
from accel_advisor.records.loaders import loader_of

if TYPE_CHECKING:
    from accel_advisor.records.facts import Facts
    from accel_advisor.records.operations import Operation, OperationContext

_FROZEN = ("batch_size", "batch_sampler", "sampler", "drop_last", "dataset", "persistent_workers")
"""Attributes of a DataLoader that raise ValueError when they are set."""


def late_settings(facts: Facts) -> list[Operation]:
    """The assignments of a document to attributes of loaders that certainly raise: at once, or, where workers are asked
    for after the loader was built without them, at the first batch."""
    return [
        operation
        for operation in facts.operations_of(Within("DataLoader"))
        if operation.what is Sets("DataLoader", operation.what.name) and isinstance(operation.node, cst.Attribute)
        if all(_raises(operation.what.name, context) for context in operation.contexts)
    ]


def _raises(name: str, context: OperationContext) -> bool:
    loader, count = loader_of(context.subject), context.value.literal
    if loader is None or context.subject.moves_batches or not loader.constructor.advises:
        return False
    started = isinstance(count, int) and count > 0
    return name in _FROZEN or (name == "num_workers" and started and loader.without_workers and not loader.opaque)
