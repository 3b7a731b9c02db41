"""What a data set's samples cost, and what stands in the way of loading them in workers (rules.md D01, D02)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import libcst as cst

from .catalog import (
    DATASET_WRAPPERS,
    DISK_DATASETS,
    HANDLES,
    MEMORY_DATASETS,
    RANDOM_STATES,
    SAMPLE_COSTS,
    TENSOR_FACTORIES,
)
from .devices import device_kinds
from .syntax import descendants, methods_of, self_attribute
from .values import UNKNOWN, Choice, Class, Function, Instance, Iterated, Opaque, Qualified, Sequence, Value

if TYPE_CHECKING:
    from .interpreter import Interpreter
    from .scope import Scope

Cost = Literal["costly", "light", "memory", "unknown"]


@dataclass(frozen=True, slots=True)
class DatasetFacts:
    """What is known of a data set.

    Attributes:
        value: the expression's value that this was read from.
        cost: ``costly`` reads or decodes for each sample, ``light`` computes a little, ``memory`` only indexes.
        reason: what a sample costs, in words that can stand in a message; empty where nothing is known.
        vetoes: why workers would break it or gain nothing, in words; empty where nothing speaks against them.
        plain: whether its samples are known to be tensors, numbers and containers of them.
        on_device: whether its samples are on an accelerator already.
        tensors: whether its samples hold anything that can be pinned.
    """

    value: Value
    cost: Cost = "unknown"
    reason: str = ""
    vetoes: tuple[str, ...] = ()
    plain: bool = False
    on_device: bool = False
    tensors: bool = True
    iterable: bool = False


def describe_dataset(machine: Interpreter, value: Value) -> DatasetFacts:
    """What a data set's value says about its samples."""
    if isinstance(value, Choice):
        found = [describe_dataset(machine, one) for one in value.options]
        if not found:
            return DatasetFacts(value)
        first = found[0]
        same = all(one.cost == first.cost for one in found)
        vetoes = tuple(dict.fromkeys(veto for one in found for veto in one.vetoes))
        return DatasetFacts(
            value,
            first.cost if same else "unknown",
            first.reason if same else "",
            vetoes,
            all(one.plain for one in found),
            any(one.on_device for one in found),
            iterable=any(one.iterable for one in found),
        )
    if isinstance(value, Opaque):
        return _library(machine, value)
    if isinstance(value, Instance):
        return _project(machine, value)
    if isinstance(value, (Sequence, Iterated)):
        return DatasetFacts(value, "memory", "is a list in memory", ("its samples are in memory already",))
    return DatasetFacts(value)


def _library(machine: Interpreter, value: Opaque) -> DatasetFacts:
    if value.name in DATASET_WRAPPERS:
        index = DATASET_WRAPPERS[value.name]
        inner = value.arguments[index] if index < len(value.arguments) else UNKNOWN
        if value.name.endswith("ConcatDataset") and isinstance(inner, Sequence) and inner.items:
            inner = inner.items[0]
        facts = describe_dataset(machine, inner)
        return DatasetFacts(
            value, facts.cost, facts.reason, facts.vetoes, facts.plain, facts.on_device, facts.tensors, facts.iterable
        )
    if value.name == "torch.utils.data.TensorDataset":
        from .places import HOST
        from .values import Tensor

        tensors = [one for one in value.arguments if isinstance(one, Tensor)]
        elsewhere = any(one.place != HOST for one in tensors) or len(tensors) < len(value.arguments)
        return DatasetFacts(
            value, "memory", "indexes tensors in memory", ("its samples are in memory already",), True, elsewhere
        )
    if value.name in DISK_DATASETS:
        name = value.name.rpartition(".")[2]
        return DatasetFacts(value, "costly", f"`{name}` reads and decodes a file for each sample", plain=True)
    if value.name in MEMORY_DATASETS:
        name = value.name.rpartition(".")[2]
        return DatasetFacts(value, "light", f"`{name}` is in memory and runs its transform for each sample", plain=True)
    return DatasetFacts(value)


def _project(machine: Interpreter, value: Instance) -> DatasetFacts:
    cls = value.cls
    vetoes: list[str] = []
    bases = cls.library_bases()
    iterable = any(base.endswith("IterableDataset") for base in bases)
    cost: Cost
    if any(base in DISK_DATASETS for base in bases):
        reading = next(base for base in sorted(bases) if base in DISK_DATASETS).rpartition(".")[2]
        cost, reason = "costly", f"`{cls.name}` is a `{reading}`, which reads and decodes a file for each sample"
    else:
        cost, reason = _sample_cost(machine, cls)
    vetoes += _vetoes(machine, cls)
    if iterable and not _mentions(cls, "get_worker_info"):
        vetoes.append("it is an IterableDataset that does not share its samples out among workers")
    if cls in machine.recorder.written:
        names = ", ".join(sorted(machine.recorder.written[cls]))
        vetoes.append(f"its attribute {names} is assigned from outside, which workers would not see")
    if cost == "memory":
        vetoes.append("its samples are in memory already")
    plain = (
        not any(
            isinstance(node, cst.Name) and "tokenizer" in node.value.lower()
            for one in cls.lineage()
            for node in descendants(one.node)
        )
        and "?" not in bases
    )
    on_device = any(_uses_accelerator(machine, one) for one in cls.lineage())
    return DatasetFacts(value, cost, reason, tuple(vetoes), plain, on_device, iterable=iterable)


def _mentions(cls: Class, name: str) -> bool:
    return any(
        isinstance(node, cst.Name) and node.value == name for one in cls.lineage() for node in descendants(one.node)
    )


def _resolve(machine: Interpreter, scope: Scope, node: cst.BaseExpression) -> Value:
    """What a dotted name is worth, seen from a module's globals."""
    from .calls import attribute

    with machine.entered(None, scope, machine.store.level):
        if isinstance(node, cst.Name):
            return machine.lookup(node.value)
        if isinstance(node, cst.Attribute):
            owner = _resolve(machine, scope, node.value)
            return attribute(machine, owner, node.attr.value) if isinstance(owner, Qualified) else UNKNOWN
    return UNKNOWN


def _sample_cost(machine: Interpreter, cls: Class) -> tuple[Cost, str]:
    table: dict[str, tuple[Class, cst.FunctionDef]] = {}
    for one in reversed(cls.lineage()):
        table.update({name: (one, node) for name, node in methods_of(one.node).items()})
    entrances = ("__getitem__", "__getitems__", "__iter__")
    pending: list[str] = [name for name in entrances if name in table]
    if not pending:
        return "unknown", ""
    seen: set[str] = set()
    calls = light = False
    while pending:
        name = pending.pop()
        if name in seen:
            continue
        seen.add(name)
        owner, function = table[name]
        for node in descendants(function.body):
            if not isinstance(node, cst.Call):
                continue
            attribute = self_attribute(node.func)
            if attribute is not None:
                if attribute in table:
                    pending.append(attribute)
                else:
                    light = True
                continue
            callee = _resolve(machine, owner.scope.globals, node.func)
            if isinstance(callee, Qualified):
                cost = SAMPLE_COSTS.get(callee.name)
                if cost is not None:
                    return "costly", f"`{cls.name}.{name}` {cost} for each sample (`{_text(node.func)}`)"
                light |= callee.name not in ("len", "int", "range", "float") and callee.name not in TENSOR_FACTORIES
            elif isinstance(callee, Function) and callee.owner is None:
                found = _function_cost(machine, callee)
                if found is not None:
                    return "costly", f"`{cls.name}.{name}` {found} for each sample (through `{callee.name}`)"
                light = True
            else:
                calls = True
    if light or calls:
        return "light" if light and not calls else "unknown", ""
    return "memory", f"`{cls.name}` indexes data in memory"


def _function_cost(machine: Interpreter, function: Function) -> str | None:
    for node in descendants(function.node.body):
        if isinstance(node, cst.Call):
            callee = _resolve(machine, function.scope.globals, node.func)
            if isinstance(callee, Qualified) and callee.name in SAMPLE_COSTS:
                return SAMPLE_COSTS[callee.name]
    return None


def _text(node: cst.BaseExpression) -> str:
    from .imports import dotted

    return dotted(node)


def _vetoes(machine: Interpreter, cls: Class) -> list[str]:
    found: list[str] = []
    for one in cls.lineage():
        for name, function in methods_of(one.node).items():
            for node in descendants(function):
                if not isinstance(node, (cst.Assign, cst.AnnAssign)) or node.value is None:
                    continue
                targets = [t.target for t in node.targets] if isinstance(node, cst.Assign) else [node.target]
                for target in targets:
                    if name == "__init__" and self_attribute(target) is not None:
                        found += _handle(machine, one, target, node.value)
                    cached = isinstance(target, cst.Subscript) and self_attribute(target.value) is not None
                    if name != "__init__" and cached and _reached_from_getitem(one, name):
                        found.append("it caches samples in the process, and every worker would have a cache of its own")
            for decorator in function.decorators:
                if _text(decorator.decorator).endswith(("lru_cache", "cache")):
                    found.append("it caches samples in the process, and every worker would have a cache of its own")
    return list(dict.fromkeys(found))


def _reached_from_getitem(cls: Class, name: str) -> bool:
    methods = methods_of(cls.node)
    pending: list[str] = [one for one in ("__getitem__", "__iter__") if one in methods]
    seen: set[str] = set()
    while pending:
        method = pending.pop()
        if method in seen:
            continue
        seen.add(method)
        for node in descendants(methods[method].body):
            called = self_attribute(node.func) if isinstance(node, cst.Call) else None
            if called in methods:
                pending.append(str(called))
    return name in seen


def _handle(machine: Interpreter, cls: Class, target: cst.BaseExpression, value: cst.BaseExpression) -> list[str]:
    if not isinstance(value, cst.Call):
        return []
    callee = _resolve(machine, cls.scope.globals, value.func)
    if not isinstance(callee, Qualified):
        return []
    name = self_attribute(target)
    if callee.name in HANDLES:
        return [f"it opens `self.{name}` before the workers start, which would share the handle"]
    if callee.name in RANDOM_STATES:
        return [f"it keeps a random generator in `self.{name}`, of which every worker would get the same copy"]
    return []


def _uses_accelerator(machine: Interpreter, cls: Class) -> bool:
    for node in descendants(cls.node):
        if not isinstance(node, cst.Call):
            continue
        if isinstance(node.func, cst.Attribute):
            if node.func.attr.value == "cuda":
                return True
            if node.func.attr.value == "to" and node.args:
                value = node.args[0].value
                known = (
                    _resolve(machine, cls.scope.globals, value)
                    if isinstance(value, (cst.Name, cst.Attribute))
                    else UNKNOWN
                )
                if isinstance(value, cst.SimpleString) and str(value.evaluated_value).startswith("cuda"):
                    return True
                if "cuda" in device_kinds(known):
                    return True
                if self_attribute(value) is not None and self_attribute(value) in ("device", "dev", "gpu"):
                    return True
        if any(arg.keyword is not None and arg.keyword.value == "device" for arg in node.args):
            return True
    return False
