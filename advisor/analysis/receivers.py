"""Objects to interpret the methods of a class on, where none is followed to them."""

from __future__ import annotations

from accel_advisor.interpreter.arguments import Arguments
from accel_advisor.interpreter.interpreter import Interpreter
from accel_advisor.interpreter.parameters import bind_parameters
from accel_advisor.interpreter.resolution import builds_modules, class_member, is_part, parts_of
from accel_advisor.values.places import SOMEWHERE, WITH_MODEL
from accel_advisor.values.store import BUILT, PARTS
from accel_advisor.values.values import (
    UNKNOWN,
    Choice,
    Class,
    Constant,
    Function,
    Instance,
    Iterated,
    Module,
    Qualified,
    Sequence,
    Unknown,
    Value,
    join,
    join_all,
)

_MOST_BUILDERS = 8
"""Places that build objects of one class, of which it is asked what with."""


class Receivers:
    """One object of each class, built once with what the program is seen to build such objects with."""

    def __init__(self, machine: Interpreter) -> None:
        self._machine = machine
        self._of: dict[int, Value] = {}
        self._parts: dict[tuple[int, str], Value | None] = {}

    def of(self, cls: Class) -> Value:
        """An object of a class, built with what the program is seen to build such objects with."""
        receiver = self._of.get(id(cls.node))
        if receiver is None:
            with self._machine.at_bottom():
                receiver = self._made(cls)
        return receiver

    def _made(self, cls: Class) -> Value:
        machine = self._machine
        receiver = self._of[id(cls.node)] = _sample(machine, cls)
        init = class_member(machine, cls, "__init__")
        if isinstance(init, Function):
            with machine.at_home(init.scope.globals):
                machine.inline(init, self._built_with(init, cls, receiver), None)
        machine.store.set(receiver, BUILT, Constant(True))
        return receiver

    def part_of(self, cls: Class, name: str) -> Value | None:
        """What the modules of a class have as a part under a name; None where they have none, or it is not known."""
        key = id(cls.node), name
        if key not in self._parts:
            with self._machine.at_bottom():
                held = self._machine.store.get(self.of(cls), name)
                self._parts[key] = _part(self._machine, held) if held is not None and is_part(held) else None
        return self._parts[key]

    def _built_with(self, init: Function, cls: Class, receiver: Value) -> dict[str, Value]:
        """What the ``__init__`` of a class is given: the modules, classes and functions that the program builds its
        objects with, and None where it gives nothing else; nothing is known of the rest."""
        machine = self._machine
        bound = bind_parameters(machine, init, Arguments(None, open=True, starred=True), receiver)
        builders = tuple(machine.recorder.called.built.get(cls, {}).values())[:_MOST_BUILDERS]
        given = [bind_parameters(machine, init, arguments, receiver) for arguments in builders]
        for each in given:
            for name, value in each.items():
                part = _part(machine, value) if value is not receiver else None
                if part is not None:
                    known = bound.get(name, UNKNOWN)
                    bound[name] = part if isinstance(known, Unknown) else join(known, part)
        empty = [name for name in bound if given and all(_is_none(each.get(name)) for each in given)]
        return bound | dict.fromkeys(empty, Constant(None))


def _is_none(value: Value | None) -> bool:
    return isinstance(value, Constant) and value.value is None


def _part(machine: Interpreter, value: Value) -> Value | None:
    """What a module is built from: the modules, classes and functions in a value; None where it holds none. The modules
    are others of the same kind, since what is built here is a sample, and whoever built them may have moved them."""
    if isinstance(value, (Class, Function, Qualified)):
        return value
    if isinstance(value, Module):
        sample = Module(value.document, value.node, value.kind, value.cls, value.has_state)
        machine.move(sample, SOMEWHERE)
        held = [_part(machine, one) or one for one in parts_of(machine, value)]
        machine.store.set(sample, PARTS, Sequence(tuple(held)))
        return sample
    if not isinstance(value, (Sequence, Iterated, Choice)):
        return None
    found = [part for one in value.inner() if (part := _part(machine, one)) is not None]
    if not found:
        return None
    return join_all(found) if isinstance(value, Choice) else Iterated(join_all(found))


def _sample(machine: Interpreter, cls: Class) -> Instance | Module:
    """An object of a class that nothing in the project builds."""
    if builds_modules(cls):
        module = Module(cls.document, cls.node.name, f"project:{cls.name}", cls)
        machine.move(module, WITH_MODEL)
        return module
    return Instance(cls)
