"""What a loader's workers run, and what of it goes wrong there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.datasets.sample_making import datasets_in
from accel_advisor.datasets.sample_methods import pickles_itself, sample_methods
from accel_advisor.interpreter.resolution import class_member, value_of
from accel_advisor.records.actions import Within, calls
from accel_advisor.records.dataset_facts import IssueKind, WorkerIssue
from accel_advisor.syntax.shapes import dotted, methods_of
from accel_advisor.syntax.walking import descendants
from accel_advisor.tables.sample_work import LOCKS
from accel_advisor.tables.torch_functions import ASKS_FOR_CUDA, HARMLESS_CUDA
from accel_advisor.values.devices import device_kinds
from accel_advisor.values.values import (
    Bound,
    Class,
    Configured,
    Constant,
    Function,
    Instance,
    Opaque,
    Qualified,
    Sequence,
    Value,
    options_of,
)

if TYPE_CHECKING:
    from accel_advisor.interpreter.abstract_machine import Machine
    from accel_advisor.records.facts import LoaderCall, Transfer
    from accel_advisor.records.operations import Operation
    from accel_advisor.source.document import Document
    from accel_advisor.values.scope import Scope

_SEEDERS = calls("numpy.random.seed", "random.seed", "torch.manual_seed")
_SPARSE = ("to_sparse", "sparse_", "nested_tensor")
"""Beginnings of names that make tensors which cannot be pinned."""


@dataclass(frozen=True, slots=True)
class WorkerFunction:
    """A function that workers run; ``direct``: the program gives it no arguments beforehand."""

    label: str
    document: Document
    node: cst.FunctionDef | cst.Lambda
    scope: Scope
    direct: bool = True


def worker_issues(
    machine: Machine, loader: LoaderCall, transfers: Mapping[int, Transfer], operations: Mapping[int, Operation]
) -> tuple[WorkerIssue, ...]:
    """Everything that goes wrong in the workers of one loader.

    Args:
        transfers, operations: what was recorded, by the identity of the node.
    """
    found = [*_unpicklable(machine, loader), *_unpinnable(machine, loader), *_changed(machine, loader)]
    for function in _functions(machine, loader):
        for node in descendants(function.node.body):
            transfer, operation = transfers.get(id(node)), operations.get(id(node))
            acts: Transfer | Operation | None = None
            if transfer is not None and "cuda" in transfer.kinds:
                acts = transfer
            elif operation is not None and _uses_device(operation):
                acts = operation
            if acts is not None:
                certain = not any(context.guarded for context in acts.contexts)
                found.append(WorkerIssue(IssueKind.DEVICE, function.label, function.document, node, certain))
            if type(node) is cst.Attribute and node.attr.value.startswith(_SPARSE):
                found.append(WorkerIssue(IssueKind.UNPINNABLE, function.label, function.document, node))
            seeds = operation is not None and operation.does(*_SEEDERS)
            if seeds and isinstance(node, cst.Call) and _repeats(machine, function, node):
                found.append(WorkerIssue(IssueKind.CONSTANT_SEED, function.label, function.document, node))
    return tuple(found)


def _unpinnable(machine: Machine, loader: LoaderCall) -> Iterator[WorkerIssue]:
    """Batches of a class that the pin thread does not know how to pin: it passes them on as they are."""
    for batch in (option for made in loader.batches for option in options_of(made)):
        if not isinstance(batch, Instance) or not batch.cls.library_bases() <= {"object"}:
            continue
        if class_member(machine, batch.cls, "pin_memory") is None:
            yield WorkerIssue(IssueKind.UNPINNABLE, batch.cls.name, batch.cls.document, batch.cls.node.name)
    for value in options_of(loader.get("collate_fn")):
        function = _function(value)
        if function is not None and (call := _makes_unpinnable(machine, function)) is not None:
            yield WorkerIssue(IssueKind.UNPINNABLE_PART, "collate_fn", function.document, call)


def _makes_unpinnable(machine: Machine, function: Function, depth: int = 2) -> cst.Call | None:
    """The call in a function, or in one of the project that it calls, that makes a graph of DGL, or an object of a
    class of the project that moves itself and has no ``pin_memory``."""
    for node in descendants(function.node.body, cst.Call):
        callee = value_of(machine, function.scope.globals, node.func)
        if isinstance(callee, Qualified) and callee.name.startswith("dgl."):
            return node
        if isinstance(callee, Class) and callee.library_bases() <= {"object"}:
            moves, pins = (class_member(machine, callee, name) for name in ("to", "pin_memory"))
            if moves is not None and pins is None:
                return node
        if isinstance(callee, Function) and depth and _makes_unpinnable(machine, callee, depth - 1) is not None:
            return node
    return None


def _changed(machine: Machine, loader: LoaderCall) -> Iterator[WorkerIssue]:
    """A collate function that the program changes while it is in use, of which workers that live on keep a copy."""
    for value in options_of(loader.get("collate_fn")):
        held = value.receiver if isinstance(value, Bound) else value
        if isinstance(held, Instance) and held.cls in machine.recorder.written.keys() | machine.recorder.changed:
            yield WorkerIssue(IssueKind.CHANGED, held.cls.name, held.cls.document, held.cls.node.name)


def _functions(machine: Machine, loader: LoaderCall) -> Iterator[WorkerFunction]:
    for value in datasets_in(loader.get("dataset")):
        if isinstance(value, Instance):
            for name, (cls, node) in sample_methods(value.cls).items():
                yield WorkerFunction(f"{cls.name}.{name}", cls.document, node, cls.scope.globals)
            for attribute, held in machine.store.entries(value).items():
                if isinstance(attribute, str) and "transform" in attribute:
                    yield from _transforms(held, attribute)
        elif isinstance(value, Opaque):
            given = {f"argument {index}": one for index, one in enumerate(value.arguments)} | dict(value.keywords)
            for name, held in given.items():
                yield from _transforms(held, "transform" if name.startswith("argument ") else name)
    for name in ("collate_fn", "worker_init_fn"):
        made = {id(one.node): (one, value) for value in loader.each(name) if (one := _function(value)) is not None}
        for function, value in made.values():
            direct = isinstance(value, Function)
            yield WorkerFunction(name, function.document, function.node, function.scope, direct)


def _transforms(value: Value, label: str) -> Iterator[WorkerFunction]:
    """The functions of the project that a transform, or one that is made of others, runs."""
    for one in options_of(value):
        function = _function(one)
        if function is not None:
            yield WorkerFunction(label, function.document, function.node, function.scope)
        elif isinstance(one, Instance) and "__call__" in (methods := methods_of(one.cls.node)):
            name = f"{one.cls.name}.__call__"
            yield WorkerFunction(name, one.cls.document, methods["__call__"], one.cls.scope.globals)
        elif isinstance(one, Sequence):
            for item in one.items:
                yield from _transforms(item, label)
        elif isinstance(one, Opaque) and one.name.startswith("torchvision."):
            for item in one.arguments:
                yield from _transforms(item, label)


def _function(value: Value) -> Function | None:
    if isinstance(value, Opaque) and value.name == "functools.partial" and value.arguments:
        return _function(value.arguments[0])
    if isinstance(value, Bound):
        return value.function
    return value if isinstance(value, Function) else None


def _uses_device(operation: Operation) -> bool:
    """Whether an operation puts something on a CUDA device, or needs one."""
    if operation.makes_tensor:
        return all("cuda" in device_kinds(context.get("device")) for context in operation.contexts)
    stateful = operation.does(Within("torch.cuda")) and not operation.does(Within("torch.cuda.amp"))
    return stateful and operation.what.full not in HARMLESS_CUDA | ASKS_FOR_CUDA


def _repeats(machine: Machine, function: WorkerFunction, call: cst.Call) -> bool:
    """Whether a call gives the workers the same seeds in every epoch: in what makes samples, where it mentions the
    worker's number; a constant makes each sample the same on purpose."""
    if function.label != "worker_init_fn" and not any(_is_number(function, one) for one in descendants(call)):
        return False
    return _is_constant(machine, function, call)


def _is_number(function: WorkerFunction, node: cst.CSTNode) -> bool:
    """Whether an expression is ``get_worker_info().id``, or the same by a name."""
    if not isinstance(node, cst.Attribute) or node.attr.value != "id":
        return False
    asked = [node.value]
    if isinstance(node.value, cst.Name):
        assigned = descendants(function.node.body, cst.Assign)
        asked = [one.value for one in assigned if dotted(one.targets[0].target) == node.value.value]
    return any(isinstance(one, cst.Call) and dotted(one.func).endswith("get_worker_info") for one in asked)


def _is_constant(machine: Machine, function: WorkerFunction, call: cst.Call) -> bool:
    """Whether a seed is made of nothing but the worker's number and what is the same in every epoch."""
    params = function.node.params.params if function.label == "worker_init_fn" else ()
    worker = params[0].name.value if params and function.direct else ""

    def constant(node: cst.BaseExpression) -> bool:
        if isinstance(node, cst.Integer) or _is_number(function, node):
            return True
        if isinstance(node, cst.BinaryOperation):
            return constant(node.left) and constant(node.right)
        if isinstance(node, cst.Name) and node.value == worker:
            return True
        if isinstance(node, (cst.Name, cst.Attribute)):
            return isinstance(value_of(machine, function.scope, node), (Constant, Configured))
        return False

    return len(call.args) == 1 and not call.args[0].star and constant(call.args[0].value)


def _unpicklable(machine: Machine, loader: LoaderCall) -> Iterator[WorkerIssue]:
    for name in ("collate_fn", "worker_init_fn"):
        for value in options_of(loader.get(name)):
            function = _function(value)
            if function is not None and function.owner is None and _is_local(function):
                yield WorkerIssue(IssueKind.UNPICKLABLE, name, function.document, function.node)
    dataset = loader.dataset.value if loader.dataset is not None else None
    for value in options_of(dataset) if dataset is not None else ():
        if not isinstance(value, Instance):
            continue
        cls = value.cls
        if cls.scope.parent is not None and cls.scope.parent.kind == "function":
            yield WorkerIssue(IssueKind.UNPICKLABLE, cls.name, cls.document, cls.node.name)
        if pickles_itself(cls):
            continue
        for attribute, held in machine.store.entries(value).items():
            if isinstance(held, Function) and _is_local(held):
                yield WorkerIssue(IssueKind.UNPICKLABLE, f"{cls.name}.{attribute}", held.document, held.node)
            elif isinstance(held, Opaque) and held.name in LOCKS:
                yield WorkerIssue(IssueKind.UNPICKLABLE, f"{cls.name}.{attribute}", cls.document, cls.node.name)


def _is_local(function: Function) -> bool:
    return isinstance(function.node, cst.Lambda) or function.scope.kind == "function"
