"""How many threads one operation is shared out among."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

from accel_advisor.tuning.probe.knobs.knob import Knob, Situation
from accel_advisor.tuning.probe.knobs.knob_statements import BehindImports
from accel_advisor.tuning.probe.turning.compared_training import ComparedTraining

ONE_CORE = "there is one core, and one thread on it"


@dataclass(frozen=True, slots=True)
class Threads(Knob):
    """The number of threads within an operation on the processor: one, half as many as cores, or all."""

    count: int | None = None
    name: ClassVar[str] = "threads"
    order: ClassVar[int] = 10
    device: ClassVar[str] = "cpu"
    most_values: ClassVar[int] = 3
    caution: ClassVar[str] = "the number fits this machine: another one may need another"

    @classmethod
    def not_needed(cls, situation: Situation) -> str:
        return "" if cls.values(situation) else ONE_CORE

    @classmethod
    def values(cls, situation: Situation) -> tuple[Self, ...]:
        counts = {1, max(1, situation.cores // 2), situation.cores} - {situation.before.threads}
        return tuple(cls(count) for count in sorted(counts, reverse=True))

    @property
    def written(self) -> tuple[BehindImports]:
        return (BehindImports((setting(self.count),)),)

    def turn(self, torch: Any, training: ComparedTraining) -> None:
        hold(self.count, torch, training)


def setting(count: int | None) -> str:
    """The statement that sets the number of threads."""
    return f"{{torch}}.set_num_threads({'N' if count is None else count})"


def hold(count: int | None, torch: Any, training: ComparedTraining) -> None:
    """Sets the number of threads, which has to stay."""
    torch.set_num_threads(count)
    training.check(lambda: "" if torch.get_num_threads() == count else "the script sets the number of threads itself")
