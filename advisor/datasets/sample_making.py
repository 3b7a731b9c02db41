"""What data sets give and collate functions make, interpreted on the objects that the program hands its loaders."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from accel_advisor.datasets.sample_methods import ENTRANCES
from accel_advisor.interpreter.arguments import Arguments
from accel_advisor.interpreter.resolution import class_member
from accel_advisor.records.operations import Argument
from accel_advisor.tables.known_datasets import DATASET_WRAPPERS
from accel_advisor.values.values import (
    UNKNOWN,
    Bound,
    Class,
    Function,
    Instance,
    Iterated,
    Opaque,
    Sequence,
    Value,
    options_of,
)

if TYPE_CHECKING:
    from accel_advisor.interpreter.abstract_machine import Machine
    from accel_advisor.records.loaders import LoaderCall


def make_samples(machine: Machine, loader: LoaderCall) -> None:
    """Lets a loader's data sets give a sample, and its collate function make a batch, of what is not known."""
    for dataset in datasets_in(loader.get("dataset")):
        if isinstance(dataset, Instance) and dataset not in machine.recorder.samples:
            made = [_call(machine, class_member(machine, dataset.cls, name), dataset) for name in ENTRANCES[:3]]
            machine.recorder.samples[dataset] = Sequence(tuple(made))
    for collate in loader.each("collate_fn"):
        if isinstance(collate, (Function, Bound, Class)):
            receiver = collate.receiver if isinstance(collate, Bound) else None
            function = collate.function if isinstance(collate, Bound) else collate
            loader.batches += (_call(machine, function, receiver),)


def _call(machine: Machine, function: Value | None, receiver: Value | None) -> Value:
    if isinstance(function, Class):
        return Instance(function)
    if not isinstance(function, Function):
        return UNKNOWN
    given = Arguments(None, [Argument(UNKNOWN)])
    with machine.at_home(function.scope.globals):
        return machine.call_function(function, given, None, receiver)


def datasets_in(value: Value) -> Iterator[Value]:
    """A data set, or those that it is a part of or joins."""
    for one in options_of(value):
        if isinstance(one, Opaque) and one.name in DATASET_WRAPPERS and one.arguments:
            yield from datasets_in(one.arguments[DATASET_WRAPPERS[one.name]])
        elif isinstance(one, (Sequence, Iterated)):
            for item in one.items if isinstance(one, Sequence) else (one.element,):
                yield from datasets_in(item)
        else:
            yield one
