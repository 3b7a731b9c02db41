"""Whether runs that took turns settle which side is faster. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from .statistics import Interval, gain, interval

MOST_PAIRS = 4
"""Pairs of runs after which it is settled in any case."""
BETTER = 1.02
"""A gain that cannot be larger than this is none."""
_PLAIN = 1.1  # in every pair of runs


def judged(pairs: Sequence[tuple[Sequence[float], Sequence[float]]]) -> tuple[Interval, bool]:
    """The gain from pairs of neighbouring runs, each with the times of its blocks, old and new; and whether that
    settles it.

    Blocks of one run have their process in common, and with it luck that blocks do not show. A loss can be told from
    one pair of runs, a gain that is plain in both from two, and any other from the ratios of four pairs.
    """
    found = gain(*([time for pair in pairs for time in pair[side]] for side in (0, 1)))
    ratios = [gain(old, new).ratio for old, new in pairs]
    if len(pairs) >= MOST_PAIRS:
        return interval(ratios), True
    plain = len(pairs) > 1 and found.wins and min(ratios) > _PLAIN
    return found, plain or found.high < BETTER


def no_gain(found: Interval) -> str:
    """Why a gain does not count, in words."""
    ends = f"between {found.low:.2f} and {found.high:.2f} times as fast"
    if found.high < 1:
        return f"it is slower: {ends}"
    return f"no gain beyond doubt: {ends}"
