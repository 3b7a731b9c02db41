"""Why a loop, or a candidate for its loader, cannot be measured: plain data, of which the parent makes sentences."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto


class Unmeasurable(Enum):
    """A loop that cannot be measured."""

    NO_LOADER = auto()
    """It takes no batch from a DataLoader, and no optimizer marks where its steps end."""
    LOADER_LATER = auto()
    """It took none from a DataLoader, and one that does has come after it."""
    READ_BEFORE = auto()
    """Its batches are read once, before it begins."""
    NO_LOADER_ON_RANKS = auto()
    """It takes no batch from a DataLoader, on several ranks."""
    TRAINS_ELSEWHERE = auto()
    """The training happens in processes that the script starts itself."""
    RANKS_PARTED = auto()
    """Ranks do not take the same batches from the same loader."""


@dataclass(frozen=True, slots=True)
class KeepsBatches:
    """The loop went on for so many training steps with batches that it had read before."""

    steps: int


@dataclass(frozen=True, slots=True)
class IteratesItself:
    """The loader's class, by its full name, has an ``__iter__`` of its own that never asks DataLoader's."""

    loader: str


@dataclass(frozen=True, slots=True)
class MovedOn:
    """The loop took the batches of so many training steps from other loaders than the one that was measured."""

    steps: int


@dataclass(frozen=True, slots=True)
class UntimedDevice:
    """The model is on a device whose work torch's events do not time."""

    device: str


@dataclass(frozen=True, slots=True)
class LoaderShape:
    """What ranks' loaders must have in common; ``length`` is None where it is not known."""

    workers: int
    length: int | None


@dataclass(frozen=True, slots=True)
class RanksDiffer:
    """Rank 0 and another one build their loaders differently; None where one has no loader."""

    rank: int
    first: LoaderShape | None
    other: LoaderShape | None


@dataclass(frozen=True, slots=True)
class RanksMissing:
    """Ranks waited so many seconds at a batch for others that did not come to it."""

    waiting: tuple[int, ...]
    missing: tuple[int, ...]
    seconds: float


@dataclass(frozen=True, slots=True)
class KnobRefused:
    """A knob of the training cannot be turned, or is not in force; ``words`` say why."""

    words: str


LoopReason = (
    Unmeasurable | KeepsBatches | IteratesItself | MovedOn | UntimedDevice | RanksDiffer | RanksMissing | KnobRefused
)
"""Why a loop cannot be measured."""


class Meaningless(Enum):
    """A candidate that means nothing to this loop, or gives it nothing."""

    NO_TRANSFERS = auto()
    """Without an accelerator there are no transfers to leave out."""
    NO_PINNING = auto()
    """Without an accelerator pinned memory and copies that do not block do nothing."""
    NOTHING_PERSISTS = auto()
    """The loader is built again for every epoch, and its workers with it."""
    NOTHING_KEPT = auto()
    """There is no batch that a ceiling could be served from."""
    NO_BATCH = auto()
    """The data set gives none."""


@dataclass(frozen=True, slots=True)
class TooFewBatches:
    """So many batches came in so many seconds, too few for a block."""

    batches: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Raised:
    """The candidate raised.

    Attributes:
        words: the kind of the error, and the line of it that says most.
        out_of_memory: whether memory was too small.
    """

    words: str
    out_of_memory: bool


CandidateReason = Meaningless | TooFewBatches | Raised
"""Why a candidate cannot be measured."""
