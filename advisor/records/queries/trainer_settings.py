"""The settings of a transformers Trainer, and what the program does to them later."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.records.actions import AnyCall, Call, calls
from accel_advisor.syntax.shapes import methods_of, names_read_in
from accel_advisor.syntax.walking import descendants
from accel_advisor.tables.frameworks import TRAINING_ARGUMENTS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from accel_advisor.records.facts import Facts
    from accel_advisor.records.operations import Operation

_LOADS = calls("datasets.load_dataset", "datasets.load_from_disk")
_TRANSFORMS = frozenset({"set_transform", "with_transform"})
_STREAMS = (
    AnyCall("to_iterable_dataset"),
    *calls("datasets.IterableDataset.from_generator", "datasets.IterableDataset.from_file"),
)


def settings(facts: Facts) -> list[Operation]:
    """The calls in a document that make the settings of a Trainer."""
    return facts.operations_of(*calls(*TRAINING_ARGUMENTS))


def leaves_out(facts: Facts, call: Operation, name: str) -> bool:
    """Whether a setting is given neither in the call nor later, by an assignment or ``set_dataloader``."""
    if not call.lacks(name) or (name.startswith("dataloader_") and facts.does(AnyCall("set_dataloader"))):
        return False
    return not any(name in one.assigned for one in facts.program)


def stays_on_host(call: Operation) -> bool:
    """Whether the Trainer is set to use no accelerator."""
    return call.gives("use_cpu", True) or call.gives("no_cuda", True)


def streams(facts: Facts) -> bool:
    """Whether the program has a data set that is read as a stream, which workers may read twice, or cannot share."""
    loads = facts.program.operations_of(Call("datasets.load_dataset"))
    if any(not one.lacks("streaming") and not one.gives("streaming", False) for one in loads):
        return True
    return facts.does(*_STREAMS) or any(_bases(one) & {"IterableDataset"} for one in _classes(facts))


def prepares_beforehand(facts: Facts) -> bool:
    """Whether the program makes the samples of its data sets before the training, so that little is left to workers:
    it maps a function over them, and neither transforms them when they are read nor has a data set of its own."""
    if not facts.does(*_LOADS) or any(_bases(one) & {"Dataset"} for one in _classes(facts)):
        return False
    calls_in = (one for each in facts.program for one in descendants(each.document.tree, cst.Call))
    called = {one.func.attr.value for one in calls_in if isinstance(one.func, cst.Attribute)}
    return "map" in called and called.isdisjoint(_TRANSFORMS)


def acts_between_epochs(facts: Facts) -> bool:
    """Whether a callback of the program does something when an epoch begins or ends."""
    return any(
        any("TrainerCallback" in base for base in _bases(one)) and _BETWEEN & methods_of(one).keys()
        for one in _classes(facts)
    )


_BETWEEN = frozenset({"on_epoch_begin", "on_epoch_end"})


def _classes(facts: Facts) -> Iterator[cst.ClassDef]:
    return (node for one in facts.program for node in descendants(one.document.tree, cst.ClassDef))


def _bases(node: cst.ClassDef) -> frozenset[str]:
    return frozenset().union(*(names_read_in(base.value) for base in node.bases))
