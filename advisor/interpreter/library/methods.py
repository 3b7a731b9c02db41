"""Calls of methods on what a library made: tensors, modules, loaders, dicts, parsers."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.interpreter.arguments import Arguments
from accel_advisor.interpreter.assignment import of_module
from accel_advisor.interpreter.iteration import element_at, element_of, holds_modules
from accel_advisor.interpreter.library.device_moves import arrives_later, copies_into, transfer
from accel_advisor.interpreter.library.dicts import mapping_method
from accel_advisor.interpreter.library.external_settings import parser_method, switch
from accel_advisor.interpreter.library.module_calls import call_module
from accel_advisor.interpreter.library.opaque_methods import call_inherited_method, call_opaque_method
from accel_advisor.interpreter.library.unknown_code import call_unknown
from accel_advisor.interpreter.loader_batches import may_rewrite, mutates_in_place, part_named
from accel_advisor.interpreter.resolution import hold, is_part, take_in
from accel_advisor.records import actions
from accel_advisor.records.loaders import loader_of
from accel_advisor.records.operations import Argument
from accel_advisor.tables.tensor_methods import (
    CASTS,
    FILLS_IN_PLACE,
    GRAPHLESS,
    KEEPS_VALUES,
    MASKS,
    MOVES,
    OF_TENSORS,
    REDUCES,
    TAKES_SHAPE_OF,
    TELLTALE,
    TENSOR_METHODS,
)
from accel_advisor.tables.torch_modules import KEEPS, READS_MODULE, REGISTERS, TAKES_IN
from accel_advisor.values.composed_texts import formatted
from accel_advisor.values.evidence import Evidence, Ground
from accel_advisor.values.fillings import filled_by
from accel_advisor.values.places import SOMEWHERE, is_cuda_capable, is_host
from accel_advisor.values.store import ANY, ESCAPED
from accel_advisor.values.values import (
    UNKNOWN,
    Bound,
    Choice,
    Constant,
    Function,
    Instance,
    Iterated,
    Loader,
    Mapping,
    Method,
    Module,
    Opaque,
    Parser,
    Qualified,
    Sequence,
    Tensor,
    Unknown,
    Value,
    join_all,
    options_of,
)

if TYPE_CHECKING:
    from accel_advisor.interpreter.abstract_machine import Machine


CHANGES = frozenset({"append", "extend", "insert", "add", "update", "setdefault", "pop", "remove", "clear", "sort"})
"""Methods that change a list or a dict."""

TELLING = frozenset(
    {"backward", "step", "zero_grad", "item", "set_epoch", "update", "eval", "train", "empty_cache", "synchronize"}
    | {"wait", "query", "numpy", "tolist", "requires_grad_", "no_sync", "detach_", "cpu", "add_scalar"}
    | {"memory_allocated", "max_memory_allocated", "memory_reserved", "max_memory_reserved", "mem_get_info"}
)
"""Methods that are recorded even where the receiver is not known."""


def _kind_of(receiver: Value) -> str | None:
    """What a record calls the receiver of a method."""
    if isinstance(receiver, Opaque):
        return receiver.name
    kinds = {Tensor: "Tensor", Module: "Module", Loader: "DataLoader"}
    return kinds.get(type(receiver))


def _note_hook(machine: Machine, arguments: Arguments) -> None:
    for value in arguments.values():
        function = value.function if isinstance(value, Bound) else value
        if isinstance(function, Function):
            machine.recorder.called.hooks.setdefault(function, machine.frame.conditions)


def _write_each(machine: Machine, kind: str, receiver: Value, arguments: Arguments, node: cst.Call) -> None:
    """Scalars that are given to a writer of TensorBoard in one dict are written one by one."""
    written = arguments.get("tag_scalar_dict", 1)
    for value in machine.store.entries(written).values() if isinstance(written, Mapping) else ():
        given = Arguments(node, [Argument(Constant("")), Argument(value)])
        machine.recorder.operation(machine.frame, node, actions.Method(kind, "add_scalar"), receiver, given)


def call_method(machine: Machine, method: Method, arguments: Arguments, node: cst.Call) -> Value:
    """What a method of a library object returns."""
    receiver, name = part_named(method.receiver), method.name
    if isinstance(receiver, Choice):
        return join_all(call_method(machine, Method(one, name), arguments, node) for one in receiver.options)
    kind = _kind_of(receiver)
    if kind is not None or name in TELLING:
        machine.recorder.operation(machine.frame, node, actions.Method(kind or "?", name), receiver, arguments)
    if name in ("backward", "zero_grad"):
        machine.recorder.backward(machine.frame, forgets=name == "zero_grad")
    if name == "step":
        scheduled = isinstance(receiver, Opaque) and ".lr_scheduler." in receiver.name
        machine.recorder.update(machine.frame, scheduled=scheduled)
    if name == "add_scalars":
        _write_each(machine, kind or "?", receiver, arguments, node)
    if name.startswith("register_") and name.endswith("hook"):
        _note_hook(machine, arguments)
    if isinstance(receiver, Module):
        return _module_method(machine, receiver, name, arguments, node)
    if isinstance(receiver, Tensor):
        return _tensor_method(machine, receiver, name, arguments, node)
    if isinstance(receiver, (Sequence, Iterated, Mapping)) and name in CHANGES:
        _note_change(machine, node)
    if isinstance(receiver, Mapping):
        return mapping_method(machine, receiver, name, arguments)
    if isinstance(receiver, Method) and receiver.name == "_modules" and name in ("items", "values"):
        part = element_of(machine, receiver.receiver)
        return Iterated(Sequence((UNKNOWN, part)) if name == "items" else part)
    if isinstance(receiver, Method) and receiver.name == "__dict__" and name in ("items", "values"):
        element = element_at(machine, receiver, ...)
        return Iterated(Sequence((UNKNOWN, element)) if name == "items" else element)
    if isinstance(receiver, Parser):
        return parser_method(machine, receiver, name, arguments)
    if isinstance(receiver, Opaque):
        return call_opaque_method(machine, receiver, name, arguments, node)
    if isinstance(receiver, Loader) and name == "__iter__":
        return Iterated(element_of(machine, receiver))
    if isinstance(receiver, (Sequence, Iterated)):
        return _list_method(machine, receiver, name, arguments, node)
    if isinstance(receiver, Instance):
        return call_inherited_method(machine, receiver, name, arguments, node)
    if name in MOVES and name != "type":
        place = transfer(machine, receiver, name, arguments, node)
        if place is not None and arrives_later(place, name, arguments):
            return Tensor(place, proven=False, pending=node)
        return UNKNOWN
    if name == "format" and isinstance(receiver, Constant):
        for value in arguments.values():
            if isinstance(value, Tensor):
                machine.recorder.operation(machine.frame, node, actions.Act.FORMATS, value)
        first = arguments.positional[0].value if arguments.positional else UNKNOWN
        return formatted(receiver.value, first) if isinstance(receiver.value, str) else UNKNOWN
    if _is_unknown(receiver):
        machine.recorder.called.note_named(machine.frame, name, arguments)
    made = call_unknown(machine, arguments.values(), node)
    if name == "get" and (decided := switch(arguments)) is not None:
        return decided
    if name in TELLTALE and made == UNKNOWN:
        return Tensor(SOMEWHERE, proven=False, basis=Evidence.of(Ground.METHOD))
    return made


def _is_unknown(value: Value) -> bool:
    """Whether nothing is known of a value, or of what it is an attribute of."""
    while isinstance(value, Method):
        value = value.receiver
    return isinstance(value, Unknown)


def _note_change(machine: Machine, node: cst.Call) -> None:
    """A list or dict is changed: in a loop, that changes the object whose attribute it is."""
    held = node.func.value if isinstance(node.func, cst.Attribute) else None
    if isinstance(held, cst.Attribute) and machine.frame.loops:
        owner = machine.evaluate(held.value)
        if isinstance(owner, Instance) and "__init__" not in machine.frame.function_names:
            machine.recorder.changed.add(owner.cls)


# -- tensors


def _tensor_method(machine: Machine, receiver: Tensor, name: str, arguments: Arguments, node: cst.Call) -> Value:
    if name in OF_TENSORS:
        machine.recorder.inputs.used_as_tensor(receiver.place)
    in_place = name.endswith("_") or name in ("update", "pop") or (name in MOVES and machine.frame.discarding)
    if in_place and not receiver.proven:
        may_rewrite(receiver)
    if name == "type" and not node.args:
        return Opaque("Tensor.type", (receiver,))
    if name in MOVES:
        place = transfer(machine, receiver, name, arguments, node)
        if place is None:
            other = arguments.positional[0].value if arguments.positional else None
            if isinstance(other, Tensor):
                return Tensor(other.place, proven=receiver.proven, basis=other.basis)
            return _cast(receiver, other.name if isinstance(other, Qualified) else None)
        moved = any(kinds != frozenset({"cpu"}) for kinds in place)
        if name == "type" and not moved:
            return replace(_cast(receiver, None), proven=True)
        proven = receiver.proven or (name in ("cuda", "type") and receiver.basis.proven)
        pending = node if arrives_later(place, name, arguments) else None
        back = not moved and bool(receiver.place) and is_cuda_capable(receiver.place)  # in memory of its own
        return Tensor(
            place,
            None if back else receiver.loader,
            () if back else receiver.path,
            proven,
            receiver.scalar,
            grown=receiver.grown,
            pending=pending,
            mask=receiver.mask and name != "type",
            basis=receiver.basis,
        )
    if name == "detach_" and isinstance(node.func, cst.Attribute):
        detached = replace(receiver, grown=frozenset())
        if isinstance(node.func.value, cst.Name):
            machine.assign(node.func.value, detached)
        return detached
    if name.endswith("_") and not name.startswith("_"):
        if name == "copy_":
            copies_into(machine, receiver, arguments, node)
        mutates_in_place(receiver, machine.frame.batch_loop)
        taken = [one.value for one in arguments.positional]
        fills = filled_by(name, [receiver, *taken]) if name in FILLS_IN_PLACE else frozenset()
        return replace(receiver, fills=fills) if receiver.fills else receiver
    if name in ("view", "unsqueeze", "squeeze", "reshape", "transpose", "permute", "t", "contiguous"):
        return receiver
    if name == "detach":
        return replace(receiver, grown=frozenset())
    if name == "type_as":
        other = arguments.positional[0].value if arguments.positional else None
        if not isinstance(other, Tensor):
            return Tensor(SOMEWHERE, proven=receiver.proven)
        return Tensor(other.place, proven=receiver.proven, basis=other.basis)
    if name in CASTS:
        return _cast(receiver, CASTS[name])
    if name in REDUCES and not arguments.positional and not arguments.keywords:
        grown = receiver.grown if machine.frame.graphs and name not in GRAPHLESS else frozenset()
        return Tensor(receiver.place, proven=receiver.proven, scalar=True, grown=grown, basis=receiver.basis)
    if name == "numpy":
        loader = loader_of(receiver)
        if loader is not None and is_host(receiver.place):
            loader.viewed = True
        return Opaque("Tensor.numpy", (receiver,))
    if name in ("size", "dim", "numel", "item", "tolist", "get_device", "nelement"):
        return UNKNOWN
    if name in ("items", "keys", "values"):
        element = Tensor(receiver.place, receiver.loader, (*receiver.path, ...), False, basis=receiver.basis)
        return Iterated(Sequence((UNKNOWN, element)) if name == "items" else element)
    if name in ("get", "pop"):
        return element_at(machine, receiver, ...)
    if name == "copy":
        return receiver
    if name in TENSOR_METHODS:
        place = receiver.place
        for value in arguments.values():
            if isinstance(value, Tensor) and not value.scalar:
                place = place | value.place
        grown = receiver.grown if machine.frame.graphs and name not in GRAPHLESS else frozenset()
        place = receiver.place if name in TAKES_SHAPE_OF else place
        fills = filled_by(name, [receiver, *(one.value for one in arguments.positional)])
        proven, mask = receiver.proven, name in MASKS or (receiver.mask and name in KEEPS_VALUES)
        return Tensor(place, proven=proven, grown=grown, mask=mask, fills=fills, basis=receiver.basis)
    if name == "backward":
        return Constant(None)
    return UNKNOWN


def _cast(tensor: Tensor, dtype: str | None) -> Tensor:
    """A tensor in another dtype, where it was; None: a dtype that is not known."""
    born = replace(tensor.born, dtype=dtype) if tensor.born is not None and dtype else None
    recast = tensor.recast or (tensor.loader is not None and is_host(tensor.place))
    return replace(tensor, born=born, pending=None, mask=dtype == CASTS["bool"], recast=recast)


# -- modules


def _module_method(machine: Machine, receiver: Module, name: str, arguments: Arguments, node: cst.Call) -> Value:
    if name in ("to", "cuda", "cpu", "xpu"):
        place = transfer(machine, receiver, name, arguments, node)
        if place is not None:
            machine.move(receiver, place)
        return receiver
    if name == "to_empty":
        machine.move(receiver, SOMEWHERE)
        return receiver
    if name in KEEPS:
        if name in ("train", "eval"):
            mode = arguments.get("mode", 0) if name == "train" else Constant(False)
            stays = isinstance(mode, Constant) and mode.value is False
            machine.store.set(receiver, "\0evaluating", Constant(stays))
        return receiver
    if name in TAKES_IN and holds_modules(receiver):
        take_in(machine, receiver, arguments.values())
        return receiver
    if name in ("values", "items") and holds_modules(receiver):
        part = element_of(machine, receiver)
        return Iterated(Sequence((UNKNOWN, part)) if name == "items" else part)
    if name in ("add_module", "register_module") and is_part(arguments.get("module", 1)):
        hold(machine, receiver, arguments.get("name", 0), arguments.get("module", 1) or UNKNOWN)
        return Constant(None)
    if name in REGISTERS:
        _register(machine, receiver, arguments)
        return Constant(None)
    if name in READS_MODULE:
        for value in arguments.values():
            if isinstance(value, Module):
                return UNKNOWN
        return Opaque(f"module.{name}", (receiver,))
    if name in ("backward", "step"):
        # DeepSpeed engines and the like train through the module
        machine.recorder.backward(machine.frame)
        return UNKNOWN
    if name == "forward" and not receiver.evident:
        return call_module(machine, receiver, arguments, node)
    if receiver.evident:
        machine.recorder.called.note_named(machine.frame, name, arguments)
    machine.store.set(receiver, ESCAPED, Constant(True))
    return call_unknown(machine, arguments.values())


def _register(machine: Machine, module: Module, arguments: Arguments) -> None:
    """A module has a buffer or parameter from now on, which lives where it does."""
    name, value = arguments.get("name", 0), arguments.get("tensor", 1) or arguments.get("param")
    if isinstance(name, Constant) and value is not None:
        machine.store.set(module, name.value, of_module(machine, module, value))


# -- lists


def _list_method(
    machine: Machine, receiver: Sequence | Iterated, name: str, arguments: Arguments, node: cst.Call
) -> Value:
    if name in ("__next__", "next"):
        machine.recorder.take_one(machine.frame, element_of(machine, receiver))
        return element_of(machine, receiver)
    if name in ("set_description", "set_postfix", "update", "close", "write"):
        return UNKNOWN
    holder = node.func.value if isinstance(node.func, cst.Attribute) else None
    if name in TAKES_IN and holder is not None and arguments.positional:
        last = arguments.positional[-1].value
        added = element_of(machine, last) if name == "extend" else last
        if any(isinstance(one, (Module, Loader)) for one in options_of(added)) and _is_own(machine, holder):
            items = receiver.items if isinstance(receiver, Sequence) else (receiver.element,)
            machine.assign(holder, Iterated(join_all((*items, added))))
    if name == "clear" or (name == "append" and _outlives_the_pass(machine, node)):
        machine.recorder.operation(machine.frame, node, actions.Method("list", name), receiver, arguments)
    return call_unknown(machine, arguments.values())


def _is_own(machine: Machine, holder: cst.BaseExpression) -> bool:
    """Whether a list is a module's attribute, or bound to a name of this function."""
    if isinstance(holder, cst.Attribute):
        return isinstance(machine.evaluate(holder.value), Module)
    return isinstance(holder, cst.Name) and machine.store.get(machine.scope, holder.value) is not None


def _outlives_the_pass(machine: Machine, node: cst.Call) -> bool:
    """Whether the list that a method is called on was bound before the innermost loop of this function began."""
    held = node.func.value if isinstance(node.func, cst.Attribute) else None
    if not machine.frame.loop_exits:
        return False
    written = machine.store.since(machine.frame.loop_exits[-1][0])
    if isinstance(held, cst.Name):
        return held.value not in written.get(machine.scope, {})
    if isinstance(held, cst.Attribute):
        owner = machine.evaluate(held.value)
        return isinstance(owner, Instance) and held.attr.value not in written.get(owner, {})
    if isinstance(held, cst.Subscript) and len(held.slice) == 1 and isinstance(held.slice[0].slice, cst.Index):
        owner, key = machine.evaluate(held.value), machine.evaluate(held.slice[0].slice.value)
        if not isinstance(owner, Mapping) or not isinstance(key, Constant):
            return False
        return not written.get(owner, {}).keys() & {key.value, ANY}
    return False
