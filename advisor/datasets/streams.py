"""Data sets that are streams: whether every worker, and every process, would read all of one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.datasets.sample_methods import sample_methods
from accel_advisor.interpreter.resolution import value_of
from accel_advisor.records.dataset_facts import Veto, VetoKind
from accel_advisor.syntax.shapes import self_attribute
from accel_advisor.syntax.walking import descendants
from accel_advisor.tables.python_functions import FEEDS, GIVES_CONTENTS
from accel_advisor.tables.sample_work import SAME_IN_EVERY_WORKER
from accel_advisor.values.values import (
    Class,
    Configured,
    Constant,
    Instance,
    Iterated,
    Mapping,
    Opaque,
    Qualified,
    Sequence,
    Tensor,
    Unknown,
    Value,
)

if TYPE_CHECKING:
    from accel_advisor.interpreter.abstract_machine import Machine


def stream_veto(machine: Machine, instance: Instance) -> Veto | None:
    """An IterableDataset that every worker would read whole."""
    cls = instance.cls
    mentioned = {node.value for one in cls.lineage() for node in descendants(one.node, cst.Name)}
    if "get_worker_info" in mentioned:
        return None
    divided = any("worker" in name.lower() or "shard" in name.lower() for name in mentioned)
    certain = not divided and "?" not in cls.library_bases() and reads_everything(machine, instance)
    words = "it is an IterableDataset that does not share its samples out among workers"
    return Veto(VetoKind.STREAM, words, certain=certain, document=cls.document, node=cls.node.name)


def knows_its_rank(cls: Class) -> bool:
    """Whether a data set mentions ranks or the world size, or has a base that is not known."""
    words = (node for one in cls.lineage() for node in descendants(one.node, cst.Name, cst.SimpleString))
    names = {node.value.lower() for node in words if isinstance(node, (cst.Name, cst.SimpleString))}
    return "?" in cls.library_bases() or any("rank" in name or "world" in name or "shard" in name for name in names)


def may_differ_by_rank(held: Value) -> bool:
    """Whether what a data set keeps may have another value in another process: its rank, say."""
    if isinstance(held, Configured):
        return bool(held.variable)
    return isinstance(held, Unknown) or (isinstance(held, Opaque) and not held.name.startswith(SAME_IN_EVERY_WORKER))


def reads_everything(machine: Machine, instance: Instance) -> bool:
    """Whether all that ``__iter__`` goes over is known to be the same in every worker, and to end."""
    methods = sample_methods(instance.cls)
    if "__iter__" not in methods or "__next__" in methods:
        return False
    sources = 0
    for owner, function in methods.values():
        for node in descendants(function.body):
            taken: list[cst.BaseExpression] = []
            if isinstance(node, (cst.For, cst.CompFor)):
                taken.append(node.iter)
            elif isinstance(node, cst.From):
                taken.append(node.item)
            elif isinstance(node, cst.While) or (isinstance(node, cst.Call) and _is_random(machine, owner, node)):
                return False
            elif isinstance(node, cst.Return) and function.name.value == "__iter__" and node.value is not None:
                taken.append(node.value)
            sources += len(taken)
            if not all(_is_common(machine, instance, owner, function, one, 0) for one in taken):
                return False
    return sources > 0


def _is_random(machine: Machine, owner: Class, call: cst.Call) -> bool:
    """Whether a call draws at random, other than an order."""
    callee = value_of(machine, owner.scope.globals, call.func)
    drawn = callee.name if isinstance(callee, Qualified) else ""
    name = call.func.attr.value if isinstance(call.func, cst.Attribute) else ""
    random = drawn.startswith(("random.", "numpy.random.", "torch.rand", "torch.normal", "torch.bernoulli"))
    drawing = name in (
        "choice",
        "choices",
        "randint",
        "random",
        "integers",
        "normal",
        "uniform",
        "sample",
        "exponential_",
    )
    return (random or drawing) and name not in ("shuffle", "permutation", "randperm", "seed", "Random", "default_rng")


def _is_common(
    machine: Machine,
    instance: Instance,
    owner: Class,
    function: cst.FunctionDef,
    node: cst.BaseExpression,
    depth: int,
) -> bool:
    """Whether an expression in a data set's method has the same value in every worker."""
    if depth > 8:
        return False

    def common(one: cst.BaseExpression) -> bool:
        return _is_common(machine, instance, owner, function, one, depth + 1)

    name = self_attribute(node)
    if name is not None:
        held = machine.store.get(instance, name)
        if isinstance(held, Opaque):
            return held.name.startswith(SAME_IN_EVERY_WORKER)
        return isinstance(held, (Sequence, Iterated, Tensor, Constant, Configured, Mapping))
    if isinstance(node, cst.Subscript):
        return common(node.value)
    if isinstance(node, (cst.List, cst.Tuple, cst.SimpleString)):
        return True
    if isinstance(node, cst.Name):
        bound = list(_bindings(function, node.value))
        return bool(bound) and all(one is None or common(one) for one in bound)
    if not isinstance(node, cst.Call):
        return False
    method = self_attribute(node.func)
    if method is not None:
        return method in sample_methods(instance.cls)
    if isinstance(node.func, cst.Attribute) and node.func.attr.value in GIVES_CONTENTS:
        return common(node.func.value)
    callee = value_of(machine, owner.scope.globals, node.func)
    if not isinstance(callee, Qualified):
        return False
    if callee.name in FEEDS:
        fed = node.args[1:] if callee.name in ("map", "filter") else node.args
        return all(common(arg.value) for arg in fed if not isinstance(arg.value, (cst.Integer, cst.Lambda)))
    return callee.name.startswith(SAME_IN_EVERY_WORKER)


def _bindings(function: cst.FunctionDef, name: str) -> Iterator[cst.BaseExpression | None]:
    """The expressions that a local name is bound to; None for a loop's target, whose iterable is looked at itself."""
    for node in descendants(function.body):
        if isinstance(node, (cst.For, cst.CompFor)):
            if any(one.value == name for one in descendants(node.target, cst.Name)):
                yield None
        elif isinstance(node, cst.WithItem):
            if node.asname is not None and isinstance(node.asname.name, cst.Name) and node.asname.name.value == name:
                yield node.item
        elif isinstance(node, cst.Assign) and any(
            one.value == name for target in node.targets for one in descendants(target.target, cst.Name)
        ):
            yield node.value
