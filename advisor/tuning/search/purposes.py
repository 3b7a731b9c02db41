"""Why a stretch of a run is served."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from accel_advisor.tuning.probe.channel.wire import Settings


class Purpose(StrEnum):
    """A stretch's purpose; the value is what people read, in JSON too."""

    START = "start of the script"
    CEILINGS = "ceilings"
    FETCH_COST = "cost of a fetch"
    WORKERS = "workers"
    PREFETCH = "more batches ahead"
    TRANSFERS = "pinned transfers"
    FINALISTS = "finalists"
    OLD_AGAINST_NEW = "old against new"
    OVERTIME = "old against new, beyond the budget"
    OLD_SOURCE = "the old source"
    NEW_SOURCE = "the new source"
    EXPLANATION = "where the loader spends its time"
    LOADER_AHEAD = "until a loop with a DataLoader comes"
    PRICES = "what each line of a step costs"
    TRAINING_KNOB = "a knob of the training"


def words(purpose: Purpose, what: Settings | str) -> str:
    """A purpose for people; of a number of workers with that number.

    Args:
        what: is measured.
    """
    if purpose is Purpose.WORKERS and isinstance(what, Settings):
        return f"{what.num_workers} {purpose}"
    return purpose.value


_SEARCH = "trying other settings"
_PHASES = {
    Purpose.CEILINGS: "measuring what could be gained at most",
    Purpose.FETCH_COST: _SEARCH,
    Purpose.WORKERS: _SEARCH,
    Purpose.PREFETCH: _SEARCH,
    Purpose.TRANSFERS: _SEARCH,
    Purpose.FINALISTS: "comparing the best of them",
    Purpose.OLD_AGAINST_NEW: "comparing the settings in the source with the best ones",
    Purpose.LOADER_AHEAD: "the source names a DataLoader: waiting for a loop that takes its batches from it",
    Purpose.OVERTIME: "a gain looks likely and is not settled: comparing for some seconds beyond the budget",
}


@dataclass(frozen=True, slots=True)
class Doing:
    """What a run is doing, in words, and the phase of the run that this belongs to: that changes less often."""

    words: str
    phase: str


def doing(purpose: Purpose, what: Settings | str) -> Doing:
    """What a run does while ``what`` is measured for a purpose."""
    return Doing(words(purpose, what), _PHASES.get(purpose, purpose.value))
