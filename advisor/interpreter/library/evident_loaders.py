"""Loaders that nothing in sight builds: their names, their annotations and the loops over them show what they are."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.interpreter.parameters import declared_type, given_for
from accel_advisor.tables.loader_libraries import CONSTRUCTORS, TORCH_LOADER
from accel_advisor.values.evidence import Evidence, Ground
from accel_advisor.values.values import Choice, Loader, Method, Opaque, Qualified, Unknown, Value

if TYPE_CHECKING:
    from accel_advisor.interpreter.abstract_machine import Machine
    from accel_advisor.interpreter.frames import Frame

_NAMED_LOADER = re.compile(r"(?<!down)(?<!up)(?<!re)loader|(^|_)dl")
_NAMED_LOADERS = re.compile(f"({_NAMED_LOADER.pattern})s?")

_OTHER_RESULTS = ("torch", "functools.", "module.")


def iterated(machine: Machine, node: cst.BaseExpression | None, value: Value) -> Value:
    """What is iterated: the value of an expression, or a loader where nothing is known of the value and the expression
    is called one, here or where a caller gives it, or an unknown function makes it of one."""
    if node is None or not _may_be_loader(value):
        return value
    written = _as_given(machine.frame, node)
    name = _name_of_loader(written)
    ground = Ground.NAME if name else None
    declared = _ground_of_declaration(machine, node.value) if isinstance(node, cst.Name) else None
    if isinstance(node, cst.Name) and declared is not None:
        name, ground = node.value, declared
    if ground is None:
        return _handed_on(machine, node, value) if isinstance(node, cst.Call) else value
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


def _handed_on(machine: Machine, call: cst.Call, value: Value) -> Value:
    """What a function that is not known yields of what it is given first: the batches of a loader, if that is one."""
    first = next((arg.value for arg in call.args if not arg.star), None)
    if not isinstance(first, (cst.Name, cst.Attribute)):
        return value
    held = iterated(machine, first, machine.evaluate(first))
    return (
        Loader(held.call, held.delivers, held.basis | Evidence.of(Ground.KEPT)) if isinstance(held, Loader) else value
    )


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
    for one in (*params.posonly_params, *params.params, *params.kwonly_params):
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
