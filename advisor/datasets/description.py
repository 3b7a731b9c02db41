"""What is known of a data set."""

from __future__ import annotations

import re
from collections.abc import Set
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.datasets.sample_cost import SampleCost, sample_cost
from accel_advisor.datasets.sample_places import (
    holds_elsewhere,
    is_elsewhere,
    made_on_host,
    read_on_host,
    uses_accelerator,
)
from accel_advisor.datasets.streams import knows_its_rank, may_differ_by_rank, reads_everything, stream_veto
from accel_advisor.datasets.transformed_samples import describe_transformed
from accel_advisor.datasets.worker_state import held_objects, state_vetoes
from accel_advisor.interpreter.resolution import class_member
from accel_advisor.records.dataset_facts import Cost, DatasetFacts, Veto, VetoKind
from accel_advisor.syntax.shapes import dotted, self_attribute
from accel_advisor.syntax.walking import descendants
from accel_advisor.tables.known_datasets import (
    ANY_VISION_DATASET,
    DATASET_WRAPPERS,
    DISK_DATASETS,
    GRAPHS_IN_FILES,
    MEMORY_DATASETS,
    STORED_DATASETS,
)
from accel_advisor.values.values import (
    UNKNOWN,
    Choice,
    Class,
    Constant,
    Function,
    Instance,
    Iterated,
    Opaque,
    Sequence,
    Tensor,
    Value,
    options_of,
)

if TYPE_CHECKING:
    from accel_advisor.interpreter.abstract_machine import Machine


IN_MEMORY = Veto(VetoKind.MEMORY, "its samples are in memory already")

_DEEPEST = 4
"""Data sets within each other."""
_IN_ONE_WAY = ", in one of the ways in which it is built"
_ENCODES = re.compile(r"tokeni[sz]er|^tok$|processor|extractor", re.IGNORECASE)
"""Names of what makes a batch whose class the default collate function keeps."""


def describe_dataset(machine: Machine, value: Value) -> DatasetFacts:
    """What a data set's value says about its samples."""
    found, recorder = _described(machine, value), machine.recorder
    changes = _is_one_of(machine, value, recorder.written.keys() | recorder.changed)
    adjusted = _is_one_of(machine, value, recorder.adjusted.keys())
    return replace(found, changes=found.changes or changes, adjusted=found.adjusted or adjusted)


def _is_one_of(machine: Machine, value: Value, classes: Set[Class], depth: int = 0) -> bool:
    """Whether an object, or one that it is made with, is of one of these classes."""
    if depth > _DEEPEST or not classes:
        return False
    parts: list[Value] = []
    for one in options_of(value):
        if isinstance(one, Instance):
            if one.cls in classes:
                return True
            parts += machine.store.entries(one).values()
        elif isinstance(one, Opaque):
            parts += [*one.arguments, *(held for _, held in one.keywords)]
        elif isinstance(one, Sequence):
            parts += one.items
    return any(_is_one_of(machine, one, classes, depth + 1) for one in parts)


def _described(machine: Machine, value: Value) -> DatasetFacts:
    if isinstance(value, Choice):
        found = [describe_dataset(machine, one) for one in value.options]
        if not found:
            return DatasetFacts(value)
        cost: Cost
        first = found[0]
        working = [one for one in found if one.cost in ("costly", "light")]
        if all(one.cost == first.cost for one in found):
            cost, reason = first.cost, first.reason
        elif working:
            cost, reason = "light", f"{working[0].reason.removesuffix(_IN_ONE_WAY)}{_IN_ONE_WAY}"
        else:
            cost, reason = "unknown", ""
        # that samples are in memory in one way is no reason against workers in another
        kept = [veto for one in found for veto in one.vetoes if not (working and veto.kind is VetoKind.MEMORY)]
        vetoes = tuple(dict.fromkeys(kept))
        return DatasetFacts(
            value,
            cost,
            reason,
            vetoes,
            all(one.plain for one in found),
            any(one.on_device for one in found),
            iterable=any(one.iterable for one in found),
            changes=any(one.changes for one in found),
            adjusted=any(one.adjusted for one in found),
            on_host=all(one.on_host for one in found),
            decodes=cost == "costly" and first.decodes,
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
        return DatasetFacts(value, "costly", words, plain=True, ranked=False, on_host=on_host, decodes=True)
    if value.name in MEMORY_DATASETS:
        name = value.name.rpartition(".")[2]
        words = f"`{name}` is in memory and runs its transform for each sample"
        return DatasetFacts(value, "light", words, plain=True, ranked=False, on_host=on_host)
    if value.name == ANY_VISION_DATASET and "transform" in dict(value.keywords):
        words = "whichever of `torchvision.datasets` it is, it runs its transform for each sample"
        return DatasetFacts(value, "light", words, plain=True, ranked=False, on_host=on_host)
    library, _, name = value.name.rpartition(".")
    if value.name in STORED_DATASETS:
        return DatasetFacts(value, "costly", f"`{name}` reads from files for each sample")
    if library == "torch_geometric.datasets" and name not in GRAPHS_IN_FILES:
        if "transform" in dict(value.keywords):
            return DatasetFacts(value, "light", f"`{name}` is in memory and runs its transform for each sample")
        return DatasetFacts(value, "memory", f"`{name}` is in memory", (IN_MEMORY,))
    return describe_transformed(value) or DatasetFacts(value)


def _project(machine: Machine, value: Instance) -> DatasetFacts:
    cls = value.cls
    bases = cls.library_bases()
    iterable = any(base.endswith("IterableDataset") for base in bases)
    if any(base in DISK_DATASETS for base in bases):
        reading = next(base for base in sorted(bases) if base in DISK_DATASETS).rpartition(".")[2]
        words = f"`{cls.name}` is a `{reading}`, which reads and decodes a file for each sample"
        made = SampleCost("costly", words, decodes=True)
    else:
        made = sample_cost(machine, value)
    vetoes = state_vetoes(machine, cls)
    stream = stream_veto(machine, value) if iterable else None
    if stream is not None:
        vetoes.append(stream)
    if cls in machine.recorder.written:
        names = ", ".join(sorted(machine.recorder.written[cls]))
        words = f"its attribute {names} is assigned from outside, which workers would not see"
        vetoes.append(Veto(VetoKind.WRITTEN, words))
    if made.cost == "memory":
        vetoes.append(IN_MEMORY)
    if _has_one_sample(machine, value):
        vetoes.append(Veto(VetoKind.SINGLE, "it has one sample, which one worker would make"))
    plain = "?" not in bases and not any(_encodes(one.node) for one in cls.lineage())
    on_device = any(uses_accelerator(machine, one) for one in cls.lineage())
    on_device |= is_elsewhere(machine, machine.recorder.samples.get(value, UNKNOWN)) or holds_elsewhere(machine, value)
    ranked = knows_its_rank(cls)
    unknown = any(map(may_differ_by_rank, machine.store.entries(value).values()))
    whole = iterable and not ranked and not unknown and reads_everything(machine, value)
    return DatasetFacts(
        value,
        made.cost,
        made.reason,
        tuple(vetoes),
        plain,
        on_device,
        tensors=not _is_text(machine.recorder.samples.get(value, UNKNOWN)),
        iterable=iterable,
        ranked=ranked,
        whole=whole,
        objects=held_objects(machine, cls),
        on_host=not on_device and read_on_host(machine, value, made.cost == "costly"),
        decodes=made.decodes,
    )


def _has_one_sample(machine: Machine, dataset: Value, depth: int = 0) -> bool:
    """Whether the length of a data set is written as 1, or is that of another one that it holds."""
    length = class_member(machine, dataset.cls, "__len__") if isinstance(dataset, Instance) else None
    if not isinstance(length, Function) or depth > _DEEPEST or not isinstance(length.node, cst.FunctionDef):
        return False
    returned = [one.value for one in descendants(length.node.body, cst.Return)]
    given = returned[0] if len(returned) == 1 else None
    if isinstance(given, cst.Integer):
        return given.evaluated_value == 1
    counted = (
        given.args[0].value if isinstance(given, cst.Call) and dotted(given.func) == "len" and given.args else None
    )
    held = self_attribute(counted) if counted is not None else None
    inner = machine.store.get(dataset, held) if held is not None else None
    options = options_of(inner) if inner is not None else ()
    return bool(options) and all(_has_one_sample(machine, one, depth + 1) for one in options)


@lru_cache(maxsize=512)
def _encodes(cls: cst.ClassDef) -> bool:
    """Whether a class mentions, by its name, what makes a batch whose class the default collate function keeps."""
    return any(_ENCODES.search(one.value) is not None for one in descendants(cls, cst.Name))


def _is_text(samples: Value) -> bool:
    """Whether nothing that ``__getitem__`` gives can be pinned: strings, and pictures that are no tensors."""
    return isinstance(samples, Sequence) and bool(samples.items) and _has_no_numbers(samples.items[0])


def _has_no_numbers(value: Value) -> bool:
    if isinstance(value, Sequence):
        return all(_has_no_numbers(one) for one in value.items)
    if isinstance(value, Opaque):
        return value.name in ("open", "PIL.Image.open", "str", "format")
    return isinstance(value, Constant) and isinstance(value.value, str)
