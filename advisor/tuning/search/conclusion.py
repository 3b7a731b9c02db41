"""What follows from a search that recommends nothing: why, and what would settle it where it is not settled."""

from __future__ import annotations

import math

from accel_advisor.tuning.probe.channel.wire import Settings
from accel_advisor.tuning.search.search import MOST_PAIRS, Search
from accel_advisor.tuning.search.settings import describe
from accel_advisor.tuning.search.statistics import WORTH, Interval, pairs_to_settle
from accel_advisor.tuning.search.stops import CutShort, Kept, NoGain, NoneRan, Stop, Unexplored, Verdict, verdict_of

_LONGER = 2.0


def conclusion(search: Search, *, why: str = "", interrupted: bool = False) -> Kept:
    """Why the settings in the source are kept.

    Args:
        why: what ended the search before its time, in words; empty where nothing did.
        interrupted: whether the user did.
    """
    others = [settings for settings in search.readings.measured if settings != search.baseline]
    failed = [tried for tried in search.readings.tried.values() if tried.failed]
    kept: Kept
    if search.exhausted is not None:
        kept = search.exhausted
    elif search.gain is not None:
        kept = NoGain(search.gain, _enough(search, search.gain))
    else:
        again = search.readings.tried.get(search.chosen) if search.chosen is not None else None
        broken = ""
        if again is not None and again.failed:
            broken = f"{describe(again.settings)} could not be measured again: {again.failed}"
        return CutShort("" if interrupted else why or broken, _leader(search, others))
    if kept is Stop.NOTHING_FASTER and not others and failed:
        return NoneRan(failed[0].settings, failed[0].failed)
    if search.unexplored and kept is not Stop.NO_HEADROOM and verdict_of(kept) is Verdict.NOTHING:
        return Unexplored(search.budget, tuple(others), _tens(_LONGER * search.budget))
    return kept


def _leader(search: Search, others: list[Settings]) -> tuple[Settings, float] | None:
    """What had read fastest, and how many times as fast; None where nothing had read faster by what is worth having."""
    baseline = search.readings.seconds(search.baseline)
    times = {settings: search.readings.seconds(settings) or math.inf for settings in others}
    if baseline is None or not times:
        return None
    best = min(times, key=lambda settings: times[settings])
    return (best, baseline / times[best]) if baseline / times[best] > WORTH else None


def _enough(search: Search, found: Interval) -> int | None:
    """A budget that is likely to settle what the last comparison left open; None where readings differ too much."""
    assert search.chosen is not None
    pairs = pairs_to_settle(found, MOST_PAIRS + 1)
    if pairs > MOST_PAIRS:
        return None
    more = max(1, pairs - found.pairs) * search.time.pair(search.chosen)
    return max(search.time.suffices(more), _tens(search.budget + 1))


def _tens(seconds: float) -> int:
    return 10 * math.ceil(seconds / 10)
