"""Larger batches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

from accel_advisor.tuning.probe.channel.wire import LoaderInfo, Site
from accel_advisor.tuning.probe.knobs.knob import Knob, Situation
from accel_advisor.tuning.probe.knobs.knob_statements import LoaderSetting
from accel_advisor.tuning.probe.turning.compared_training import ComparedTraining
from accel_advisor.tuning.probe.turning.rebuilt_loader import Arguments, rebuild

TOO_FEW = "an epoch has too few batches for larger ones"
_LEAST_BATCHES = 4
_DOUBLINGS = 4


@dataclass(frozen=True, slots=True)
class BatchSize(Knob):
    """The samples in a batch, doubled as long as that pays and memory has room for it."""

    size: int | None = None
    name: ClassVar[str] = "batch_size"
    order: ClassVar[int] = 90
    most_values: ClassVar[int] = _DOUBLINGS
    climbs: ClassVar[bool] = True
    only_by_name: ClassVar[bool] = True
    caution: ClassVar[str] = "it changes the training: the learning rate has to be tuned again"

    @classmethod
    def not_needed(cls, situation: Situation) -> str:
        if not situation.info.batch_size:
            return "the size of a batch is not known"
        return "" if cls.values(situation) else TOO_FEW

    @classmethod
    def values(cls, situation: Situation) -> tuple[Self, ...]:
        return tuple(cls(size) for size in doubles(situation.info, 2 * situation.info.batch_size))

    @property
    def new_batch_size(self) -> int | None:
        return self.size

    @property
    def written(self) -> tuple[LoaderSetting]:
        return (LoaderSetting("batch_size", self.size),)

    def turn(self, torch: Any, training: ComparedTraining) -> None:
        training.sites = resize(self.size, torch, training)


def doubles(info: LoaderInfo, first: int) -> tuple[int, ...]:
    """``first`` and its doubles, as far as an epoch has some batches of that size."""
    sizes = [first << step for step in range(_DOUBLINGS)]
    if info.length is None:
        return tuple(sizes)
    return tuple(size for size in sizes if info.length * info.batch_size >= _LEAST_BATCHES * size)


def resize(size: int | None, torch: Any, training: ComparedTraining) -> list[tuple[Site, ...]]:
    """Has the loader that trains make batches of another size; the stacks that built it, as the script runs on."""

    def resized(arguments: Arguments) -> Arguments | None:
        args, kwargs = arguments
        if kwargs.get("batch_sampler") is not None:
            training.own = "a batch sampler of the script's own decides the size of a batch"
            return None
        if kwargs.get("batch_size", args[0] if args else 1) is None:
            training.own = "the data set itself makes the batches"
            return None
        return ((size, *args[1:]), kwargs) if args else (args, {**kwargs, "batch_size": size})

    return rebuild(torch, training, resized)
