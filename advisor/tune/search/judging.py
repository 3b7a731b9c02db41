"""Whether runs that took turns settle which side is faster. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter

from accel_advisor.tune.search.statistics import Interval, gain, gain_of_runs, interval

MOST_PAIRS = 4
"""Pairs of runs after which it is settled in any case."""
BETTER = 1.02
"""A gain that cannot be larger than this is none."""
_PLAIN = 1.1  # in every pair of runs


def judged(pairs: Sequence[tuple[Sequence[float], Sequence[float]]]) -> tuple[Interval, bool]:
    """The gain from pairs of neighbouring runs, each with the times of its blocks, old and new; and whether that
    settles it.

    Blocks of one run have their process in common, and with it luck that blocks do not show. A loss can be told from
    one pair of runs; a gain from two where it is plain in both, and from four otherwise, by whichever is the less
    certain: the ratios of the pairs, or the blocks with what runs of one side differ by.
    """
    old, new = ([pair[side] for pair in pairs] for side in (0, 1))
    found = gain_of_runs(old, new)
    ratios = [gain(*pair).ratio for pair in pairs]
    if gain([time for run in old for time in run], [time for run in new for time in run]).high < BETTER:
        return found, True
    if len(pairs) < 2:
        return found, False
    found = min(found, interval(ratios), key=attrgetter("low"))
    return found, len(pairs) >= MOST_PAIRS or (found.wins and min(ratios) > _PLAIN)


def no_gain(found: Interval) -> str:
    """Why a gain does not count, in words."""
    ends = f"between {found.low:.2f} and {found.high:.2f} times as fast"
    if found.high < 1:
        return f"it is slower: {ends}"
    return f"no gain beyond doubt: {ends}"
