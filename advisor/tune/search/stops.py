"""Why a search has nothing to recommend."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto

from accel_advisor.tune.search.statistics import Interval


class Stop(Enum):
    """Where a search ends without a gain."""

    NO_HEADROOM = auto()
    """Data is ready nearly always."""
    NOTHING_FASTER = auto()
    """The settings in the source are the fastest of those that were tried."""
    CUT_SHORT = auto()
    """It did not come to its end."""
    NO_KNOB = auto()
    """No knob of the loader was to be turned."""


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
class NoGain:
    """The last comparison left it open whether there is a gain, or ruled it out."""

    found: Interval


Kept = Stop | TooShort | NoGain
"""Why the settings in the source are kept."""
