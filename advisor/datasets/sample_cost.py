"""What it costs to make a sample of a data set of the project."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.datasets.sample_methods import sample_methods
from accel_advisor.datasets.transformed_samples import steps_of
from accel_advisor.interpreter.resolution import class_member, value_of
from accel_advisor.records.dataset_facts import Cost
from accel_advisor.syntax.shapes import dotted, self_attribute
from accel_advisor.syntax.walking import descendants
from accel_advisor.tables.known_datasets import MEMORY_DATASETS
from accel_advisor.tables.sample_work import DECODERS, SAMPLE_COSTS
from accel_advisor.tables.torch_functions import TENSOR_FACTORIES
from accel_advisor.values.values import Class, Function, Instance, Opaque, Qualified, Tensor, Value, options_of

if TYPE_CHECKING:
    from accel_advisor.interpreter.abstract_machine import Machine


@dataclass(frozen=True, slots=True)
class SampleCost:
    """What a sample costs; the fields are those of :class:`~accel_advisor.records.dataset_facts.DatasetFacts`."""

    cost: Cost
    reason: str = ""
    decodes: bool = False


def sample_cost(machine: Machine, dataset: Instance) -> SampleCost:
    """What a sample of a data set costs."""
    cls = dataset.cls
    methods = sample_methods(cls)
    if not methods:
        return SampleCost("unknown")
    calls = light = False
    keeps = _keeps_arrays(machine, dataset)
    for name, (owner, function) in methods.items():
        for call in descendants(function.body, cst.Call):
            called = _called(machine, owner, call)
            attribute = self_attribute(called)
            if attribute is not None:
                light |= attribute not in methods and not (keeps and _holds_nothing_to_do(machine, dataset, attribute))
                continue
            callee = value_of(machine, owner.scope.globals, called)
            if isinstance(callee, Qualified):
                cost = SAMPLE_COSTS.get(callee.name)
                if cost is not None:
                    words = f"`{cls.name}.{name}` {cost} for each sample (`{dotted(called)}`)"
                    return SampleCost("costly", words, callee.name in DECODERS)
                light |= callee.name not in ("len", "int", "range", "float") and callee.name not in TENSOR_FACTORIES
            elif isinstance(callee, Function) and callee.owner is None:
                found = _costly_call(machine, callee)
                if found is not None:
                    words = f"`{cls.name}.{name}` {SAMPLE_COSTS[found]} for each sample (through `{callee.name}`)"
                    return SampleCost("costly", words, found in DECODERS)
                light = True
            else:
                calls = True
    if light or calls:
        return SampleCost("light" if light and not calls else "unknown", f"`{cls.name}` computes each sample")
    return SampleCost("memory", f"`{cls.name}` indexes data in memory")


def _called(machine: Machine, owner: Class, call: cst.Call) -> cst.BaseExpression:
    """What a call of a method calls: of ``map``, the function that it is given."""
    maps = bool(call.args) and value_of(machine, owner.scope.globals, call.func) == Qualified("map")
    return call.args[0].value if maps else call.func


def _keeps_arrays(machine: Machine, dataset: Instance) -> bool:
    """Whether all that a data set takes its samples out of is seen to be an array or a tensor, and no other data set,
    which would read or compute them."""
    if not dataset.cls.library_bases().isdisjoint(MEMORY_DATASETS):
        return True
    methods = [function for _, function in sample_methods(dataset.cls).values()]
    names = [self_attribute(one.value) for each in methods for one in descendants(each.body, cst.Subscript)]
    held = [machine.store.get(dataset, one) if one is not None else None for one in names]
    return all(one is not None and all(map(_is_array, options_of(one))) for one in held)


def _is_array(value: Value) -> bool:
    return isinstance(value, Tensor) or (isinstance(value, Opaque) and value.name.startswith("numpy."))


def _holds_nothing_to_do(machine: Machine, dataset: Instance, attribute: str) -> bool:
    """Whether what a data set holds under a name, a transform, is None, or only makes tensors of arrays: be it one of
    its class, this object's own decides."""
    held = machine.store.get(dataset, attribute)
    return held is not None and all(_only_wraps(machine, one) for one in steps_of(held))


def _only_wraps(machine: Machine, transform: Value) -> bool:
    """Whether a transform does nothing but call a function of torch that makes a tensor."""
    if isinstance(transform, Qualified):
        return transform.name in TENSOR_FACTORIES
    function = transform if isinstance(transform, Function) else None
    if isinstance(transform, Instance):
        called = class_member(machine, transform.cls, "__call__")
        function = called if isinstance(called, Function) else None
    if function is None or next(descendants(function.node.body, cst.BinaryOperation, cst.AugAssign), None) is not None:
        return False
    calls = [value_of(machine, function.scope.globals, one.func) for one in descendants(function.node.body, cst.Call)]
    return all(isinstance(one, Qualified) and one.name in TENSOR_FACTORIES for one in calls)


def _costly_call(machine: Machine, function: Function) -> str | None:
    """The first costly function of a library that a function calls, by its full name."""
    for node in descendants(function.node.body, cst.Call):
        callee = value_of(machine, function.scope.globals, node.func)
        if isinstance(callee, Qualified) and callee.name in SAMPLE_COSTS:
            return callee.name
    return None
