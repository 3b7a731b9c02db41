"""What a data set's samples cost, and what stands in the way of loading them in workers (rules.md D01, D02)."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.datasets.hazards import (
    held_objects,
    held_vetoes,
    knows_its_rank,
    may_differ_by_rank,
    reads_everything,
    sample_methods,
    stream_veto,
)
from accel_advisor.datasets.sample_places import made_on_host, read_on_host
from accel_advisor.datasets.samples import is_elsewhere
from accel_advisor.interpreter.resolution import value_of
from accel_advisor.records.dataset_facts import Cost, DatasetFacts, Veto
from accel_advisor.syntax.shapes import dotted, self_attribute
from accel_advisor.syntax.walking import descendants
from accel_advisor.tables.known_datasets import (
    DATASET_WRAPPERS,
    DISK_DATASETS,
    GRAPHS_IN_FILES,
    MEMORY_DATASETS,
    STORED_DATASETS,
)
from accel_advisor.tables.sample_work import SAMPLE_COSTS
from accel_advisor.tables.torch_functions import TENSOR_FACTORIES
from accel_advisor.values.devices import device_kinds
from accel_advisor.values.values import (
    UNKNOWN,
    Choice,
    Class,
    Constant,
    Function,
    Instance,
    Iterated,
    Opaque,
    Qualified,
    Sequence,
    Tensor,
    Value,
    options_of,
)

if TYPE_CHECKING:
    from accel_advisor.interpreter.abstract_machine import Machine

IN_MEMORY = Veto("memory", "its samples are in memory already")
_ENCODES = re.compile(r"tokeni[sz]er|^tok$|processor|extractor", re.IGNORECASE)
"""Names of what makes a batch whose class the default collate function keeps."""


def describe_dataset(machine: Machine, value: Value) -> DatasetFacts:
    """What a data set's value says about its samples."""
    found = _described(machine, value)
    return replace(found, changes=found.changes or _changes(machine, value))


def _changes(machine: Machine, value: Value, depth: int = 0) -> bool:
    """Whether the program changes an object, or one that it is made with, while it is in use."""
    if depth > 4:
        return False
    parts: list[Value] = []
    for one in options_of(value):
        if isinstance(one, Instance):
            if one.cls in machine.recorder.written or one.cls in machine.recorder.changed:
                return True
            parts += machine.store.entries(one).values()
        elif isinstance(one, Opaque):
            parts += [*one.arguments, *(held for _, held in one.keywords)]
        elif isinstance(one, Sequence):
            parts += one.items
    return any(_changes(machine, one, depth + 1) for one in parts)


def _described(machine: Machine, value: Value) -> DatasetFacts:
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
            changes=any(one.changes for one in found),
            on_host=all(one.on_host for one in found),
        )
    if isinstance(value, Opaque):
        return _library(machine, value)
    if isinstance(value, Instance):
        return _project(machine, value)
    if isinstance(value, (Sequence, Iterated)):
        there = is_elsewhere(machine, value)
        return DatasetFacts(value, "memory", "is a list in memory", (IN_MEMORY,), on_device=there)
    if isinstance(value, Tensor):
        return DatasetFacts(value, "memory", "is a tensor", (IN_MEMORY,), on_device=is_elsewhere(machine, value))
    return DatasetFacts(value)


def _library(machine: Machine, value: Opaque) -> DatasetFacts:
    if value.name in DATASET_WRAPPERS:
        index = DATASET_WRAPPERS[value.name]
        inner = value.arguments[index] if index < len(value.arguments) else UNKNOWN
        if value.name.endswith("ConcatDataset") and isinstance(inner, Sequence) and inner.items:
            inner = inner.items[0]
        # which part of the data a wrapper leaves may depend on the process
        return replace(describe_dataset(machine, inner), value=value, ranked=True, whole=False)
    if value.name == "torch.utils.data.TensorDataset":
        from accel_advisor.values.places import HOST

        tensors = [one for one in value.arguments if isinstance(one, Tensor)]
        elsewhere = any(one.place != HOST for one in tensors) or len(tensors) < len(value.arguments)
        words = "indexes tensors in memory"
        return DatasetFacts(value, "memory", words, (IN_MEMORY,), True, elsewhere, on_host=not elsewhere)
    if value.name in ("range", "list", "tuple") or value.name.startswith("numpy."):
        return DatasetFacts(value, "memory", "is in memory", (IN_MEMORY,))
    on_host = made_on_host(machine, value)
    if value.name in DISK_DATASETS:
        name = value.name.rpartition(".")[2]
        words = f"`{name}` reads and decodes a file for each sample"
        return DatasetFacts(value, "costly", words, plain=True, ranked=False, on_host=on_host)
    if value.name in MEMORY_DATASETS:
        name = value.name.rpartition(".")[2]
        words = f"`{name}` is in memory and runs its transform for each sample"
        return DatasetFacts(value, "light", words, plain=True, ranked=False, on_host=on_host)
    library, _, name = value.name.rpartition(".")
    if value.name in STORED_DATASETS:
        return DatasetFacts(value, "costly", f"`{name}` reads from files for each sample")
    if library == "torch_geometric.datasets" and name not in GRAPHS_IN_FILES:
        if "transform" in dict(value.keywords):
            return DatasetFacts(value, "light", f"`{name}` is in memory and runs its transform for each sample")
        return DatasetFacts(value, "memory", f"`{name}` is in memory", (IN_MEMORY,))
    return DatasetFacts(value)


def _project(machine: Machine, value: Instance) -> DatasetFacts:
    cls = value.cls
    bases = cls.library_bases()
    iterable = any(base.endswith("IterableDataset") for base in bases)
    cost: Cost
    if any(base in DISK_DATASETS for base in bases):
        reading = next(base for base in sorted(bases) if base in DISK_DATASETS).rpartition(".")[2]
        cost, reason = "costly", f"`{cls.name}` is a `{reading}`, which reads and decodes a file for each sample"
    else:
        cost, reason = _sample_cost(machine, cls)
    vetoes = _vetoes(machine, cls)
    stream = stream_veto(machine, value) if iterable else None
    if stream is not None:
        vetoes.append(stream)
    if cls in machine.recorder.written:
        names = ", ".join(sorted(machine.recorder.written[cls]))
        words = f"its attribute {names} is assigned from outside, which workers would not see"
        vetoes.append(Veto("written", words))
    if cost == "memory":
        vetoes.append(IN_MEMORY)
    plain = (
        not any(
            isinstance(node, cst.Name) and _ENCODES.search(node.value) is not None
            for one in cls.lineage()
            for node in descendants(one.node)
        )
        and "?" not in bases
    )
    on_device = any(_uses_accelerator(machine, one) for one in cls.lineage())
    on_device |= is_elsewhere(machine, machine.recorder.samples.get(value, UNKNOWN))
    ranked = knows_its_rank(cls)
    unknown = any(map(may_differ_by_rank, machine.store.entries(value).values()))
    whole = iterable and not ranked and not unknown and reads_everything(machine, value)
    return DatasetFacts(
        value,
        cost,
        reason,
        tuple(vetoes),
        plain,
        on_device,
        tensors=not _is_text(machine.recorder.samples.get(value, UNKNOWN)),
        iterable=iterable,
        ranked=ranked,
        whole=whole,
        objects=held_objects(machine, cls),
        on_host=not on_device and read_on_host(machine, value, cost == "costly"),
    )


def _is_text(samples: Value) -> bool:
    """Whether nothing that ``__getitem__`` gives can be pinned: strings, and pictures that are no tensors."""
    return isinstance(samples, Sequence) and bool(samples.items) and _has_no_numbers(samples.items[0])


def _has_no_numbers(value: Value) -> bool:
    if isinstance(value, Sequence):
        return all(_has_no_numbers(one) for one in value.items)
    if isinstance(value, Opaque):
        return value.name in ("open", "PIL.Image.open", "str", "format")
    return isinstance(value, Constant) and isinstance(value.value, str)


def _sample_cost(machine: Machine, cls: Class) -> tuple[Cost, str]:
    methods = sample_methods(cls)
    if not methods:
        return "unknown", ""
    calls = light = False
    for name, (owner, function) in methods.items():
        for node in descendants(function.body, cst.Call):
            attribute = self_attribute(node.func)
            if attribute is not None:
                light |= attribute not in methods
                continue
            callee = value_of(machine, owner.scope.globals, node.func)
            if isinstance(callee, Qualified):
                cost = SAMPLE_COSTS.get(callee.name)
                if cost is not None:
                    return "costly", f"`{cls.name}.{name}` {cost} for each sample (`{dotted(node.func)}`)"
                light |= callee.name not in ("len", "int", "range", "float") and callee.name not in TENSOR_FACTORIES
            elif isinstance(callee, Function) and callee.owner is None:
                found = _function_cost(machine, callee)
                if found is not None:
                    return "costly", f"`{cls.name}.{name}` {found} for each sample (through `{callee.name}`)"
                light = True
            else:
                calls = True
    if light or calls:
        return "light" if light and not calls else "unknown", f"`{cls.name}` computes each sample"
    return "memory", f"`{cls.name}` indexes data in memory"


def _function_cost(machine: Machine, function: Function) -> str | None:
    for node in descendants(function.node.body, cst.Call):
        callee = value_of(machine, function.scope.globals, node.func)
        if isinstance(callee, Qualified) and callee.name in SAMPLE_COSTS:
            return SAMPLE_COSTS[callee.name]
    return None


def _vetoes(machine: Machine, cls: Class) -> list[Veto]:
    found = held_vetoes(machine, cls)
    asked = ", ".join(sorted(_asked_for(machine, cls)))
    if asked:
        found.append(Veto("written", f"code outside of it asks for {asked}, which workers would set for themselves"))
    for owner, function in sample_methods(cls).values():
        if _is_cached(function) or any(map(_fills, descendants(function))) or _calls_cached(machine, owner, function):
            words = "it caches samples in the process, and every worker would have a cache of its own"
            found.append(Veto("cache", words, document=owner.document, node=function))
        elif any(self_attribute(node.target) is not None for node in descendants(function, cst.AugAssign)):
            words = "it counts in the process, and every worker would count for itself"
            found.append(Veto("written", words, document=owner.document, node=function))
    return found


def _asked_for(machine: Machine, cls: Class) -> set[str]:
    """Attributes that making a sample assigns, and that other code asks for: in the process, it would not see them."""
    assigned = {
        name
        for _, function in sample_methods(cls).values()
        for one in descendants(function.body, cst.AssignTarget)
        if isinstance(one, cst.AssignTarget) and (name := self_attribute(one.target)) is not None
    }
    asked = {name for owner in (None, *cls.lineage()) for name in machine.recorder.asked.get(owner, ())}
    return assigned & asked


def _is_cached(function: cst.FunctionDef) -> bool:
    decorators = [one.decorator for one in function.decorators]
    names = [dotted(one.func if isinstance(one, cst.Call) else one) for one in decorators]
    return any(name.endswith(("lru_cache", "cache", "memoize")) for name in names)


def _calls_cached(machine: Machine, owner: Class, function: cst.FunctionDef) -> bool:
    called = (value_of(machine, owner.scope.globals, node.func) for node in descendants(function, cst.Call))
    return any(
        isinstance(one, Function) and isinstance(one.node, cst.FunctionDef) and _is_cached(one.node) for one in called
    )


def _fills(node: cst.CSTNode) -> bool:
    """Whether something puts an entry into an attribute of the data set."""
    if isinstance(node, cst.AssignTarget):
        return isinstance(node.target, cst.Subscript) and self_attribute(node.target.value) is not None
    if not isinstance(node, cst.Call) or not isinstance(node.func, cst.Attribute):
        return False
    return node.func.attr.value in _FILLS and self_attribute(node.func.value) is not None


_FILLS = frozenset({"update", "setdefault", "append", "extend", "add"})


def _uses_accelerator(machine: Machine, cls: Class) -> bool:
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
        if any(arg.keyword is not None and arg.keyword.value == "device" for arg in node.args):
            return True
    return False
