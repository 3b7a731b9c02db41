"""What becomes of values that are handed to code that is not known, or that the program looks up by a text."""

from __future__ import annotations

from functools import reduce
from operator import or_
from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.interpreter.abstract_machine import Machine
from accel_advisor.interpreter.loader_batches import may_be_batch, may_rewrite
from accel_advisor.interpreter.resolution import any_member_of, defined_in, hold, is_part, parts_of
from accel_advisor.records.actions import Call
from accel_advisor.syntax.model_names import is_no_model
from accel_advisor.values.evidence import Evidence, Ground
from accel_advisor.values.places import SOMEWHERE, is_cuda_capable
from accel_advisor.values.store import ESCAPED, OPEN
from accel_advisor.values.values import (
    MOST_OPTIONS,
    UNKNOWN,
    Bound,
    Choice,
    Constant,
    Instance,
    Iterated,
    Mapping,
    Method,
    Module,
    Named,
    Pending,
    Qualified,
    Sequence,
    SourceModule,
    Tensor,
    Text,
    Value,
    join_all,
    named,
    options_of,
)

if TYPE_CHECKING:
    from accel_advisor.interpreter.arguments import Arguments

_IMPORTS = ("importlib.import_module", "__import__")
REFLECTION = ("getattr", "eval", "exec", "globals", "locals", "setattr", *_IMPORTS)
"""The functions of Python that look something up by a text."""


def call_unknown(machine: Machine, values: list[Value], node: cst.Call | None = None) -> Value:
    """A callee that nothing is known of: it may keep, change or move whatever it is given. What it computes from
    tensors on the GPU is evidently there, and carries their graph.

    Args:
        node: the call, where what it returns is of interest.
    """
    machine.frame.run.clock.wait(known=False)
    for value in values:
        escape(machine, value)
    if any(map(may_be_batch, values)) and not (node is not None and is_no_model(node.func)):
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
    elif isinstance(value, Bound):
        machine.recorder.called.handed_out.setdefault(value.function, value.receiver)
    elif isinstance(value, Tensor):
        if not value.proven:
            may_rewrite(value)
        if value.born is not None and machine.frame.loops:
            machine.recorder.handed_over.add(value.born)


def reflection(machine: Machine, name: str, arguments: Arguments, node: cst.Call) -> Value:
    """What one of these functions returns."""
    first, key = arguments.get("", 0), arguments.get("", 1)
    if name in _IMPORTS:
        return _module(machine, first, arguments.get("package", 1))
    if name == "getattr" and first is not None and key is not None:
        if isinstance(key, Constant) and isinstance(key.value, str):
            return machine.attribute(first, key.value)
        modules = first.options if isinstance(first, Named) else (first,)
        if all(isinstance(one, SourceModule) for one in modules):
            return named(defined_in(machine, one.scope) for one in modules if isinstance(one, SourceModule))
        if isinstance(first, Qualified):
            return any_member_of(first)
        if isinstance(first, Module) and parts_of(machine, first):
            return join_all(parts_of(machine, first))
        if isinstance(first, (Module, Instance)) and isinstance(key, Text) and key.beginning + key.end:
            return _methods_named(machine, first, key)
    if name == "setattr" and isinstance(first, Module) and is_part(arguments.get("", 2)):
        machine.recorder.operation(machine.frame, node, Call(name), None, arguments)
        hold(machine, first, key, arguments.get("", 2) or UNKNOWN)
        return Constant(None)
    if name in ("getattr", "setattr") and first is not None:
        # any of its attributes may be taken out, moved, or replaced
        escape(machine, first)
    if name == "setattr":
        machine.recorder.operation(machine.frame, node, Call(name), None, arguments)
    if name in ("exec", "eval", "globals", "locals"):
        machine.recorder.reflects(machine.document)
    if name == "globals":
        return Method(SourceModule(machine.scope.globals), "__dict__")
    return UNKNOWN


def _methods_named(machine: Machine, owner: Module | Instance, name: Text) -> Value:
    """The methods of an object that a text may name of which the beginning or the end is known."""
    known = owner.cls.method_names() if owner.cls is not None else ()
    found = sorted(one for one in known if one.startswith(name.beginning) and one.endswith(name.end))
    meant = [one for one in found if not one.startswith("__")]
    return named(machine.attribute(owner, one) for one in meant) if len(meant) <= MOST_OPTIONS else UNKNOWN


def _module(machine: Machine, name: Value | None, package: Value | None) -> Value:
    """The module of the project that a text names, or those that it may name."""
    around = package.value if isinstance(package, Constant) and isinstance(package.value, str) else ""
    if isinstance(name, Text) and "." in around + name.beginning:
        folder, _, beginning = (around + name.beginning).rpartition(".")
        inside = folder.lstrip(".")
        level = len(folder) - len(inside) + (name.beginning.startswith(".") and not around)
        files = machine.modules.members(inside, level, machine.document, beginning, name.end)
        for one in files:
            machine.recorder.imported(machine.document, one)
        return named(machine.settle(Pending(one)) for one in files) if len(files) <= MOST_OPTIONS else UNKNOWN
    text = name.value if isinstance(name, Constant) else None
    filename = machine.modules.resolve(text, 0, machine.document) if isinstance(text, str) else None
    if filename is None:
        return Qualified(text) if isinstance(text, str) else UNKNOWN
    machine.recorder.imported(machine.document, filename)
    return machine.settle(Pending(filename))
