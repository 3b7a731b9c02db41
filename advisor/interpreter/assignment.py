"""Binding values to names, attributes and items."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.interpreter.iteration import element_at, element_of, holds_modules
from accel_advisor.interpreter.library.evident_models import as_model
from accel_advisor.interpreter.library.settings_classes import field_default
from accel_advisor.interpreter.loader_batches import loaders_of, may_rewrite, mutates_in_place, refills
from accel_advisor.interpreter.resolution import take_in
from accel_advisor.records.actions import Act, Sets, SetsItem
from accel_advisor.tables.torch_modules import PARAMETERS
from accel_advisor.values.devices import device_kinds
from accel_advisor.values.evidence import PROVEN, Evidence, Ground
from accel_advisor.values.places import HOST, SOMEWHERE, WITH_MODEL, Place, is_host
from accel_advisor.values.store import ANY, ESCAPED, OPEN
from accel_advisor.values.values import (
    ABSENT,
    Choice,
    Class,
    Constant,
    Device,
    Instance,
    Iterated,
    Loader,
    Mapping,
    Module,
    Namespace,
    Opaque,
    Qualified,
    Sequence,
    SourceModule,
    Tensor,
    Unknown,
    Value,
    join,
    options_of,
)

if TYPE_CHECKING:
    from accel_advisor.interpreter.abstract_machine import Machine
    from accel_advisor.records.loaders import LoaderCall


def assign(machine: Machine, target: cst.CSTNode, value: Value) -> None:
    """Binds an assignment's target, taking the value apart where the target is a tuple."""
    if type(target) is cst.Name:
        if machine.scope.kind == "class":
            value = field_default(value)
        if isinstance(value, Constant):
            value = value.at("class attribute" if machine.scope.kind == "class" else "constant", target.value)
        value = as_model(machine, value, target, machine.document)
        machine.bind(target.value, value)
        for loader in loaders_of(value) if isinstance(value, (Loader, Choice)) else ():
            _name(loader, target.value)
        _note_device(machine, target, value)
    elif type(target) is cst.Tuple or type(target) is cst.List:
        for index, element in enumerate(target.elements):
            if type(element) is cst.StarredElement:
                assign(machine, element.value, Iterated(element_of(machine, value)))
            else:
                assign(machine, element.value, element_at(machine, value, index, len(target.elements)))
    elif isinstance(target, cst.Attribute):
        _assign_attribute(machine, target, value)
    elif isinstance(target, cst.Subscript):
        _assign_item(machine, target, value)
    elif isinstance(target, cst.StarredElement):
        assign(machine, target.value, Iterated(value))


def _note_device(machine: Machine, target: cst.Name, value: Value) -> None:
    if isinstance(value, Device) or (
        isinstance(value, (Constant, Choice))
        and all(isinstance(one, Constant) and isinstance(one.value, str) for one in options_of(value))
    ):
        kinds = device_kinds(value)
        if kinds & {"cuda", "mps", "xpu"} and "unknown" not in kinds:
            machine.recorder.device_name(machine.document, target, kinds, machine.scope)


def _assign_attribute(machine: Machine, target: cst.Attribute, value: Value) -> None:
    owner = machine.evaluate(target.value)
    value = as_model(machine, value, target, machine.document)
    name = target.attr.value
    machine.recorder.attribute_assigned(machine.document, target)
    if name == "require_backward_grad_sync":
        machine.recorder.operation(machine.frame, target, Sets("?", name), owner, value=value)
    for one in options_of(owner):
        if isinstance(one, (Instance, Module, Namespace, Class)):
            if isinstance(one, Module):
                held = tuple(machine.store.entries(value).values()) if isinstance(value, Mapping) else ()
                given = Sequence(held) if held else value
                machine.recorder.operation(machine.frame, target, Act.SETS_MODULE_ATTRIBUTE, one, value=given)
                adopt(machine, value, WITH_MODEL if machine.place_of(one) == WITH_MODEL else SOMEWHERE)
            if isinstance(value, Constant):
                value = value.at("class attribute", name)
            if isinstance(one, Module) and isinstance(value, Opaque) and value.name in PARAMETERS:
                value = of_module(machine, one, value)
            before = machine.store.get(one, name)
            certain = not isinstance(owner, Choice)
            machine.store.set(one, name, value if certain or before is None else join(before, value))
            if isinstance(one, Instance) and not _inside(machine, one.cls):
                recorder = machine.recorder
                written = recorder.adjusted if machine.frame.happens_once else recorder.written
                written.setdefault(one.cls, set()).add(name)
            elif isinstance(one, Instance) and machine.frame.loops and not _building(machine, one.cls):
                machine.recorder.changed.add(one.cls)
        elif isinstance(one, SourceModule):
            machine.store.set(one.scope, name, value)
        elif isinstance(one, Mapping):
            machine.store.set(one, name, value.at("dict entry", name) if isinstance(value, Constant) else value)
        elif isinstance(one, Qualified):
            machine.recorder.operation(machine.frame, target, Sets(one.name, name), value=value)
        elif isinstance(one, (Loader, Opaque, Tensor)):
            kind = one.name if isinstance(one, Opaque) else type(one).__name__.replace("Loader", "DataLoader")
            machine.recorder.operation(machine.frame, target, Sets(kind, name), one, value=value)
            if name == "data":
                may_rewrite(one)
        elif name == "requires_grad":
            machine.recorder.operation(machine.frame, target, Sets("?", name), one, value=value)
        if isinstance(one, (Qualified, Unknown)):
            _hand_over(machine, value)
    for loader in loaders_of(value) if isinstance(value, Loader) else ():
        _name(loader, name)


def _name(loader: LoaderCall, name: str) -> None:
    """Calls a loader by the first name that it gets, unless what a function was given says that another call of that
    built what is bound."""
    if not loader.contexts or not loader.contexts[-1].untaken:
        loader.name = loader.name or name


def _hand_over(machine: Machine, value: Value) -> None:
    """A module is kept by something that is not known, which may move it."""
    for one in options_of(value):
        if isinstance(one, Module):
            machine.store.set(one, ESCAPED, Constant(True))


def adopt(machine: Machine, value: Value, place: Place) -> None:
    """A module becomes part of another: from now on it lives where that one lives."""
    for one in options_of(value):
        if isinstance(one, Module):
            machine.move(one, place if machine.place_of(one) in (HOST, place) else SOMEWHERE)
        elif isinstance(one, Sequence):
            for item in one.items:
                adopt(machine, item, SOMEWHERE)
        elif isinstance(one, Iterated):
            adopt(machine, one.element, SOMEWHERE)


def of_module(machine: Machine, module: Module, value: Value) -> Value:
    """What a module holds that is given a parameter, or registers a tensor: a tensor that lives where it does."""
    place = WITH_MODEL if machine.place_of(module) == WITH_MODEL else SOMEWHERE
    parameter = isinstance(value, Opaque) and value.name in PARAMETERS
    if isinstance(value, Constant) or (parameter and place == SOMEWHERE):
        return value
    held = next(iter(value.arguments), value) if isinstance(value, Opaque) and parameter else value
    basis = PROVEN if parameter or isinstance(held, Tensor) else Evidence.of(Ground.METHOD)
    known = held if isinstance(held, Tensor) else Tensor()
    return Tensor(place, scalar=known.scalar, mask=known.mask, basis=basis)


def _inside(machine: Machine, cls: Class) -> bool:
    return any(one.owner in cls.lineage() for one in machine.frame.functions)


def _building(machine: Machine, cls: Class) -> bool:
    return any(one.name == "__init__" and one.owner in cls.lineage() for one in machine.frame.functions)


def _change_holder(machine: Machine, held: cst.BaseExpression) -> None:
    """A list is changed: in a loop, that changes the object whose attribute it is."""
    holder = machine.evaluate(held.value) if isinstance(held, cst.Attribute) and machine.frame.loops else None
    if isinstance(holder, Instance) and not _building(machine, holder.cls):
        machine.recorder.changed.add(holder.cls)


def _assign_item(machine: Machine, target: cst.Subscript, value: Value) -> None:
    owner = machine.evaluate(target.value)
    key = None
    if len(target.slice) == 1 and isinstance(target.slice[0].slice, cst.Index):
        key = machine.evaluate(target.slice[0].slice.value)
    for one in options_of(owner):
        if isinstance(one, (Qualified, Unknown)):
            _hand_over(machine, value)
        if isinstance(one, Mapping):
            if isinstance(key, Constant) and isinstance(key.value, (str, int)):
                stored = value.at("dict entry", str(key.value)) if isinstance(value, Constant) else value
                if isinstance(owner, Choice) and not _holds_alone(machine, target.value, one):
                    stored = join(machine.store.get(one, key.value) or ABSENT, stored)
                machine.store.set(one, key.value, stored)
            else:
                before = machine.store.get(one, ANY)
                machine.store.set(one, ANY, value if before is None else join(before, value))
                machine.store.set(one, OPEN, Constant(True))
                _may_replace(machine, one, value)
        elif isinstance(one, (Sequence, Iterated)):
            _change_holder(machine, target.value)
        elif isinstance(one, Qualified) and isinstance(key, Constant):
            machine.recorder.operation(machine.frame, target, SetsItem(one.name, key.value), value=value)
        elif isinstance(one, Module) and holds_modules(one):
            take_in(machine, one, (value,))
        elif isinstance(one, Tensor):
            machine.recorder.operation(machine.frame, target, Act.SETS_TENSOR_ITEM, one, value=value)
            _note_numbers(machine, target)
            _note_masks(machine, target, one, value)
            may_rewrite(one)
            if _replaces_entry(one, key, value):
                refills(one, value, machine.frame.batch_loop)
                if owner is one and not isinstance(key, Constant):
                    _refill(machine, target.value, one, value)
            else:
                mutates_in_place(one, machine.frame.batch_loop)


def _may_replace(machine: Machine, mapping: Mapping, value: Value) -> None:
    """A value is stored in a dict under a key that is not known: each tensor there may be this one from now on."""
    tensors = all(isinstance(one, Tensor) for one in options_of(value))
    for key, held in [*machine.store.entries(mapping).items()] if tensors else ():
        if key not in (OPEN, ANY) and all(isinstance(one, Tensor) for one in options_of(held)):
            machine.store.set(mapping, key, join(held, value))


def _refill(machine: Machine, holder: cst.BaseExpression, batch: Tensor, value: Value) -> None:
    """Entry by entry, what a name holds is replaced by copies of the entries: they live where these go from here on."""
    if isinstance(holder, cst.Name) and isinstance(value, Tensor) and value.loader is batch.loader:
        assign(machine, holder, replace(batch, place=value.place, basis=batch.basis | value.basis))


def _note_numbers(machine: Machine, target: cst.Subscript) -> None:
    """Records that a tensor has to become a number, to say where something is written."""
    for at in target.slice:
        if isinstance(at.slice, cst.Index):
            machine.recorder.index(machine.frame, target, machine.evaluate(at.slice.value))
        elif isinstance(at.slice, cst.Slice):
            for bound in (at.slice.lower, at.slice.upper, at.slice.step):
                if bound is not None:
                    machine.recorder.index(machine.frame, target, machine.evaluate(bound), sure=True)


def _note_masks(machine: Machine, target: cst.Subscript, held: Tensor, value: Value) -> None:
    """Records that a mask is counted to write into a tensor: one that takes a number is filled without that, unless it
    is on the host and the mask is not."""
    written = isinstance(value, Tensor) and not value.scalar
    for at in target.slice:
        key = machine.evaluate(at.slice.value) if isinstance(at.slice, cst.Index) else None
        if isinstance(key, Tensor) and key.mask and (written or (is_host(held.place) and not is_host(key.place))):
            machine.recorder.operation(machine.frame, target, Act.INDEXES_BY_MASK, key)


def _holds_alone(machine: Machine, holder: cst.BaseExpression, held: Mapping) -> bool:
    """Whether a name of this function, and no other, holds a dict: its entries are read through that alone."""
    if not isinstance(holder, cst.Name) or machine.scope.kind != "function":
        return False
    names = [name for name, value in machine.store.entries(machine.scope).items() if held in options_of(value)]
    return names == [holder.value]


def _replaces_entry(batch: Tensor, key: Value | None, value: Value) -> bool:
    """Whether ``batch[key] = value`` puts another tensor into a dict or list, and writes into none: text is no index of
    a tensor, and nobody copies back from a device entry by entry."""
    if batch.proven:
        return False
    if isinstance(key, Constant) and isinstance(key.value, str):
        return True
    return all(isinstance(one, Tensor) and one.place and not is_host(one.place) for one in options_of(value))
