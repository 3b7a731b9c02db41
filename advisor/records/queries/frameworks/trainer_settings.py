"""The settings of a transformers Trainer, and what the program does to them later."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.records.actions import AnyCall, Call, calls
from accel_advisor.syntax.shapes import methods_of, names_read_in
from accel_advisor.syntax.walking import descendants
from accel_advisor.tables.frameworks import TRAINING_ARGUMENTS

if TYPE_CHECKING:
    from accel_advisor.records.facts import Facts
    from accel_advisor.records.operations import Operation

_LOADS = calls("datasets.load_dataset", "datasets.load_from_disk")
_TRANSFORMS = frozenset({"set_transform", "with_transform"})
_BETWEEN = frozenset({"on_epoch_begin", "on_epoch_end"})
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
    return facts.does(*_STREAMS) or _derives(facts, "IterableDataset")


def prepares_beforehand(facts: Facts) -> bool:
    """Whether the program makes the samples of its data sets before the training, so that little is left to workers:
    it maps a function over them, and neither transforms them when they are read nor has a data set of its own."""
    if not facts.does(*_LOADS) or _derives(facts, "Dataset"):
        return False
    called = frozenset().union(*(one.document.once(_methods_called) for one in facts.program))
    return "map" in called and called.isdisjoint(_TRANSFORMS)


def acts_between_epochs(facts: Facts) -> bool:
    """Whether a callback of the program does something when an epoch begins or ends."""
    return any(one.document.once(_has_callback_of_epochs) for one in facts.program)


def _derives(facts: Facts, name: str) -> bool:
    """Whether a class of the program names a base so."""
    return any(name in one.document.once(_named_as_bases) for one in facts.program)


def _has_callback_of_epochs(tree: cst.Module) -> bool:
    return any(
        any("TrainerCallback" in base for base in _bases(one)) and _BETWEEN & methods_of(one).keys()
        for one in descendants(tree, cst.ClassDef)
    )


def _named_as_bases(tree: cst.Module) -> frozenset[str]:
    return frozenset().union(*map(_bases, descendants(tree, cst.ClassDef)))


def _methods_called(tree: cst.Module) -> frozenset[str]:
    called = (one.func for one in descendants(tree, cst.Call))
    return frozenset(one.attr.value for one in called if isinstance(one, cst.Attribute))


def _bases(node: cst.ClassDef) -> frozenset[str]:
    return frozenset().union(*(names_read_in(base.value) for base in node.bases))
