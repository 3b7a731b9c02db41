"""Classes whose fields are settings: dataclasses and the like, and the namespaces that hold attributes by name."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from accel_advisor.interpreter.resolution import class_member
from accel_advisor.syntax.shapes import fields_of
from accel_advisor.tables.settings_libraries import CONFIGURED_BASES, FIELD_MAKERS, RECORD_BASES, RECORD_DECORATORS
from accel_advisor.values.values import (
    ABSENT,
    UNKNOWN,
    Class,
    Configured,
    Constant,
    Instance,
    Mapping,
    Method,
    Namespace,
    Opaque,
    Qualified,
    SourceModule,
    Value,
    options_of,
)

if TYPE_CHECKING:
    from accel_advisor.interpreter.abstract_machine import Machine
    from accel_advisor.interpreter.arguments import Arguments


def is_record(cls: Class) -> bool:
    """Whether a class takes its annotated fields as arguments, and keeps them under these names."""
    for one in cls.lineage():
        names = [value.name for value in one.decorators if isinstance(value, (Qualified, Opaque))]
        if any(name.startswith(RECORD_DECORATORS) for name in names):
            return True
    return bool(cls.library_bases() & RECORD_BASES)


def field_default(value: Value) -> Value:
    """What ``field(default=...)`` and the like give a field; any other value as it is."""
    if not isinstance(value, Opaque) or value.name not in FIELD_MAKERS:
        return value
    given = dict(value.keywords)
    if "default" in given:
        return given["default"]
    positional = value.arguments[0] if value.arguments and value.name == "pydantic.Field" else None
    return positional if positional is not None else UNKNOWN


def record_fields(cls: Class) -> list[str]:
    """The fields of a class, those of its bases first."""
    return list(dict.fromkeys(name for one in reversed(cls.lineage()) for name in fields_of(one.node)))


def fill_record(machine: Machine, instance: Instance, arguments: Arguments) -> None:
    """Stores what the arguments of its call give the fields of a record."""
    fields = record_fields(instance.cls)
    if arguments.open:
        for name in fields:
            machine.store.set(instance, name, UNKNOWN)
    for name, argument in zip(fields, arguments.positional, strict=False):
        machine.store.set(instance, name, UNKNOWN if arguments.starred else argument.value)
    for key, argument in arguments.keywords.items():
        if ABSENT not in options_of(argument.value):
            machine.store.set(instance, key, argument.value)
        else:
            machine.store.set(instance, key, UNKNOWN)
    if instance.cls.library_bases() & CONFIGURED_BASES:
        configure(machine, instance, given=frozenset(arguments.keywords))


def configure(machine: Machine, instance: Instance, given: frozenset[str] = frozenset()) -> None:
    """A command line, or the environment, may give any field of a record that the program does not."""
    for name in record_fields(instance.cls):
        if name not in given:
            default = class_member(machine, instance.cls, name)
            machine.store.set(instance, name, optional(name, default if default is not None else UNKNOWN))


def optional(name: str, default: Value) -> Configured:
    """A parameter, or a field, that an option of the same name overrides."""
    options = tuple(dict.fromkeys((f"--{name}", f"--{name.replace('_', '-')}")))
    if isinstance(default, Opaque) and default.name in ("typer.Option", "typer.Argument"):
        named = [one.value for one in default.arguments[1:] if isinstance(one, Constant)]
        options = tuple(one for one in named if isinstance(one, str)) or options[-1:]
        default = dict(default.keywords).get("default", default.arguments[0] if default.arguments else UNKNOWN)
    if isinstance(default, Configured):
        return default
    return Configured(default.at("option default", options[-1]) if isinstance(default, Constant) else default, options)


def members(machine: Machine, value: Value) -> Iterator[tuple[str, Value]]:
    """The attributes of a namespace or a record, as ``vars`` and ``asdict`` give them."""
    if isinstance(value, Namespace):
        if value.parser is not None:
            yield from named_entries(machine, value.parser)
        yield from named_entries(machine, value)
    elif isinstance(value, Instance):
        names = record_fields(value.cls) if is_record(value.cls) else []
        for name in names:
            yield name, machine.attribute(value, name)
        yield from named_entries(machine, value)


def as_dict(machine: Machine, value: Value) -> Value:
    """``vars(args)``, ``dataclasses.asdict(config)``."""
    if isinstance(value, SourceModule):
        return Method(value, "__dict__")
    if not isinstance(value, Namespace) and not (isinstance(value, Instance) and is_record(value.cls)):
        return UNKNOWN
    mapping = Mapping(machine.document, None)
    for name, held in members(machine, value):
        machine.store.set(mapping, name, held)
    return mapping


def replaced(machine: Machine, arguments: Arguments) -> Value:
    """A copy of a record with other values in some fields."""
    source = arguments.positional[0].value
    if not isinstance(source, Instance) or arguments.open:
        return UNKNOWN
    copied = Instance(source.cls)
    for name, value in members(machine, source):
        machine.store.set(copied, name, value)
    for name, argument in arguments.keywords.items():
        machine.store.set(copied, name, argument.value)
    return copied


def namespace(machine: Machine, arguments: Arguments) -> Namespace:
    """``SimpleNamespace(workers=0)``."""
    made = Namespace()
    for name, argument in arguments.keywords.items():
        machine.store.set(made, name, UNKNOWN if ABSENT in options_of(argument.value) else argument.value)
    return made


def named_entries(machine: Machine, owner: Value) -> Iterator[tuple[str, Value]]:
    """What is stored under the names of a namespace, a parser or an object."""
    for name, value in machine.store.entries(owner).items():
        if isinstance(name, str) and not name.startswith("\0"):
            yield name, value
