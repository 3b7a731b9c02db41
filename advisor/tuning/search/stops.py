"""Why a search has nothing to recommend, and whether that is settled."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, StrEnum, auto

from accel_advisor.tuning.probe.channel.wire import Settings
from accel_advisor.tuning.search.statistics import WORTH, Interval


class Verdict(StrEnum):
    """What a run came to; the value stands in JSON."""

    CHANGE = "change"
    """Other settings are faster beyond doubt."""
    NOTHING = "nothing_to_gain"
    """None of those that can be had is faster by as much as is worth having."""
    UNDECIDED = "undecided"
    """Neither is known."""
    BY_HAND = "by_hand"
    """There is something to gain that no setting brings: the source is to be changed by hand."""


class Stop(Enum):
    """Where a search ends without a gain."""

    NO_HEADROOM = auto()
    """Data is ready nearly always."""
    NOTHING_FASTER = auto()
    """The settings in the source are the fastest of those that were tried."""
    NO_KNOB = auto()
    """No knob of the loader was to be turned."""


@dataclass(frozen=True, slots=True)
class OpenHeadroom:
    """Data seems to be ready nearly always, but readings differ too much to rule a gain out."""

    ceiling: Interval


@dataclass(frozen=True, slots=True)
class TooShort:
    """The budget did not suffice to compare the best settings found with those in the source.

    Attributes:
        budget: that there was, in seconds.
        pair: seconds that one comparison takes.
        enough: seconds of a budget that is likely to suffice.
    """

    budget: float
    pair: float
    enough: int


@dataclass(frozen=True, slots=True)
class Unexplored:
    """The budget ended before everything was tried that promised something; ``tried`` was, and a budget of ``enough``
    seconds is likely to suffice."""

    budget: float
    tried: tuple[Settings, ...]
    enough: int


@dataclass(frozen=True, slots=True)
class NoneRan:
    """Whatever else was tried could not be measured: the first of it, and why."""

    settings: Settings
    reason: str


@dataclass(frozen=True, slots=True)
class NoGain:
    """The last comparison left it open whether there is a gain, or ruled it out; ``enough`` seconds of a budget are
    likely to settle it, None where only quieter readings would."""

    found: Interval
    enough: int | None = None


@dataclass(frozen=True, slots=True)
class CutShort:
    """The search did not come to its end.

    Attributes:
        why: in words; empty where the user ended it.
        leader: what had read fastest by then, and how many times as fast; None where nothing had read faster.
    """

    why: str = ""
    leader: tuple[Settings, float] | None = None


@dataclass(frozen=True, slots=True)
class NoSettings:
    """The loop takes its batches from no DataLoader, so that there are no settings; ``ceiling`` is how many times as
    fast it runs with data ready at once, None where that was not measured, and ``most`` a bound of it, by the share of
    the fetching, None where that is not known."""

    ceiling: Interval | None
    most: float | None = None


Kept = Stop | NoSettings | OpenHeadroom | TooShort | Unexplored | NoneRan | NoGain | CutShort
"""Why the settings in the source are kept."""


def verdict_of(kept: Kept) -> Verdict | None:
    """What a run came to that recommends nothing; None where nothing was looked for."""
    if kept is Stop.NO_KNOB:
        return None
    if isinstance(kept, NoSettings):
        if kept.ceiling is None:
            return Verdict.NOTHING if kept.most is not None and kept.most < WORTH else Verdict.UNDECIDED
        if kept.ceiling.high < WORTH:
            return Verdict.NOTHING
        return Verdict.BY_HAND if kept.ceiling.wins else Verdict.UNDECIDED
    settled = kept.found.high < WORTH if isinstance(kept, NoGain) else isinstance(kept, Stop)
    return Verdict.NOTHING if settled else Verdict.UNDECIDED
