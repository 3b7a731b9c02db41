"""What a knob of the training is, for the parent that chooses its value and the child that turns it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

from accel_advisor.tuning.probe.channel.wire import LoaderInfo, Turned
from accel_advisor.tuning.probe.knobs.knob_statements import Statement
from accel_advisor.tuning.probe.turning.compared_training import ComparedTraining


@dataclass(frozen=True, slots=True)
class Situation:
    """What is known before a knob is tried.

    Attributes:
        device: the kind of device that the model is on.
        before: how the script itself has the knobs.
        info: the loader that trains.
        cores: that the process may use at the same time.
        physical: the cores by the numbers of their hardware threads; none where a process cannot choose.
        shares_cores: whether a control group limits the time on them and not their number.
        paid: the knobs that were found to pay, as they are turned.
        no_room: those for which memory was too small, as they were turned.
    """

    device: str
    before: Turned
    info: LoaderInfo
    cores: int = 1
    physical: tuple[tuple[int, ...], ...] = ()
    shares_cores: bool = False
    paid: Mapping[type[Knob], Knob] = field(default_factory=dict)
    no_room: Mapping[type[Knob], Knob] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Knob(ABC):
    """A knob, turned to one value: the fields of its class, which JSON can hold. Without any it stands for itself.

    Attributes:
        name: as ``--knobs`` takes it, and as the file is called, with ``_knob`` behind it.
        order: knobs are tried, and their statements follow each other, from the smallest on.
        device: the only kind of device on which it does anything; empty for any.
        most_values: how many of its values are tried at most.
        climbs: whether its values are tried one after the other, as long as each is better than the one before; else
            all are tried, and the best is taken.
        brings: the knobs that it turns, too, each with the reason why it is better then; it is compared with them where
            they pay by themselves.
        makes_room_for: the knob whose larger values it gives memory to; it makes a step slower by itself.
        only_by_name: whether ``--knobs all`` leaves it out, since it makes another training.
        caution: what a person must know before taking it over.
    """

    name: ClassVar[str]
    order: ClassVar[int] = 1000
    device: ClassVar[str] = ""
    most_values: ClassVar[int] = 1
    climbs: ClassVar[bool] = False
    brings: ClassVar[Mapping[type[Knob], str]] = {}
    makes_room_for: ClassVar[type[Knob] | None] = None
    only_by_name: ClassVar[bool] = False
    caution: ClassVar[str] = ""

    @classmethod
    def refusal(cls, situation: Situation) -> str:
        """Why it need not be tried, in words; empty where it may be."""
        if cls.device and cls.device != situation.device:
            return f"it does something on {cls.device} alone, and the model is on {situation.device}"
        return cls.not_needed(situation)

    @classmethod
    def not_needed(cls, situation: Situation) -> str:
        """As :meth:`refusal`, on a device that it is for."""
        return ""

    @classmethod
    def values(cls, situation: Situation) -> tuple[Self, ...]:
        """The values that are worth a trial."""
        return (cls(),)

    @property
    def new_batch_size(self) -> int | None:
        """The size of a batch that it brings about, where losses cannot be compared; None where batches stay as they
        are, and the loss has to."""
        return None

    @property
    @abstractmethod
    def written(self) -> tuple[Statement, ...]:
        """What turns it in the source: all of it, or nothing."""

    def shown(self, device: str = "cuda", blocks: str = "") -> str:
        """What turns it, in one line."""
        return "; ".join(one.shown(device, blocks) for one in self.written)

    @abstractmethod
    def turn(self, torch: Any, training: ComparedTraining) -> None:
        """In the child: does what is written, from outside, as soon as torch is imported."""
