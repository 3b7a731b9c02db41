"""The loaders and batches that a value holds, and what the program does to batches as such."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from accel_advisor.records.loaders import LoaderCall, loader_of
from accel_advisor.records.loops import Loop
from accel_advisor.values.places import is_host
from accel_advisor.values.values import Choice, Iterated, Method, Sequence, Tensor, Value, options_of


def loaders_of(value: Value, *, whole: bool = False) -> list[LoaderCall]:
    """The loaders that a value is, or whose batches it holds, in a stable order; ``whole``: no parts of batches."""
    return list(dict.fromkeys(_loaders(value, whole)))


def holds_host_batch(value: Value) -> bool:
    """Whether a value is or may be a batch, or holds one, that is still where its loader made it."""
    return any(isinstance(one, Tensor) and one.loader and is_host(one.place) for one in _leaves(value))


def may_be_batch(value: Value) -> bool:
    """Whether a value is a batch of a loader, or part of one, whatever else it may be."""
    return any(isinstance(one, Tensor) and one.loader is not None for one in options_of(value))


def part_named(value: Value) -> Value:
    """What an attribute of a batch is: one of its parts, as of a named tuple; other values are what they are."""
    if isinstance(value, Method) and isinstance(value.receiver, Tensor):
        batch = value.receiver
        if batch.loader is not None and not batch.proven:
            return replace(batch, path=(*batch.path, value.name))
    return value


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


def may_rewrite(value: Value) -> None:
    """Notes that other tensors may be put into a batch, or that it may be moved in place."""
    loader = loader_of(value)
    if loader is not None:
        loader.rewritten = True


def mutates_in_place(tensor: Tensor, loop: Loop | None) -> None:
    """Notes that a batch is changed in a loop while it is on the host: an asynchronous copy of it may still be
    reading. It is there no more where the loop has put what it copied in the place of its parts."""
    loader = loader_of(tensor)
    if loader is not None and loop not in loader.refilled and not all("cuda" in kinds for kinds in tensor.place):
        loader.mutated.add(loop)


def refills(batch: Tensor, value: Value, loop: Loop | None) -> None:
    """Notes that a part of a batch is replaced by a copy of itself on a GPU."""
    loader = loader_of(batch)
    if loop is None or loader is None:
        return
    own = [one for one in options_of(value) if isinstance(one, Tensor) and one.loader is loader]
    if own and all(one.place and all("cuda" in kinds for kinds in one.place) for one in own):
        loader.refilled.add(loop)
