"""Dicts: their entries, and the methods that read and change them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from accel_advisor.interpreter.iteration import element_at, entries, present
from accel_advisor.interpreter.library.external_settings import switch
from accel_advisor.values.store import ANY, OPEN
from accel_advisor.values.values import (
    ABSENT,
    UNKNOWN,
    Choice,
    Constant,
    Filed,
    Iterated,
    Mapping,
    Qualified,
    Sequence,
    Tensor,
    Value,
    join,
    join_all,
    options_of,
)

if TYPE_CHECKING:
    from collections.abc import Hashable

    import libcst as cst

    from accel_advisor.interpreter.abstract_machine import Machine
    from accel_advisor.interpreter.arguments import Arguments


def update_mapping(machine: Machine, mapping: Mapping, other: Value) -> None:
    """``mapping.update(other)``."""
    if isinstance(other, Mapping):
        for key, value in machine.store.entries(other).items():
            machine.store.set(mapping, key, value if not _maybe(value) else _over(machine, mapping, key, value))
    elif isinstance(other, Choice) and all(isinstance(one, Mapping) for one in other.options):
        tables = [machine.store.entries(one) for one in other.options]
        for key in dict.fromkeys(key for table in tables for key in table):
            value = join_all(table.get(key, ABSENT) for table in tables)
            machine.store.set(mapping, key, _over(machine, mapping, key, value))
    elif isinstance(other, Sequence) and all(_is_pair(one) for one in other.items):
        for one in other.items:
            if isinstance(one, Sequence) and isinstance(one.items[0], Constant):
                machine.store.set(mapping, one.items[0].value, one.items[1])
    elif isinstance(other, Tensor) and other.loader is not None and machine.store.get(mapping, ANY) is None:
        machine.store.set(mapping, ANY, element_at(machine, other, ...))  # a batch that is a dict itself
        machine.store.set(mapping, OPEN, Constant(True))
    else:
        machine.store.set(mapping, OPEN, Constant(True))


def _is_pair(value: Value) -> bool:
    """Whether a value is a key, which is known, and what a dict has under it."""
    return isinstance(value, Sequence) and len(value.items) == 2 and isinstance(value.items[0], Constant)


def _maybe(value: Value) -> bool:
    return ABSENT in options_of(value)


def _over(machine: Machine, mapping: Mapping, key: Hashable, value: Value) -> Value:
    """An entry that is written on some paths only, over what was there before."""
    if not _maybe(value):
        return value
    before = machine.store.get(mapping, key) or ABSENT
    return join_all([before, *(one for one in options_of(value) if one != ABSENT)])


def merged_mapping(machine: Machine, left: Mapping, right: Value) -> Mapping:
    """``left | right``."""
    merged = Mapping(machine.document, None)
    update_mapping(machine, merged, left)
    update_mapping(machine, merged, right)
    return merged


def mapping_method(machine: Machine, receiver: Mapping, method: str, arguments: Arguments) -> Value:
    if method == "update":
        _take_arguments(machine, receiver, arguments)
        return Constant(None)
    if method == "copy":
        copied = Mapping(receiver.document, receiver.node)
        update_mapping(machine, copied, receiver)
        return copied
    key = arguments.positional[0].value if arguments.positional else None
    if method in ("get", "pop", "setdefault") and isinstance(key, Constant) and isinstance(key.value, str):
        held = machine.store.get(receiver, key.value)
        fallback = arguments.positional[1].value if len(arguments.positional) > 1 else Constant(None)
        if method == "pop":
            machine.store.set(receiver, key.value, ABSENT)
        if method == "setdefault" and held is None:
            stored = fallback.at("dict entry", key.value) if isinstance(fallback, Constant) else fallback
            machine.store.set(receiver, key.value, stored)
        unsure, rest = entries(machine, receiver)[1], machine.store.get(receiver, ANY)
        if held is None and isinstance(rest, Tensor):
            return rest
        return ((switch(arguments) or UNKNOWN) if unsure else fallback) if held is None else held
    if method == "get" and key is not None and not isinstance(key, Constant):
        return element_at(machine, receiver, ...)
    if method in ("items", "values", "keys"):
        known, unsure = entries(machine, receiver)
        element = UNKNOWN if unsure and not known else join_all(known.values())
        rest = machine.store.get(receiver, ANY)
        if rest is not None:
            element = rest if not known else join(element, rest)
        element = present(element)
        return Iterated(Sequence((UNKNOWN, element)) if method == "items" else UNKNOWN if method == "keys" else element)
    if method in ("clear", "popitem"):
        machine.store.set(receiver, OPEN, Constant(True))
    return UNKNOWN


def default_mapping(machine: Machine, arguments: Arguments, node: cst.Call) -> Mapping:
    """``defaultdict(list)``."""
    mapping = Mapping(machine.document, node)
    makes_lists = arguments.get("default_factory", 0) == Qualified("list")
    machine.store.set(mapping, ANY, Sequence(()) if makes_lists else UNKNOWN)
    machine.store.set(mapping, OPEN, Constant(True))
    return mapping


def made_mapping(machine: Machine, arguments: Arguments, node: cst.Call) -> Value:
    """``dict(...)``, and what makes a dict of its arguments in the same way."""
    if any(isinstance(one.value, Filed) for one in arguments.positional):
        return arguments.positional[0].value
    mapping = Mapping(machine.document, node)
    _take_arguments(machine, mapping, arguments)
    return mapping


def _take_arguments(machine: Machine, mapping: Mapping, arguments: Arguments) -> None:
    """Puts into a dict what ``dict(...)`` and ``update`` are called with."""
    for one in arguments.positional:
        update_mapping(machine, mapping, one.value)
    for key, argument in arguments.keywords.items():
        value = argument.value
        machine.store.set(mapping, key, value.at("dict entry", key) if isinstance(value, Constant) else value)
    if arguments.open:
        machine.store.set(mapping, OPEN, Constant(True))
