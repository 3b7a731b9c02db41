"""What lint sees beside what it finds: trainings that no rule says anything about, and places that a trial measures."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from accel_advisor.finding import Span


class Gap(StrEnum):
    """What is not known of a training, so that rules are silent about it; the words are those of messages."""

    BATCHES = "what the loop goes over"
    DEVICE = "the device"


@dataclass(frozen=True, slots=True)
class NotKnown:
    """A place where something is not known.

    Attributes:
        line: where, in words.
        code: the expression.
    """

    gap: Gap
    line: str
    code: str


@dataclass(frozen=True, slots=True)
class SeenLoader:
    """A loader, as far as its settings are known.

    Attributes:
        kind: the name of its class.
        line: where it is built, in words.
        pins: whether it pins its batches; None where that is not known.
        workers: how many it has, unless another number is configured; None where that is not known.
    """

    kind: str
    line: str
    pins: bool | None
    workers: int | None


@dataclass(frozen=True, slots=True)
class Seen:
    """What was seen of a training in a file that no rule says anything about.

    Attributes:
        loaders: those that it builds, or takes batches of.
        asynchronous, waiting: how many copies of batches to a device there are that do not wait, and that do.
        moved_by: the frameworks that move batches.
        gaps: what is not known.
    """

    filename: str
    loaders: tuple[SeenLoader, ...] = ()
    asynchronous: int = 0
    waiting: int = 0
    moved_by: tuple[str, ...] = ()
    gaps: tuple[NotKnown, ...] = ()

    @property
    def healthy(self) -> bool:
        """Whether everything is known, and as a reviewer would have it."""
        loaders = all(one.pins and one.workers for one in self.loaders)
        return bool(self.loaders) and loaders and not self.waiting and not self.gaps and self.moves

    @property
    def moves(self) -> bool:
        """Whether batches are moved to a device, by the program or by a framework."""
        return bool(self.asynchronous or self.waiting or self.moved_by)


class Sight(StrEnum):
    """What stands at a landmark: where a ``loader`` is built, or a ``loop`` that trains."""

    LOADER = "loader"
    LOOP = "loop"


@dataclass(frozen=True, slots=True)
class Landmark:
    """A place that a trial measures.

    Attributes:
        name: what a loader is called in the source; empty for a loop.
    """

    sight: Sight
    filename: str
    span: Span
    name: str = ""
