"""What becomes of values that are handed to code that is not known."""

from __future__ import annotations

from functools import reduce
from operator import or_

import libcst as cst

from accel_advisor.interpreter.abstract_machine import Machine
from accel_advisor.interpreter.loader_batches import may_be_batch, may_rewrite
from accel_advisor.values.evidence import Evidence, Ground
from accel_advisor.values.places import SOMEWHERE, is_cuda_capable
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
    options_of,
)


def call_unknown(machine: Machine, values: list[Value], node: cst.Call | None = None) -> Value:
    """A callee that nothing is known of: it may keep, change or move whatever it is given. What it computes from
    tensors on the GPU is evidently there, and carries their graph.

    Args:
        node: the call, where what it returns is of interest.
    """
    machine.frame.run.clock.wait()
    for value in values:
        escape(machine, value)
    if any(map(may_be_batch, values)):
        machine.recorder.model_called(machine.frame)
    return _computed_from(machine, values, node) if node is not None else UNKNOWN


def _computed_from(machine: Machine, values: list[Value], node: cst.Call) -> Value:
    given = [item for value in values for one in options_of(value) for item in _items(one) if isinstance(item, Tensor)]
    moved = [one for one in given if one.place and is_cuda_capable(one.place) and not one.scalar]
    grown = machine.grown(node) if any(one.grown for one in given) else frozenset()
    if not moved and not grown:
        return UNKNOWN
    place = frozenset[frozenset[str]]().union(*(one.place for one in moved)) or SOMEWHERE
    basis = reduce(or_, (one.basis for one in moved), Evidence.of(Ground.INPUTS))
    return Tensor(place, proven=False, grown=grown, basis=basis)


def _items(value: Value) -> tuple[Value, ...]:
    return value.items if isinstance(value, Sequence) else (value,)


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
