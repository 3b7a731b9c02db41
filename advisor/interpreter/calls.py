"""Calls: what the callee is, and what becomes of it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.interpreter.arguments import Arguments
from accel_advisor.interpreter.library.external_settings import switch
from accel_advisor.interpreter.library.functions import call_library
from accel_advisor.interpreter.library.loader_subclasses import (
    build_subclass,
    is_loader_class,
    object_of,
    passes_arguments_on,
)
from accel_advisor.interpreter.library.methods import call_method
from accel_advisor.interpreter.library.module_calls import call_module, enter
from accel_advisor.interpreter.library.settings_classes import fill_record, is_record
from accel_advisor.interpreter.library.unknown_code import call_unknown, escape
from accel_advisor.interpreter.parameters import (
    bind_parameters,
    evaluate_arguments,
    returns_what_it_returns,
    takes,
    takes_what_it_is_given,
)
from accel_advisor.interpreter.resolution import (
    builds_modules,
    class_member,
    has_own_gradient,
    inherited_member,
    member_of,
    parts_of,
    take_in,
    unfollowed_part,
    wraps,
)
from accel_advisor.records.actions import Call
from accel_advisor.records.facts import CallSite
from accel_advisor.records.loaders import loader_of
from accel_advisor.records.operations import Argument
from accel_advisor.syntax.model_names import calls_of_backward, is_named_as_loss, may_be_model
from accel_advisor.tables.canonical_names import canonical
from accel_advisor.tables.known_datasets import DATASET_WRAPPERS
from accel_advisor.tables.loader_libraries import CONSTRUCTORS
from accel_advisor.tables.torch_modules import OUTPUTS
from accel_advisor.values.evidence import Evidence, Ground
from accel_advisor.values.places import SOMEWHERE, is_host, union_of
from accel_advisor.values.store import ESCAPED
from accel_advisor.values.values import (
    UNKNOWN,
    Bound,
    Choice,
    Class,
    Configured,
    Constant,
    Device,
    Filed,
    Function,
    Instance,
    Iterated,
    Loader,
    Mapping,
    Method,
    Module,
    Named,
    Namespace,
    Opaque,
    Qualified,
    Sequence,
    SourceModule,
    Tensor,
    Unknown,
    Value,
    evidently,
    join_all,
    named,
    options_of,
)

if TYPE_CHECKING:
    from accel_advisor.interpreter.abstract_machine import Machine


def attribute(machine: Machine, owner: Value, name: str) -> Value:
    """The value of ``owner.name``."""
    if isinstance(owner, (Unknown, Method)):
        if name == "grad":
            return Tensor(SOMEWHERE, proven=False, basis=Evidence.of(Ground.METHOD))
        return _device_of(machine, owner, name) or Method(owner, name)
    if isinstance(owner, Qualified):
        machine.recorder.name_used(machine.document, canonical(f"{owner.name}.{name}"))
    if isinstance(owner, (Qualified, SourceModule, Namespace)):
        return member_of(machine, owner, name)
    if name == "__name__" and isinstance(owner, (Class, Function)):
        return Constant(owner.name)
    if isinstance(owner, Choice):
        return join_all(attribute(machine, one, name) for one in _without_none(owner))
    if isinstance(owner, Named):
        if name == "__dict__":
            return Method(owner, name)
        return named(attribute(machine, one, name) for one in owner.options)
    if isinstance(owner, Configured):
        return UNKNOWN
    if isinstance(owner, (Instance, Module)):
        if name == "_orig_mod" and isinstance(owner, Module) and owner.eager is not None:
            return owner.eager
        if name == "module" and isinstance(owner, Module) and wraps(owner):
            return join_all(parts_of(machine, owner))
        stored = machine.store.get(owner, name) if name != "place" else None
        if isinstance(stored, Unknown):
            return _device_of(machine, owner, name) or stored
        if stored is not None:
            return stored
        found = class_member(machine, owner.cls, name) if owner.cls is not None else None
        if found is None:
            return _device_of(machine, owner, name) or unfollowed_part(machine, owner, name) or Method(owner, name)
        return _bind_member(machine, owner, found)
    if isinstance(owner, Class):
        stored = machine.store.get(owner, name)
        if stored is not None:
            return stored
        found = class_member(machine, owner, name)
        if isinstance(found, Function) and Qualified("classmethod") in found.decorators:
            return Bound(owner, found)
        if found is None and name == "apply" and has_own_gradient(owner):
            return Instance(owner)
        return found if found is not None else UNKNOWN
    if isinstance(owner, Opaque) and owner.name == "super":
        return _of_bases(machine, owner, name)
    if isinstance(owner, Tensor):
        if name in ("device", "shape"):
            machine.recorder.inputs.used_as_tensor(owner.place)
        if name == "device":
            kinds: frozenset[str] = frozenset()
            for one in owner.place:
                kinds |= one
            return Device(kinds, basis=owner.basis)
        if name in OUTPUTS and not owner.proven and owner.loader is None:
            return replace(owner, scalar=False, born=None, mask=False)
        if name in ("data", "grad", "T", "mT"):
            whole = replace(owner, grown=frozenset())
            return whole if name == "data" else Tensor(owner.place, proven=owner.proven, basis=owner.basis)
        return Method(owner, name)
    if isinstance(owner, Device) and name == "type":
        return replace(owner, first=False, text=True)
    if isinstance(owner, Mapping):
        held = machine.store.get(owner, name)
        return held if held is not None else Method(owner, name)
    if isinstance(owner, Filed):
        return owner.at(name)
    if isinstance(owner, Constant) and name == "value":
        # the value of an enum's member
        return owner
    if isinstance(owner, Loader):
        own = _of_subclass(machine, owner, name)
        if own is not None:
            return own
    if isinstance(owner, Loader) and name == "dataset":
        loader = loader_of(owner)
        return loader.get("dataset") if loader is not None else UNKNOWN
    if name == "grad" and _is_parameter(owner):
        return Tensor(SOMEWHERE, proven=False, basis=Evidence.of(Ground.METHOD))
    if isinstance(owner, Opaque) and name == "dataset" and len(owner.arguments) > DATASET_WRAPPERS.get(owner.name, 99):
        return owner.arguments[DATASET_WRAPPERS[owner.name]]
    return _device_of(machine, owner, name) or Method(owner, name)


def _is_parameter(value: Value) -> bool:
    return isinstance(value, Opaque) and value.name == "torch.nn.Parameter"


def _of_subclass(machine: Machine, loader: Loader, name: str) -> Value | None:
    """What a loader of a class of the project holds under a name by itself, or a method of that class."""
    instance = object_of(machine, loader)
    if instance is None:
        return None
    stored = machine.store.get(instance, name)
    if stored is not None:
        return stored
    found = class_member(machine, instance.cls, name)
    return _bind_member(machine, instance, found) if found is not None else None


def _device_of(machine: Machine, owner: Value, name: str) -> Device | None:
    """Where a module is, or something that it holds (``model.device``, ``model.fc.weight.device``)."""
    while isinstance(owner, Method):
        owner = owner.receiver
    if name != "device" or not isinstance(owner, Module):
        return None
    place = machine.place_of(owner)
    if machine.store.get(owner, ESCAPED) is None:
        return Device(union_of(place))
    return Device(union_of(SOMEWHERE if is_host(place) else place), basis=Evidence.of(Ground.KEPT))


def _of_bases(machine: Machine, bases: Opaque, name: str) -> Value:
    """The value of ``super().name``: what a base in the project defines, else a method of a library's."""
    if not bases.arguments:
        return Method(bases, name)
    receivers, below = bases.arguments
    return join_all(_of_base(machine, one, below, name) or Method(bases, name) for one in options_of(receivers))


def _of_base(machine: Machine, receiver: Value, below: Value, name: str) -> Value | None:
    cls = receiver.cls if isinstance(receiver, (Instance, Module)) else receiver
    if not isinstance(cls, Class) or not isinstance(below, Class):
        return None
    found = inherited_member(machine, cls, below, name)
    if not isinstance(found, Function):
        return found
    if name == "__init__" and found.owner is not None and is_loader_class(found.owner):
        # as if it were not there, so that the arguments are seen where they are written
        return None if passes_arguments_on(machine, found.owner) else Bound(receiver, found)
    if isinstance(receiver, Class):
        return Bound(receiver, found) if Qualified("classmethod") in found.decorators else found
    return _bind_member(machine, receiver, found)


def _without_none(value: Choice) -> list[Value]:
    """What a value can be where it is called, or asked for an attribute: None would raise."""
    return [one for one in value.options if not (isinstance(one, Constant) and one.value is None)]


def _bind_member(machine: Machine, owner: Value, member: Value) -> Value:
    if not isinstance(member, Function):
        return member
    if Qualified("staticmethod") in member.decorators:
        return member
    if Qualified("property") in member.decorators or Qualified("functools.cached_property") in member.decorators:
        return call_function(machine, member, Arguments(None), None, owner)
    return Bound(owner, member)


def call(machine: Machine, node: cst.Call) -> Value:
    """What a call returns; its effects take place and are recorded."""
    discarded = machine.frame.discarded is node
    machine.frame.discarded = None
    callee = machine.evaluate(node.func)
    machine.recorder.callee(node, callee)
    arguments = evaluate_arguments(machine, node)
    frame = machine.frame
    frame.discarding = discarded
    value = call_value(machine, callee, arguments, node)
    frame.discarding = False
    return value


def call_value(machine: Machine, callee: Value, arguments: Arguments, node: cst.Call) -> Value:
    """What calling ``callee`` returns."""
    if isinstance(callee, Qualified):
        return call_library(machine, callee.name, arguments, node)
    if isinstance(callee, Method):
        return call_method(machine, callee, arguments, node)
    site = CallSite(machine.document, node)
    if isinstance(callee, Function):
        return call_function(machine, callee, arguments, site, None)
    if isinstance(callee, Bound):
        if isinstance(callee.receiver, Module):
            enter(machine, callee.receiver, callee.function, arguments, node)
        return call_function(machine, callee.function, arguments, site, callee.receiver)
    if isinstance(callee, Class):
        return instantiate(machine, callee, arguments, node)
    if isinstance(callee, Module):
        return call_module(machine, callee, arguments, node)
    if isinstance(callee, Instance):
        if has_own_gradient(callee.cls):
            return _differentiated(machine, callee, arguments, node)
        method = attribute(machine, callee, "__call__")
        if isinstance(method, Bound):
            return call_function(machine, method.function, arguments, site, callee)
    if isinstance(callee, Filed):
        key = arguments.get("key", 0)
        if callee.keys[-1:] == ("get",) and isinstance(key, Constant):
            return switch(arguments) or Filed(callee.path, callee.keys[:-1], callee.overrides).at(key.value)
    if isinstance(callee, Opaque) and callee.name == "functools.partial" and callee.arguments:
        return _call_partial(machine, callee, arguments, node)
    if isinstance(callee, Choice):
        options = _without_none(callee)
        if options and all(isinstance(one, Module) for one in options):
            return call_module(machine, join_all(options), arguments, node)
        return join_all(call_value(machine, one, arguments, node) for one in options)
    if isinstance(callee, Named):
        return _call_named(machine, callee, arguments, node)
    loss = is_named_as_loss(node.func)
    if machine.frame.loops and (loss or may_be_model(node.func) or _is_part_of_model(machine, arguments)):
        machine.recorder.called.note_unknown(machine.frame, arguments, loss=loss)
    return call_unknown(machine, arguments.values(), node)


def _is_part_of_model(machine: Machine, arguments: Arguments) -> bool:
    """Whether a ``forward`` gives a tensor to something that it holds."""
    function, given = machine.frame.function, arguments.positional[:1]
    return function is not None and function.name == "forward" and any(isinstance(one.value, Tensor) for one in given)


def _differentiated(machine: Machine, context: Instance, arguments: Arguments, node: cst.Call) -> Value:
    """What a function returns that comes with a gradient of its own: its ``forward`` runs, and where autograd records,
    its ``backward`` in the same step."""
    site = CallSite(machine.document, node)
    forward, backward = (class_member(machine, context.cls, name) for name in ("forward", "backward"))
    if not isinstance(forward, Function):
        return call_unknown(machine, arguments.values(), node)
    result = call_function(machine, forward, arguments, site, context)
    # Where the ``backward`` of something else computes the gradient, it would pass for the backward pass of a loss.
    if isinstance(backward, Function) and machine.frame.graphs and not any(calls_of_backward(backward.node.body)):
        gradient = Tensor(result.place, proven=False) if isinstance(result, Tensor) else UNKNOWN
        taken = Arguments(None, [Argument(gradient)] * (len(backward.node.params.params) - 1))
        call_function(machine, backward, taken, site, context)
    return call_unknown(machine, arguments.values(), node) if isinstance(result, Unknown) else result


def _call_named(machine: Machine, callee: Named, arguments: Arguments, node: cst.Call) -> Value:
    """Calls whatever a name may stand for that takes such arguments: what comes out is most likely of one of these."""
    found: list[Value] = []
    for one in callee.options:
        if takes(_called(machine, one), arguments, bound=not isinstance(one, Function)):
            result = call_value(machine, one, arguments, node)
            escape(machine, result if isinstance(result, Module) else UNKNOWN)
            found.append(evidently(result, Evidence.of(Ground.CHOICE)))
    if not found:
        return call_unknown(machine, arguments.values(), node)
    return join_all(one for one in found if not isinstance(one, Unknown))


def _called(machine: Machine, callee: Value) -> Function | None:
    """The function of the project that runs where a value is called, if one does."""
    if isinstance(callee, Class):
        callee = class_member(machine, callee, "__init__") or UNKNOWN
    if isinstance(callee, Bound):
        callee = callee.function
    return callee if isinstance(callee, Function) else None


def _call_partial(machine: Machine, callee: Opaque, arguments: Arguments, node: cst.Call) -> Value:
    given = Arguments(node, [Argument(one) for one in callee.arguments[1:]], open=arguments.open)
    given.keywords = {key: Argument(value) for key, value in callee.keywords}
    given.positional += arguments.positional
    given.keywords.update(arguments.keywords)
    given.mappings = arguments.mappings
    return call_value(machine, callee.arguments[0], given, node)


def call_function(
    machine: Machine, function: Function, arguments: Arguments, site: CallSite | None, receiver: Value | None
) -> Value:
    """Interprets a function of the project with these arguments."""
    if not takes_what_it_is_given(function):
        arguments = Arguments(arguments.node, open=True, starred=True)
    bound = bind_parameters(machine, function, arguments, receiver)
    known = returns_what_it_returns(function)
    result = machine.inline(function, bound, site)
    return result if known else UNKNOWN


def instantiate(machine: Machine, cls: Class, arguments: Arguments, node: cst.Call) -> Value:
    """Builds an object of a class of the project."""
    machine.instantiated.add(id(cls.node))
    bases = cls.library_bases()
    loader = next((CONSTRUCTORS[base] for base in sorted(bases) if base in CONSTRUCTORS), None)
    if loader is not None:
        return build_subclass(machine, cls, loader, arguments, node)
    if builds_modules(cls):
        module = Module(machine.document, node, f"project:{cls.name}", cls)
        machine.recorder.called.built.setdefault(cls, {})[node] = arguments
        if "torch.nn.DataParallel" in map(canonical, bases):
            machine.recorder.operation(machine.frame, node, Call("torch.nn.DataParallel"), None, arguments)
        by_itself = machine.recorder.moves_itself(cls)
        machine.move(module, SOMEWHERE if by_itself else machine.frame.default_place)
        if wraps(module):
            take_in(machine, module, arguments.values())
        for value in arguments.values():
            if isinstance(value, (Module, Sequence, Iterated, Choice)):
                # what becomes a part of it moves with it
                escape(machine, value)
        return module
    instance = Instance(cls)
    init = class_member(machine, cls, "__init__")
    if is_record(cls) and init is None:
        fill_record(machine, instance, arguments)
        finish = class_member(machine, cls, "__post_init__")
        if isinstance(finish, Function):
            call_function(machine, finish, Arguments(None), None, instance)
        return instance
    if isinstance(init, Function):
        call_function(machine, init, arguments, CallSite(machine.document, node), instance)
    elif "?" in bases or bases - {"object"}:
        machine.store.set(instance, "\0arguments", Sequence(tuple(arguments.values())))
    return instance
