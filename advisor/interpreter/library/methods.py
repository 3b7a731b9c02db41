"""Calls of methods on what a library made: tensors, modules, loaders, dicts, parsers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.interpreter.iteration import element_at, element_of, may_rewrite
from accel_advisor.interpreter.library.device_moves import arrives_later, transfer
from accel_advisor.interpreter.library.dicts import mapping_method
from accel_advisor.interpreter.library.external_settings import parser_method
from accel_advisor.interpreter.library.opaque_methods import call_inherited_method, call_opaque_method, give_away
from accel_advisor.records import actions
from accel_advisor.records.facts import ArgumentPlace, ModuleCallContext
from accel_advisor.records.inputs import becomes
from accel_advisor.records.loaders import loader_of
from accel_advisor.tables.tensor_methods import CASTS, GRAPHLESS, MASKS, MOVES, SHAPES, TENSOR_METHODS
from accel_advisor.tables.torch_modules import KEEPS, READS_MODULE, STATELESS, WRAPPERS_THAT_MOVE_INPUTS
from accel_advisor.values.places import HOST, SOMEWHERE, Place, is_host
from accel_advisor.values.store import ANY, ESCAPED, TAKES_AS_GIVEN
from accel_advisor.values.values import (
    UNKNOWN,
    Birth,
    Choice,
    Constant,
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
    Value,
    join_all,
    options_of,
)

if TYPE_CHECKING:
    from accel_advisor.interpreter.arguments import Arguments
    from accel_advisor.interpreter.interpreter import Interpreter
    from accel_advisor.records.operations import Argument


CHANGES = frozenset({"append", "extend", "insert", "add", "update", "setdefault", "pop", "remove", "clear", "sort"})
"""Methods that change a list or a dict."""

TELLING = frozenset(
    {"backward", "step", "zero_grad", "item", "set_epoch", "update", "eval", "train", "empty_cache", "synchronize"}
    | {"wait", "query", "numpy", "tolist", "requires_grad_", "no_sync", "detach_"}
)
"""Methods that are recorded even where the receiver is not known."""


def _kind_of(receiver: Value) -> str | None:
    """What a record calls the receiver of a method."""
    if isinstance(receiver, Opaque):
        return receiver.name
    kinds = {Tensor: "Tensor", Module: "Module", Loader: "DataLoader"}
    return kinds.get(type(receiver))


def call_method(machine: Interpreter, method: Method, arguments: Arguments, node: cst.Call) -> Value:
    """What a method of a library object returns."""
    receiver, name = method.receiver, method.name
    if isinstance(receiver, Choice):
        return join_all(call_method(machine, Method(one, name), arguments, node) for one in receiver.options)
    kind = _kind_of(receiver)
    if kind is not None or name in TELLING:
        machine.recorder.operation(machine, node, actions.Method(kind or "?", name), receiver, arguments)
    if name == "backward":
        machine.recorder.backward(machine.frame.loops)
    if isinstance(receiver, Module):
        return _module_method(machine, receiver, name, arguments, node)
    if isinstance(receiver, Tensor):
        return _tensor_method(machine, receiver, name, arguments, node)
    if isinstance(receiver, (Sequence, Iterated, Mapping)) and name in CHANGES:
        _note_change(machine, node)
    if isinstance(receiver, Mapping):
        return mapping_method(machine, receiver, name, arguments)
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
                machine.recorder.operation(machine, node, actions.Act.FORMATS, value)
        return UNKNOWN
    return give_away(machine, arguments, node)


def _note_change(machine: Interpreter, node: cst.Call) -> None:
    """A list or dict is changed: in a loop, that changes the object whose attribute it is."""
    held = node.func.value if isinstance(node.func, cst.Attribute) else None
    if isinstance(held, cst.Attribute) and machine.frame.loops:
        owner = machine.evaluate(held.value)
        if isinstance(owner, Instance) and "__init__" not in machine.frame.function_names:
            machine.recorder.changed.add(owner.cls)


# -- tensors


def _tensor_method(machine: Interpreter, receiver: Tensor, name: str, arguments: Arguments, node: cst.Call) -> Value:
    if name in SHAPES:
        machine.recorder.inputs.used_as_tensor(receiver.place)
    in_place = name.endswith("_") or name in ("update", "pop") or (name in MOVES and machine.frame.discarding)
    if in_place and not receiver.proven:
        may_rewrite(receiver)
    if name in MOVES:
        place = transfer(machine, receiver, name, arguments, node)
        if place is None:
            other = arguments.positional[0].value if arguments.positional else None
            if isinstance(other, Tensor):
                return Tensor(other.place, proven=receiver.proven)
            dtype = other.name if isinstance(other, Qualified) else None
            return replace(receiver, born=_recast(receiver.born, dtype) if dtype else None, pending=None, mask=False)
        moved = any(kinds != frozenset({"cpu"}) for kinds in place)
        if name == "type" and not moved:
            return Tensor(receiver.place, proven=True)
        proven = receiver.proven or name in ("cuda", "type")
        pending = node if arrives_later(place, name, arguments) else None
        return Tensor(
            place,
            receiver.loader,
            receiver.path,
            proven,
            receiver.scalar,
            grown=receiver.grown,
            pending=pending,
            mask=receiver.mask and name != "type",
        )
    if name == "detach_" and isinstance(node.func, cst.Attribute):
        from accel_advisor.interpreter.assignment import assign

        detached = replace(receiver, grown=frozenset())
        if isinstance(node.func.value, cst.Name):
            assign(machine, node.func.value, detached)
        return detached
    if name.endswith("_") and not name.startswith("_"):
        mutates_in_place(machine, receiver)
        return receiver
    if name in ("view", "unsqueeze", "squeeze", "reshape", "transpose", "permute", "t", "contiguous"):
        return receiver
    if name == "detach":
        return replace(receiver, grown=frozenset())
    if name == "type_as":
        other = arguments.positional[0].value if arguments.positional else None
        return Tensor(other.place if isinstance(other, Tensor) else SOMEWHERE, proven=receiver.proven)
    if name in CASTS:
        return replace(receiver, born=_recast(receiver.born, CASTS[name]), pending=None, mask=name == "bool")
    if name in ("mean", "sum", "max", "min", "norm") and not arguments.positional and not arguments.keywords:
        grown = receiver.grown if machine.frame.graphs else frozenset()
        return Tensor(receiver.place, proven=receiver.proven, scalar=True, grown=grown)
    if name == "numpy":
        loader = loader_of(receiver)
        if loader is not None and is_host(receiver.place):
            loader.viewed = True
        return Opaque("Tensor.numpy", (receiver,))
    if name in ("size", "dim", "numel", "item", "tolist", "get_device", "nelement"):
        return UNKNOWN
    if name in ("items", "keys", "values"):
        element = Tensor(receiver.place, receiver.loader, (*receiver.path, ...), False)
        return Iterated(Sequence((UNKNOWN, element)) if name == "items" else element)
    if name in ("get", "pop"):
        return element_at(machine, receiver, ...)
    if name in TENSOR_METHODS:
        place = receiver.place
        for value in arguments.values():
            if isinstance(value, Tensor) and not value.scalar:
                place = place | value.place
        grown = receiver.grown if machine.frame.graphs and name not in GRAPHLESS else frozenset()
        return Tensor(place, proven=receiver.proven, grown=grown, mask=name in MASKS)
    if name == "backward":
        return Constant(None)
    return UNKNOWN


def _recast(born: Birth | None, dtype: str) -> Birth | None:
    return replace(born, dtype=dtype) if born is not None else None


def mutates_in_place(machine: Interpreter, tensor: Tensor) -> None:
    """Notes that a batch is changed while it is on the host: an asynchronous copy of it may still be reading."""
    loader = loader_of(tensor)
    if loader is not None and not all("cuda" in kinds for kinds in tensor.place):
        loader.mutated = True


# -- modules


def _module_method(machine: Interpreter, receiver: Module, name: str, arguments: Arguments, node: cst.Call) -> Value:
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
    if name in READS_MODULE:
        for value in arguments.values():
            if isinstance(value, Module):
                return UNKNOWN
        return Opaque(f"module.{name}", (receiver,))
    if name in ("backward", "step"):
        # DeepSpeed engines and the like train through the module
        machine.recorder.backward(machine.frame.loops)
        return UNKNOWN
    machine.store.set(receiver, ESCAPED, Constant(True))
    return give_away(machine, arguments, node)


def call_module(machine: Interpreter, callee: Value, arguments: Arguments, node: cst.Call) -> Value:
    """A module's forward: its result lives where the module lives."""
    modules = [one for one in options_of(callee) if isinstance(one, Module)]
    place: Place = frozenset()
    for module in modules:
        place |= machine.place_of(module)
    module = modules[0]
    wrapper = next((one.kind for one in modules if one.kind in WRAPPERS_THAT_MOVE_INPUTS), None)
    moves = [one for one in modules if one.kind in WRAPPERS_THAT_MOVE_INPUTS]
    moves = [one for one in moves if machine.store.get(one, TAKES_AS_GIVEN) is None]
    escaped = any(machine.store.get(one, ESCAPED) is not None for one in modules)
    touches = any(machine.recorder.touches_devices(one.cls) for one in modules if one.cls is not None)
    given = tuple(_given(machine, modules, arguments))
    for one in modules:
        machine.recorder.inputs.follow(machine, one, given)
        machine.recorder.called |= set(one.cls.lineage()) if one.cls is not None else set()
    machine.frame.run.clock.work(place, machine.frame.loops)
    for value in arguments.values():
        if isinstance(value, Tensor) and value.loader is not None:
            machine.recorder.model_called(machine)
    context = ModuleCallContext(
        module=module,
        place=place,
        escaped=escaped or len(modules) > 1,
        wrapper=wrapper,
        moves_inputs=bool(moves),
        arguments=given,
        loop=machine.frame.batch_loop,
        evaluating=all(machine.store.get(one, "\0evaluating") == Constant(True) for one in modules),
        around=machine.frame.around,
        inner=machine.frame.loop,
    )
    loss = module.kind.startswith("torch.nn.") and module.kind.endswith("Loss")
    machine.recorder.module_call(machine, node, loss, context)
    if loss:
        first = arguments.positional[0].value if arguments.positional else UNKNOWN
        place = first.place if isinstance(first, Tensor) else SOMEWHERE
        return Tensor(place, scalar=True, grown=machine.grown(node))
    if module.kind in STATELESS and arguments.positional and isinstance(arguments.positional[0].value, Tensor):
        return Tensor(arguments.positional[0].value.place, proven=False, grown=machine.grown(node))
    known = not (escaped or touches) or wrapper is not None
    if place == HOST and any(isinstance(one, Tensor) and one.place != HOST for one in arguments.values()):
        known = False  # without weights it computes where its arguments are
    return Tensor(place if known else SOMEWHERE, proven=False, grown=machine.grown(node))


def _given(machine: Interpreter, modules: list[Module], arguments: Arguments) -> Iterator[ArgumentPlace]:
    everything: list[tuple[int | None, str | None, Argument]] = []
    everything += [(position, None, one) for position, one in enumerate(arguments.positional)]
    everything += [(None, keyword, one) for keyword, one in arguments.keywords.items()]
    for position, keyword, one in everything:
        if one.node is not None:
            meant = becomes(machine, modules[0], position or 0, keyword) if len(modules) == 1 else ""
            yield ArgumentPlace(one.node.value, one.value, position, keyword, meant)


# -- lists


def _list_method(
    machine: Interpreter, receiver: Sequence | Iterated, name: str, arguments: Arguments, node: cst.Call
) -> Value:
    if name == "__next__":
        machine.recorder.take_one(element_of(machine, receiver), machine)
        return element_of(machine, receiver)
    if name in ("set_description", "set_postfix", "update", "close", "write"):
        return UNKNOWN
    holder = node.func.value if isinstance(node.func, cst.Attribute) else None
    if name == "append" and isinstance(holder, cst.Attribute) and arguments.positional:
        added, owner = arguments.positional[0].value, machine.evaluate(holder.value)
        if isinstance(owner, Module) and isinstance(added, Module):
            _set_attribute(machine, holder, receiver, added)
    if name == "clear" or (name == "append" and _outlives_the_pass(machine, node)):
        machine.recorder.operation(machine, node, actions.Method("list", name), receiver, arguments)
    return give_away(machine, arguments, node)


def _set_attribute(machine: Interpreter, holder: cst.Attribute, held: Sequence | Iterated, added: Module) -> None:
    """A module's attribute, a list of modules, has one more of them from now on."""
    from accel_advisor.interpreter.assignment import assign

    items = held.items if isinstance(held, Sequence) else (held.element,)
    assign(machine, holder, Iterated(join_all((*items, added))))


def _outlives_the_pass(machine: Interpreter, node: cst.Call) -> bool:
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
