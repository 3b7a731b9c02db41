"""Trainers of Lightning that compute in float32 on a GPU."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from accel_advisor.records.actions import AnyCall, Call
from accel_advisor.records.queries.autocast.judged_loops import SMALL_SETS
from accel_advisor.records.queries.models.full_precision import is_deep, leaves_precision_alone
from accel_advisor.values.evidence import PROVEN, Evidence, Ground

if TYPE_CHECKING:
    from accel_advisor.records.facts import Facts
    from accel_advisor.records.operations import Operation

OLD_PACKAGE = "pytorch_lightning"
"""What Lightning 1 is imported as; Lightning 2 may be."""
_OPEN = ("precision", "plugins", "fast_dev_run")
"""Arguments that decide the precision, or that nothing is trained for long."""
_GPUS = frozenset({"gpu", "cuda"})
_NO_GPUS = frozenset({"cpu", "mps", "tpu", "hpu", "ipu"})


@dataclass(frozen=True, slots=True)
class FloatTrainer:
    """A Trainer that fits a deep model on a GPU in float32.

    Attributes:
        operation: the call that makes it.
        basis: what shows that it uses a GPU.
    """

    operation: Operation
    basis: Evidence


def trainers_in_float32(facts: Facts) -> Iterator[FloatTrainer]:
    """Those of a document whose program decides nowhere about precision."""
    trainers = [one for one in facts.operations_of(Call("lightning.Trainer")) if all(one.lacks(name) for name in _OPEN)]
    if not trainers or not facts.does(AnyCall("fit")) or facts.program.operations_of(*SMALL_SETS):
        return
    if not is_deep(facts) or not leaves_precision_alone(facts):
        return
    for operation in trainers:
        basis = _on_gpu(facts, operation)
        if basis is not None:
            yield FloatTrainer(operation, basis)


def _on_gpu(facts: Facts, trainer: Operation) -> Evidence | None:
    """What shows that a Trainer uses a GPU; None where it does not, or nothing does. Lightning 2 takes the one that is
    there unless it is told otherwise; Lightning 1 takes none."""
    accelerator, gpus = trainer.given("accelerator"), trainer.given("gpus")
    kinds = [one.literal for one in accelerator.alternatives]
    if any(one in _NO_GPUS for one in kinds) or any(one.is_literal(0, None, "0") for one in gpus.alternatives):
        return None
    if all(one in _GPUS for one in kinds) or gpus.written or gpus.items is not None:
        return PROVEN
    if accelerator.absent and gpus.absent and OLD_PACKAGE in facts.packages:
        return None
    return Evidence.of(Ground.GPU)
