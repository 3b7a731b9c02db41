"""What comes out of a value when it is iterated, unpacked or indexed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from accel_advisor.records.loaders import loader_of
from accel_advisor.values.places import HOST, SOMEWHERE, is_host
from accel_advisor.values.store import ANY, OPEN
from accel_advisor.values.values import (
    UNKNOWN,
    Bound,
    Choice,
    Configured,
    Constant,
    Filed,
    Instance,
    Iterated,
    Loader,
    Mapping,
    Module,
    Opaque,
    Qualified,
    Sequence,
    Tensor,
    Value,
    join_all,
)

if TYPE_CHECKING:
    from accel_advisor.interpreter.interpreter import Interpreter
    from accel_advisor.records.facts import LoaderCall


def loaders_of(value: Value, *, whole: bool = False) -> list[LoaderCall]:
    """The loaders that a value is, or whose batches it holds, in a stable order; ``whole``: no parts of batches."""
    return list(dict.fromkeys(_loaders(value, whole)))


def holds_host_batch(value: Value) -> bool:
    """Whether a value is or may be a batch, or holds one, that is still where its loader made it."""
    return any(isinstance(one, Tensor) and one.loader and is_host(one.place) for one in _leaves(value))


def _loaders(value: Value, whole: bool) -> Iterator[LoaderCall]:
    for one in _leaves(value):
        loader = loader_of(one)
        if loader is not None and not (whole and isinstance(one, Tensor) and one.path):
            yield loader


def _leaves(value: Value) -> Iterator[Value]:
    """What a value holds, is a choice of, or yields."""
    if isinstance(value, Sequence):
        for item in value.items:
            yield from _leaves(item)
    elif isinstance(value, Iterated):
        yield from _leaves(value.element)
    elif isinstance(value, Choice):
        for option in value.options:
            yield from _leaves(option)
    else:
        yield value


def element_of(machine: Interpreter, value: Value) -> Value:
    """One element of what iterating ``value`` yields."""
    if isinstance(value, Loader):
        place = value.delivers or HOST
        return Tensor(place, value.call, (), proven=False)
    if isinstance(value, Iterated):
        return value.element
    if isinstance(value, Sequence):
        return join_all(value.items)
    if isinstance(value, Tensor):
        return Tensor(value.place, value.loader, (*value.path, ...), _proven(machine, value))
    if isinstance(value, Choice):
        return join_all(element_of(machine, one) for one in value.options)
    if isinstance(value, Opaque) and value.name == "torch.utils.data.random_split":
        return value
    if isinstance(value, Instance):
        return _iterate_instance(machine, value)
    return UNKNOWN


def _iterate_instance(machine: Interpreter, value: Instance) -> Value:
    from accel_advisor.interpreter.calls import attribute, call_without_arguments

    iterator = attribute(machine, value, "__iter__")
    if not isinstance(iterator, Bound):
        return UNKNOWN
    made = call_without_arguments(machine, iterator)
    if isinstance(made, Instance):
        step = attribute(machine, made, "__next__")
        return call_without_arguments(machine, step) if isinstance(step, Bound) else UNKNOWN
    return element_of(machine, made)


def element_at(machine: Interpreter, value: Value, key: object, count: int | None = None) -> Value:
    """What unpacking or indexing ``value`` at ``key`` gives; ``count`` is the number of targets when unpacking."""
    if isinstance(value, Sequence):
        if (
            isinstance(key, int)
            and (count is None or count == len(value.items))
            and -len(value.items) <= key < len(value.items)
        ):
            return value.items[key]
        return join_all(value.items) if count is None else UNKNOWN
    if isinstance(value, Tensor):
        proven = _proven(machine, value)
        return Tensor(
            value.place,
            value.loader,
            (*value.path, key),
            proven,
            born=value.born,
            grown=value.grown,
            pending=value.pending,
        )
    if isinstance(value, Iterated):
        return value.element
    if isinstance(value, Mapping):
        return _entry(machine, value, key)
    if isinstance(value, Filed):
        return value.at(key) if isinstance(key, (str, int)) else UNKNOWN
    if isinstance(value, Qualified) and value.name == "os.environ" and isinstance(key, str):
        return Configured(UNKNOWN, (), key)
    if isinstance(value, Choice):
        return join_all(element_at(machine, one, key, count) for one in value.options)
    if isinstance(value, Opaque) and value.name == "torch.utils.data.random_split":
        return Opaque("torch.utils.data.Subset", value.arguments[:1])
    if isinstance(value, Opaque) and value.name == "torch.load":
        return value  # a part of a checkpoint
    if isinstance(value, Loader) and count is not None:
        return element_of(machine, value)
    return UNKNOWN


def may_rewrite(value: Value) -> None:
    """Notes that other tensors may be put into a batch, or that it may be moved in place."""
    loader = loader_of(value)
    if loader is not None:
        loader.rewritten = True


def _entry(machine: Interpreter, mapping: Mapping, key: object) -> Value:
    if isinstance(key, (str, int)):
        value = machine.store.get(mapping, key)
        if value is not None:
            return value
    from accel_advisor.interpreter.calls import escape

    for held in machine.store.entries(mapping).values():
        if isinstance(held, Module):
            # it may be this one, or another
            escape(machine, held)
    return machine.store.get(mapping, ANY) or UNKNOWN


def entries(machine: Interpreter, mapping: Mapping) -> tuple[dict[str, Value], bool]:
    """The entries of a dict under keys that are strings, and whether it may hold others."""
    held = machine.store.entries(mapping)
    known = {key: value for key, value in held.items() if isinstance(key, str) and key not in (OPEN, ANY)}
    unsure = OPEN in held or ANY in held
    return known, unsure


def _proven(machine: Interpreter, batch: Tensor) -> bool:
    """Whether an element of a batch is certainly a plain tensor (rules.md 0.4).

    The default collate function raises for classes that it does not know and keeps mappings as they are, so an
    element that is used as a tensor is one, unless the data set yields mappings of its own.
    """
    loader = loader_of(batch)
    if loader is None:
        return batch.proven and not is_host(batch.place) and batch.place != SOMEWHERE
    if loader.opaque:
        return False
    collate = loader.get("collate_fn")
    default = isinstance(collate, Constant) and collate.value is None
    from accel_advisor.values.values import ABSENT

    if not (collate == ABSENT or default):
        return False
    return machine.recorder.dataset(machine, loader).plain
