"""Calls that move something between devices: where to, and what is known of what is moved."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.interpreter.arguments import Arguments
from accel_advisor.records.facts import TransferContext
from accel_advisor.records.loaders import loader_of
from accel_advisor.values.devices import device_basis, device_kinds
from accel_advisor.values.evidence import PROVEN, Evidence
from accel_advisor.values.places import HOST, SOMEWHERE, Place, union_of
from accel_advisor.values.values import (
    ABSENT,
    UNKNOWN,
    Choice,
    Constant,
    Device,
    Module,
    Opaque,
    Qualified,
    Tensor,
    Value,
)

if TYPE_CHECKING:
    from accel_advisor.interpreter.abstract_machine import Machine


def transfer(machine: Machine, receiver: Value, name: str, arguments: Arguments, node: cst.Call) -> Place | None:
    """Records a call that moves something, and returns where it goes; None where it moves nothing."""
    device_node: cst.BaseExpression | None = None
    if name in ("cuda", "xpu", "npu"):
        target: Value = Device(frozenset({name}))
        given = arguments.get("device", 0)
        destination = frozenset({"cuda"}) if name == "cuda" else device_kinds(target)
        if given is not None and name == "cuda" and arguments.positional:
            device_node = arguments.positional[0].node.value if arguments.positional[0].node else None
    elif name == "cpu":
        target = Device(frozenset({"cpu"}))
        destination = frozenset({"cpu"})
    else:
        found = _target(arguments, name)
        if found is None:
            return None
        target, device_node = found
        destination = type_kinds(target) if name == "type" else device_kinds(target)
    non_blocking = _non_blocking(arguments, name)
    if name == "cuda" or "cuda" in destination or _is_on(non_blocking):
        machine.recorder.gpu_named(machine.document)
    source = receiver.place if isinstance(receiver, Tensor) else SOMEWHERE
    proven = False
    path: tuple[object, ...] = ()
    if isinstance(receiver, Tensor):
        proven, path = receiver.proven, receiver.path
    elif isinstance(receiver, Module):
        source = machine.place_of(receiver)
    casts = name == "type" or "dtype" in arguments.keywords
    casts |= any(_is_dtype(one.value) for one in arguments.positional)
    context = TransferContext(
        source=source,
        destination=frozenset({destination}),
        loader=loader_of(receiver) if isinstance(receiver, Tensor) else None,
        path=path,
        proven=proven,
        loop=machine.frame.batch_loop,
        receiver=receiver,
        target=target,
        casts=casts,
        functions=machine.frame.function_names,
        guarded=machine.frame.guarded,
        seldom=machine.frame.seldom,
        basis=_basis(receiver, target) | machine.frame.run.basis,
    )
    machine.recorder.transfer(machine.frame, node, name, device_node, non_blocking, context, arguments.open)
    machine.frame.run.clock.wait()
    return frozenset({destination})


def copies_into(machine: Machine, buffer: Tensor, arguments: Arguments, node: cst.Call) -> None:
    """Records that ``buffer.copy_(batch)`` moves a batch to where the buffer lives, if that may be a GPU."""
    source = arguments.get("src", 0)
    if not isinstance(source, Tensor) or source.loader is None or "cuda" not in union_of(buffer.place):
        return
    context = TransferContext(
        source=source.place,
        destination=buffer.place,
        loader=source.loader,
        path=source.path,
        proven=True,  # nothing else can be copied into a tensor
        loop=machine.frame.batch_loop,
        receiver=source,
        target=ABSENT,
        casts=False,
        functions=machine.frame.function_names,
        guarded=machine.frame.guarded,
        seldom=machine.frame.seldom,
        basis=source.basis | buffer.basis | machine.frame.run.basis,
    )
    given = arguments.get("non_blocking", 1)
    machine.recorder.transfer(machine.frame, node, "copy_", None, given, context, arguments.open)
    machine.frame.run.clock.wait()


def move_all(machine: Machine, name: str, arguments: Arguments, node: cst.Call) -> Value:
    """What a library's function returns that moves all tensors of its first argument."""
    moved = arguments.positional[0].value if arguments.positional else UNKNOWN
    given = Arguments(node, arguments.positional[1:], arguments.keywords, arguments.open)
    place = transfer(machine, moved, name.rpartition(".")[2], given, node)
    return replace(moved, place=place) if isinstance(moved, Tensor) and place is not None else UNKNOWN


def _basis(receiver: Value, target: Value) -> Evidence:
    return (receiver.basis if isinstance(receiver, Tensor) else PROVEN) | device_basis(target)


def arrives_later(place: Place, name: str, arguments: Arguments) -> bool:
    """Whether a move is an asynchronous copy to the host: its result must not be read before it is done."""
    return _is_on(_non_blocking(arguments, name)) and name == "to" and place == HOST


def _is_on(given: Value | None) -> bool:
    return isinstance(given, Constant) and given.value is True


def _non_blocking(arguments: Arguments, name: str) -> Value | None:
    given = arguments.get("non_blocking", 1 if name in ("cuda", "type") else None)
    if given is not None or name != "to":
        return given
    # ``to`` takes a device, a dtype or both before it
    extra = (one.value for one in arguments.positional[1:])
    return next((one for one in extra if isinstance(one, Constant) and isinstance(one.value, bool)), None)


def _is_dtype(value: Value) -> bool:
    return isinstance(value, Qualified) and value.name.startswith("torch.") and value.name.count(".") == 1


def type_kinds(value: Value) -> frozenset[str]:
    """Where ``tensor.type(value)`` puts a tensor: ``torch.cuda.FloatTensor`` is on the GPU, ``torch.float`` nowhere
    else than before."""
    if isinstance(value, Choice):
        return frozenset().union(*(type_kinds(one) for one in value.options))
    if isinstance(value, Opaque) and value.name == "Tensor.type":
        return frozenset().union(*(union_of(one.place) for one in value.arguments if isinstance(one, Tensor)))
    if isinstance(value, Qualified):
        return frozenset({"cuda" if value.name.startswith("torch.cuda.") else "cpu"})
    if isinstance(value, Constant) and isinstance(value.value, str):
        return frozenset({"cuda" if value.value.startswith("torch.cuda.") else "cpu"})
    return frozenset({"unknown"})


def _target(arguments: Arguments, name: str) -> tuple[Value, cst.BaseExpression | None] | None:
    """The device expression of ``.to(...)`` or ``.type(...)``; None where it only casts."""
    argument = arguments.keywords.get("device")
    if argument is None and arguments.positional:
        argument = arguments.positional[0]
    if argument is None:
        if arguments.open:
            return UNKNOWN, None
        return None
    value = argument.value
    if name == "type":
        if isinstance(value, Qualified) and value.name.count(".") == 1 and not value.name.endswith("Tensor"):
            return None
    elif _is_dtype(value) or isinstance(value, Tensor):
        return None
    if isinstance(value, Constant) and value.value is None:
        return None
    return value, argument.node.value if argument.node is not None else None
