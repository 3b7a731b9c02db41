"""Loaders that nothing in sight builds: their names, their annotations and the loops over them show what they are."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.interpreter.loader_batches import loaders_of
from accel_advisor.interpreter.parameters import declared_type, given_for
from accel_advisor.syntax.shapes import named_parameters
from accel_advisor.syntax.variation import bindings
from accel_advisor.tables.loader_libraries import CONSTRUCTORS, TORCH_LOADER
from accel_advisor.values.evidence import Evidence, Ground
from accel_advisor.values.values import (
    Choice,
    Iterated,
    Loader,
    Method,
    Opaque,
    Qualified,
    Unknown,
    Value,
    evidently,
    join_all,
)

if TYPE_CHECKING:
    from accel_advisor.interpreter.abstract_machine import Machine
    from accel_advisor.interpreter.frames import Frame

_NAMED_LOADER = re.compile(r"(?<!down)(?<!up)(?<!re)loader|(^|_)dl")
_NAMED_LOADERS = re.compile(f"({_NAMED_LOADER.pattern})s?")

_OTHER_RESULTS = ("torch", "functools.", "module.")
_FETCHES = re.compile(r"prefetch|fetcher|device|cuda|gpu|parallel|distribut", re.IGNORECASE)
"""What a wrapper of loaders is called that may deliver their batches somewhere else."""
_KEPT = Evidence.of(Ground.KEPT)


def iterated(machine: Machine, node: cst.BaseExpression | None, value: Value) -> Value:
    """What is iterated: the value of an expression, or a loader where nothing is known of the value and the expression
    is called one, here or where a caller gives it, or an unknown function makes it of one."""
    wrapped = _wrapped(value)
    if wrapped is not None:
        return wrapped
    if node is None or not _may_be_loader(value):
        return value
    written = _as_given(machine.frame, node)
    name = _name_of_loader(written)
    ground = Ground.NAME if name else None
    declared = _ground_of_declaration(machine, node.value) if isinstance(node, cst.Name) else None
    if isinstance(node, cst.Name) and declared is not None:
        name, ground = node.value, declared
    if ground is None:
        handed = _handed_on(machine, node) if isinstance(node, cst.Call) else _bound_before(machine, node)
        return value if handed is None else handed
    call = machine.recorder.evident_loader(machine.frame, name, node, Evidence.of(ground, Ground.LOOP))
    return Loader(call, basis=call.basis)


def _as_given(frame: Frame, node: cst.BaseExpression) -> cst.BaseExpression:
    """An expression, or what the callers write for it where it is a parameter of the function at hand."""
    around: Frame | None = frame
    while around is not None and around.function is not None and around.site is not None:
        function, call = around.function, around.site.node
        if not isinstance(node, cst.Name) or not isinstance(call, cst.Call):
            break
        given = given_for(function, call, node.value)
        if given is None:
            break
        node, around = given, around.caller
    return node


def _wrapped(value: Value) -> Value | None:
    """The loader, or what yields its batches, that an object of a library was made of, as a progress bar is, or may
    have been; None where it is no such object, or its name says that it puts batches elsewhere."""
    if isinstance(value, Choice):
        wrapped = [_wrapped(one) for one in value.options]
        if all(one is None for one in wrapped):
            return None
        return join_all(old if new is None else new for old, new in zip(value.options, wrapped, strict=True))
    if not isinstance(value, Opaque) or "." not in value.name or not value.arguments:
        return None
    if value.name.startswith(_OTHER_RESULTS) or _FETCHES.search(value.name):
        return None
    return _yields_batches(value.arguments[0])


def _yields_batches(value: Value) -> Value | None:
    """What an unknown function yields that is given a loader, or what yields the batches of one; None for other
    values."""
    if isinstance(value, Loader) or (isinstance(value, Iterated) and loaders_of(value)):
        return evidently(value, _KEPT)
    return None


def _handed_on(machine: Machine, call: cst.Call) -> Value | None:
    """What a function that is not known yields of what it is given first: the batches of a loader, if that is one."""
    first = next((arg.value for arg in call.args if not arg.star), None)
    if not isinstance(first, (cst.Name, cst.Attribute)) or _FETCHES.search(machine.document.code(call.func)):
        return None
    return _yields_batches(iterated(machine, first, machine.evaluate(first)))


def _bound_before(machine: Machine, node: cst.BaseExpression) -> Value | None:
    """What yields batches and was bound to a name in the function at hand, whatever else may be: what an unknown
    function makes of a loader, or what it is given there (``bar = enumerate(loader)``, ``bar = Bar(bar)``)."""
    if not isinstance(node, cst.Name):
        return None
    function = machine.frame.function
    around = machine.document.tree if function is None else function.node.body
    found: list[Value] = []
    for call in bindings(around).get(node.value, ()):
        if isinstance(call, cst.Call) and _begins_with_loader(machine, call):
            made = machine.evaluate(call)
            held = _yields_batches(made) or _wrapped(made)
            if held is None and isinstance(made, Unknown):
                held = _handed_on(machine, call)
            found += [held] if held is not None else []
    return join_all(found) if found else None


def _begins_with_loader(machine: Machine, call: cst.Call) -> bool:
    """Whether a call, or the call that it is given alone, is given a loader, under whatever name, and nothing else by
    position: so that to evaluate it asks for no other name that is bound to calls."""
    node: cst.BaseExpression = call
    while isinstance(node, cst.Call):
        given = [arg for arg in node.args if arg.keyword is None]
        if len(given) != 1 or given[0].star:
            return False
        node = given[0].value
    if not isinstance(node, (cst.Name, cst.Attribute)):
        return False
    value = machine.evaluate(node)
    return _yields_batches(value) is not None or (_may_be_loader(value) and bool(_name_of_loader(node)))


def _may_be_loader(value: Value) -> bool:
    if isinstance(value, Choice):
        return all(_may_be_loader(one) for one in value.options)
    if isinstance(value, Opaque):
        function = value.name.rpartition(".")[2]
        # a class of a library that no table names may deliver anything anywhere
        return "." in value.name and function == function.lower() and not value.name.startswith(_OTHER_RESULTS)
    return isinstance(value, (Unknown, Method))


def _name_of_loader(node: cst.BaseExpression) -> str:
    """What an expression is called, if it is called a loader; or empty."""
    pattern = _NAMED_LOADER
    if isinstance(node, cst.Subscript):
        node, pattern = node.value, _NAMED_LOADERS
    elif isinstance(node, cst.Call):
        node = node.func
    while isinstance(node, cst.Subscript):
        node = node.value
    name = node.attr.value if isinstance(node, cst.Attribute) else node.value if isinstance(node, cst.Name) else ""
    found = [one for one in pattern.finditer(name.lower()) if one.end() == len(name.rstrip("_0123456789"))]
    return name if found else ""


def _ground_of_declaration(machine: Machine, name: str) -> Ground | None:
    """Where the function that is being interpreted says that its parameter is a loader; None where it does not."""
    function = machine.frame.function
    if function is None or isinstance(function.node, cst.Lambda):
        return None
    params = function.node.params
    for one in named_parameters(params):
        if one.name.value == name:
            declared, ground = declared_type(function, one)
            return ground if declared and _is_loader_class(machine, declared) else None
    return None


def _is_loader_class(machine: Machine, written: str) -> bool:
    """Whether a name, seen from here, is that of a class of loaders; a docstring may name torch's unimported."""
    first, *rest = written.split(".")
    meant = machine.lookup(first)
    for part in rest:
        meant = machine.attribute(meant, part)
    if isinstance(meant, Qualified):
        return meant.name in CONSTRUCTORS
    return isinstance(meant, Unknown) and written in ("DataLoader", TORCH_LOADER)
