"""Methods of objects that libraries made: engines, loaders that a framework prepares, what a class inherits."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.interpreter.arguments import Arguments
from accel_advisor.interpreter.library.device_moves import transfer
from accel_advisor.interpreter.library.external_settings import switch
from accel_advisor.interpreter.library.loader_construction import take_loaders
from accel_advisor.interpreter.library.loader_subclasses import build_base
from accel_advisor.interpreter.library.settings_classes import is_record
from accel_advisor.interpreter.library.unknown_code import call_unknown
from accel_advisor.interpreter.resolution import has_own_gradient
from accel_advisor.tables.frameworks import PREPARES, TAKERS
from accel_advisor.tables.known_datasets import STEADY_BASES
from accel_advisor.tables.tensor_methods import MOVES
from accel_advisor.values.places import SOMEWHERE
from accel_advisor.values.store import ESCAPED
from accel_advisor.values.values import (
    UNKNOWN,
    Choice,
    Constant,
    Instance,
    Loader,
    Module,
    Opaque,
    Sequence,
    Value,
    join_all,
    options_of,
)

if TYPE_CHECKING:
    from accel_advisor.interpreter.abstract_machine import Machine


def call_opaque_method(machine: Machine, receiver: Opaque, name: str, arguments: Arguments, node: cst.Call) -> Value:
    """What a method of an object returns that a library made."""
    if receiver.name.startswith("torch.optim.") and ".lr_scheduler." not in receiver.name:
        if name in ("step", "zero_grad"):
            machine.recorder.backward(machine.frame, forgets=name == "zero_grad")
        return UNKNOWN
    if receiver.name.endswith(".GradScaler"):
        if name == "scale" and arguments.positional:
            return arguments.positional[0].value
        if name == "step":
            machine.recorder.backward(machine.frame)
            _step_own_optimizers(machine, arguments, node)
        return UNKNOWN
    if receiver.name in ("accelerate.Accelerator", "lightning.Fabric"):
        if name in PREPARES:
            if "device_placement" in arguments.keywords:
                return call_unknown(machine, arguments.values())  # for each of them by itself
            prepared = [_prepared(machine, one.value, receiver.name) for one in arguments.positional]
            return prepared[0] if len(prepared) == 1 else Sequence(tuple(prepared))
        if name == "backward":
            machine.recorder.backward(machine.frame)
        return UNKNOWN
    if receiver.name.startswith("torch.optim.lr_scheduler."):
        return UNKNOWN
    if receiver.name == "super":
        if name == "__init__":
            build_base(machine, arguments, node)
        return call_unknown(machine, arguments.values())
    taker = TAKERS.get(f"{receiver.name}.{name}")
    if taker is not None and (taker != "ignite" or _has_device(receiver)):
        take_loaders(taker, arguments.values())
        return call_unknown(machine, arguments.values())
    if receiver.name == "typer.Typer" and name in ("command", "callback"):
        return Opaque("typer.command")
    if receiver.name in ("open", "pathlib.Path") and name in ("open", "read", "read_text", "read_bytes"):
        return Opaque("open", receiver.arguments)
    if name in MOVES and name != "type":
        transfer(machine, receiver, name, arguments, node)
        return UNKNOWN
    computed = call_unknown(machine, arguments.values())
    return (switch(arguments) or computed) if name == "get" else computed


def _step_own_optimizers(machine: Machine, arguments: Arguments, node: cst.Call) -> None:
    """The optimizers of the project that a scaler is given make a step."""
    for value in arguments.values()[:1]:
        for one in options_of(value):
            if isinstance(one, Instance):
                machine.call_value(machine.attribute(one, "step"), Arguments(node), node)


def _has_device(engine: Opaque) -> bool:
    """Whether an engine of ignite was given the device that it moves batches to."""
    device = dict(engine.keywords).get("device", engine.arguments[3] if len(engine.arguments) > 3 else Constant(None))
    return device != Constant(None) and not (isinstance(device, Constant) and device.value in (None, "cpu"))


def _prepared(machine: Machine, value: Value, framework: str) -> Value:
    if isinstance(value, Loader):
        take_loaders(framework.split(".", maxsplit=1)[0], [value])
        return replace(value, delivers=SOMEWHERE)
    if isinstance(value, Module):
        machine.move(value, SOMEWHERE)
        machine.store.set(value, ESCAPED, Constant(True))
    if isinstance(value, Choice):
        return join_all(_prepared(machine, one, framework) for one in value.options)
    return value


def call_inherited_method(
    machine: Machine, receiver: Instance, name: str, arguments: Arguments, node: cst.Call
) -> Value:
    """What a method returns that a class of the project has from a library."""
    if has_own_gradient(receiver.cls):
        if name == "save_for_backward":
            machine.store.set(receiver, "saved_tensors", Sequence(tuple(arguments.values())))
        return UNKNOWN
    if name in MOVES:
        transfer(machine, receiver, name, arguments, node)
        return receiver
    if name == "parse_args" and is_record(receiver.cls):
        return receiver
    if machine.frame.loops:
        if name.startswith("set_") or not receiver.cls.library_bases() <= STEADY_BASES:
            machine.recorder.changed.add(receiver.cls)
        # perhaps: a library's trainer looks after that by itself
        machine.recorder.autograd_stopped(machine.frame.loops)
    return call_unknown(machine, arguments.values())
