"""What the interpreter knows of a value: a small lattice whose top is :data:`UNKNOWN`.

Values are immutable and hashable. What changes while a program runs (the entries of a dict, the attributes of an
instance, where a module lives) is kept in the :class:`~.store.Store` under the identity of a :class:`Cell`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from accel_advisor.values.evidence import Evidence, Ground
from accel_advisor.values.lattice import (
    ABSENT,
    UNKNOWN,
    Absent,
    Choice,
    Compound,
    Configured,
    Constant,
    Device,
    Filed,
    Iterated,
    Method,
    Named,
    Opaque,
    Origin,
    OriginKind,
    Pending,
    Qualified,
    Sequence,
    Text,
    Unknown,
    Value,
)
from accel_advisor.values.objects import (
    MOST_BASES,
    Bound,
    Cell,
    Class,
    Function,
    Instance,
    Mapping,
    Module,
    Namespace,
    Parser,
    SourceModule,
)
from accel_advisor.values.places import HOST
from accel_advisor.values.tensors import Birth, Loader, Tensor

__all__ = [
    "ABSENT",
    "MOST_BASES",
    "MOST_OPTIONS",
    "MOST_PARTS",
    "UNKNOWN",
    "Absent",
    "Birth",
    "Bound",
    "Cell",
    "Choice",
    "Class",
    "Compound",
    "Configured",
    "Constant",
    "Device",
    "Filed",
    "Function",
    "Instance",
    "Iterated",
    "Loader",
    "Mapping",
    "Method",
    "Module",
    "Named",
    "Namespace",
    "Opaque",
    "Origin",
    "OriginKind",
    "Parser",
    "Pending",
    "Qualified",
    "Sequence",
    "SourceModule",
    "Tensor",
    "Text",
    "Unknown",
    "Value",
    "evidently",
    "join",
    "join_all",
    "named",
    "options_of",
]

MOST_OPTIONS = 24
"""Alternatives that a value keeps apart before it becomes Unknown."""
MOST_PARTS = 500
"""Values within a value beyond which it is Unknown once it is stored: ``x = (x, x)``, a few times over, has many."""


_SURVIVING = (Loader, Tensor, Choice)
"""What may be known, by evidence, of a value that may be anything else."""
_KEPT = Evidence.of(Ground.KEPT)
_MERGED: frozenset[type[Value]] = frozenset({Tensor, Device, Sequence, Iterated, Module, Loader})
"""The kinds of which two values can become one; those of any other kind are kept apart unless they are equal."""


def join(left: Value, right: Value) -> Value:
    """What is known of a value that is either of two.

    A loader, or a batch of one, that may as well be anything else is still taken for what it is, by evidence; whatever
    else it may be is not kept apart from that any more.
    """
    if left is right:
        return left
    for one, other in ((left, right), (right, left)):
        if type(one) is Unknown and not isinstance(other, _SURVIVING):
            return one
    if left == right:
        return left
    if isinstance(left, Unknown) or isinstance(right, Unknown):
        return _chosen(_unsure((*options_of(left), *options_of(right))))
    merged = _merge(left, right)
    if merged is not None:
        return merged
    kept: list[Value] = []
    for option in (*options_of(left), *options_of(right)):
        kind = type(option)
        merges = kind in _MERGED
        for index, one in enumerate(kept):
            if type(one) is not kind:
                continue
            if one == option:
                break
            both = _merge(one, option) if merges else None
            if both is not None:
                kept[index] = both
                break
        else:
            kept.append(option)
    return _chosen(_unsure(kept) if any(map(_is_unsure, kept)) else kept)


def _chosen(options: list[Value]) -> Value:
    if len(options) == 1:
        return options[0]
    return Choice(tuple(options)) if 0 < len(options) <= MOST_OPTIONS else UNKNOWN


def _unsure(options: Iterable[Value]) -> list[Value]:
    """The loaders and batches among the alternatives of a value that may be anything."""
    found: list[Value] = []
    for one in options:
        if isinstance(one, Loader):
            found.append(replace(one, basis=one.basis | _KEPT))
        elif isinstance(one, Tensor) and one.loader is not None:
            found.append(replace(one, proven=False, basis=one.basis | _KEPT))
    return found


def _is_unsure(value: Value) -> bool:
    """Whether a value may as well be anything else."""
    return isinstance(value, (Loader, Tensor)) and Ground.KEPT in value.basis.grounds


def _merge(left: Value, right: Value) -> Value | None:
    """The one value that covers both exactly enough, or None where they must be kept apart."""
    if type(left) is not type(right) or type(left) not in _MERGED:
        return None
    if isinstance(left, Tensor) and isinstance(right, Tensor):
        if left.loader is right.loader:
            return Tensor(
                left.place | right.place,
                left.loader,
                left.path if left.path == right.path else (...,),
                left.proven and right.proven,
                left.scalar and right.scalar,
                left.born if left.born == right.born else None,
                left.grown | right.grown,
                left.pending if left.pending is right.pending else None,
                left.mask and right.mask,
                left.recast and right.recast,
                left.fills | right.fills if left.fills and right.fills else frozenset(),
                left.basis | right.basis,
            )
        return None
    if isinstance(left, Device) and isinstance(right, Device):
        return Device(left.kinds | right.kinds, basis=left.basis | right.basis, text=left.text or right.text)
    if isinstance(left, Sequence) and isinstance(right, Sequence) and len(left.items) == len(right.items):
        return Sequence(tuple(join(one, two) for one, two in zip(left.items, right.items, strict=True)))
    if isinstance(left, Iterated) and isinstance(right, Iterated):
        return Iterated(join(left.element, right.element))
    if isinstance(left, Module) and isinstance(right, Module) and left.plain is right.plain:
        return left if left.eager is not None else right
    if isinstance(left, Loader) and isinstance(right, Loader) and left.call is right.call:
        same = left.delivers == right.delivers
        delivers = left.delivers if same else (left.delivers or HOST) | (right.delivers or HOST)
        return Loader(left.call, delivers, left.basis | right.basis)
    return None


def join_all(values: Iterable[Value]) -> Value:
    """The join of any number of values; Unknown for none."""
    result: Value | None = None
    for value in values:
        result = value if result is None else join(result, value)
    return UNKNOWN if result is None else result


def options_of(value: Value) -> tuple[Value, ...]:
    """The alternatives of a value: itself, unless it is a Choice."""
    return value.options if isinstance(value, Choice) else (value,)


def named(options: Iterable[Value]) -> Value:
    """What a name may stand for among these values: the functions, classes and modules; Unknown where there are none,
    or too many."""
    found = {one: None for value in options for one in _callables(value)}
    return Named(tuple(found)) if 0 < len(found) <= MOST_OPTIONS else UNKNOWN


def _callables(value: Value) -> tuple[Value, ...]:
    if isinstance(value, (Choice, Named)):
        return tuple([one for option in value.options for one in _callables(option)])
    library = isinstance(value, Qualified) and "." in value.name
    return (value,) if library or isinstance(value, (Class, Function, Bound, SourceModule)) else ()


def evidently(value: Value, basis: Evidence) -> Value:
    """A value for which something speaks and that may as well be another one; Unknown where that is as good."""
    if isinstance(value, (Loader, Device)):
        return replace(value, basis=value.basis | basis)
    if isinstance(value, Tensor):
        return replace(value, proven=False, basis=value.basis | basis)
    if isinstance(value, Sequence):
        return Sequence(tuple([evidently(one, basis) for one in value.items]))
    if isinstance(value, Iterated):
        return Iterated(evidently(value.element, basis))
    if isinstance(value, Choice):
        return join_all(evidently(one, basis) for one in value.options)
    return value if isinstance(value, (Instance, Module, Mapping, Class, Function, Bound, Opaque)) else UNKNOWN
