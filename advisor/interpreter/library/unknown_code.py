"""What becomes of values that are handed to code that is not known."""

from __future__ import annotations

from accel_advisor.interpreter.abstract_machine import Machine
from accel_advisor.interpreter.loader_batches import may_be_batch, may_rewrite
from accel_advisor.values.store import ESCAPED, OPEN
from accel_advisor.values.values import (
    UNKNOWN,
    Choice,
    Constant,
    Instance,
    Iterated,
    Mapping,
    Module,
    Sequence,
    Tensor,
    Value,
)


def call_unknown(machine: Machine, values: list[Value]) -> Value:
    """A callee that nothing is known of: it may keep, change or move whatever it is given."""
    machine.frame.run.clock.wait()
    for value in values:
        escape(machine, value)
    if any(map(may_be_batch, values)):
        machine.recorder.model_called(machine.frame)
    return UNKNOWN


def escape(machine: Machine, value: Value) -> None:
    """Notes that a value was handed to code that is not known."""
    if isinstance(value, Mapping):
        machine.store.set(value, OPEN, Constant(True))
    elif isinstance(value, Module):
        machine.store.set(value, ESCAPED, Constant(True))
    elif isinstance(value, Sequence):
        for item in value.items:
            escape(machine, item)
    elif isinstance(value, Choice):
        for item in value.options:
            escape(machine, item)
    elif isinstance(value, Iterated):
        escape(machine, value.element)
    elif isinstance(value, Instance):
        if machine.frame.loops:
            machine.recorder.changed.add(value.cls)
        if machine.store.get(value, ESCAPED) is None:
            machine.store.set(value, ESCAPED, Constant(True))
            for held in machine.store.entries(value).values():
                escape(machine, held)
    elif isinstance(value, Tensor):
        if not value.proven:
            may_rewrite(value)
        if value.born is not None and machine.frame.loops:
            machine.recorder.handed_over.add(value.born)
