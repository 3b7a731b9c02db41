"""The loaders and batches that a value holds, and what the program does to batches as such."""

from __future__ import annotations

from collections.abc import Iterator

from accel_advisor.records.loaders import LoaderCall, loader_of
from accel_advisor.values.places import is_host
from accel_advisor.values.values import Choice, Iterated, Sequence, Tensor, Value


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


def may_rewrite(value: Value) -> None:
    """Notes that other tensors may be put into a batch, or that it may be moved in place."""
    loader = loader_of(value)
    if loader is not None:
        loader.rewritten = True


def mutates_in_place(tensor: Tensor) -> None:
    """Notes that a batch is changed while it is on the host: an asynchronous copy of it may still be reading."""
    loader = loader_of(tensor)
    if loader is not None and not all("cuda" in kinds for kinds in tensor.place):
        loader.mutated = True
