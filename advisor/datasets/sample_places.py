"""Where the samples of a data set are: certainly on the host, or perhaps elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.interpreter.resolution import value_of
from accel_advisor.syntax.shapes import keywords_of, self_attribute, touches_devices
from accel_advisor.syntax.walking import descendants
from accel_advisor.tables.sample_work import HOST_LIBRARIES
from accel_advisor.values.devices import device_kinds
from accel_advisor.values.places import HOST
from accel_advisor.values.store import ESCAPED
from accel_advisor.values.values import (
    UNKNOWN,
    Bound,
    Choice,
    Class,
    Configured,
    Constant,
    Device,
    Function,
    Instance,
    Iterated,
    Mapping,
    Module,
    Opaque,
    Qualified,
    Sequence,
    Tensor,
    Unknown,
    Value,
    options_of,
)

if TYPE_CHECKING:
    from accel_advisor.interpreter.abstract_machine import Machine


def made_on_host(machine: Machine, dataset: Opaque) -> bool:
    """Whether nothing that a data set of torchvision is given, after the folder, puts its samples elsewhere."""
    given = (*dataset.arguments[1:], *(value for key, value in dataset.keywords if key != "root"))
    return not any(_may_be_elsewhere(machine, one) for one in given)


def read_on_host(machine: Machine, dataset: Instance, costly: bool) -> bool:
    """Whether a data set of the project certainly makes its samples on the host; ``costly``: it reads them."""
    if any(touches_devices(one.node) for one in dataset.cls.lineage()):
        return False
    called = _called_in(machine, dataset.cls)
    if called is None:
        return False
    for name, value in machine.store.entries(dataset).items():
        if isinstance(value, Unknown):
            if name in called or not costly:
                return False
        elif name != ESCAPED and _may_be_elsewhere(machine, value):
            return False
    return True


def is_elsewhere(machine: Machine, value: Value) -> bool:
    """Whether a value is, or holds, a tensor that is not on the host."""
    if isinstance(value, Tensor):
        return any("unknown" not in kinds and kinds != {"cpu"} for kinds in value.place)
    if isinstance(value, Sequence):
        return any(is_elsewhere(machine, one) for one in value.items)
    if isinstance(value, Iterated):
        return is_elsewhere(machine, value.element)
    if isinstance(value, Mapping):
        return any(is_elsewhere(machine, one) for one in machine.store.entries(value).values())
    return len(options_of(value)) > 1 and any(is_elsewhere(machine, one) for one in options_of(value))


def holds_elsewhere(machine: Machine, dataset: Instance) -> bool:
    """Whether a data set keeps tensors that are not on the host: what its samples are taken from, or made with."""
    kept = machine.store.entries(dataset)
    return any(is_elsewhere(machine, value) for name, value in kept.items() if name != ESCAPED)


def uses_accelerator(machine: Machine, cls: Class) -> bool:
    """Whether the code of a class puts something on an accelerator, or chooses where something goes."""
    for node in descendants(cls.node, cst.Call):
        if isinstance(node.func, cst.Attribute):
            if node.func.attr.value == "cuda":
                return True
            if node.func.attr.value == "to" and node.args:
                value = node.args[0].value
                known = (
                    value_of(machine, cls.scope.globals, value)
                    if isinstance(value, (cst.Name, cst.Attribute))
                    else UNKNOWN
                )
                if isinstance(value, cst.SimpleString) and str(value.evaluated_value).startswith("cuda"):
                    return True
                if "cuda" in device_kinds(known):
                    return True
                if self_attribute(value) is not None and self_attribute(value) in ("device", "dev", "gpu"):
                    return True
        if "device" in keywords_of(node):
            return True
    return False


def _called_in(machine: Machine, cls: Class) -> set[str] | None:
    """Attributes of ``self`` that a class calls; None where it calls a function of the project that moves something."""
    found: set[str] = set()
    for one in cls.lineage():
        for node in descendants(one.node, cst.Call):
            name = self_attribute(node.func)
            found |= {name} if name is not None else set()
            callee = value_of(machine, one.scope.globals, node.func)
            if isinstance(callee, Function) and touches_devices(callee.node):
                return None
    return found


def _may_be_elsewhere(machine: Machine, value: Value) -> bool:
    """Whether a value is, holds, or makes something that may be on an accelerator."""
    if isinstance(value, Constant):
        return isinstance(value.value, str) and value.value.startswith(("cuda", "mps"))
    if isinstance(value, Configured):
        return isinstance(value.default, Constant) and _may_be_elsewhere(machine, value.default)
    if isinstance(value, Tensor):
        return value.place != HOST
    if isinstance(value, (Device, Unknown)):
        return value != Device(frozenset({"cpu"}))
    if isinstance(value, Module):
        return machine.place_of(value) != HOST
    if isinstance(value, (Sequence, Choice)):
        items = value.items if isinstance(value, Sequence) else value.options
        return any(_may_be_elsewhere(machine, one) for one in items)
    if isinstance(value, Iterated):
        return _may_be_elsewhere(machine, value.element)
    if isinstance(value, Mapping):
        return any(_may_be_elsewhere(machine, one) for one in machine.store.entries(value).values())
    if isinstance(value, (Function, Bound)):
        return touches_devices((value.function if isinstance(value, Bound) else value).node)
    if isinstance(value, Instance):
        return any(touches_devices(one.node) for one in value.cls.lineage())
    if isinstance(value, Opaque):
        given = (*value.arguments, *(one for _, one in value.keywords))
        return not _stays(value.name) or any(_may_be_elsewhere(machine, one) for one in given)
    return not (isinstance(value, Qualified) and _stays(value.name))


def _stays(name: str) -> bool:
    return "." not in name or name.partition(".")[0] in HOST_LIBRARIES or name.startswith("torch.utils.data.")
