"""Whole runs of an old and of a new side that take turns: in which order, and whether they settle which is faster.
Pure."""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter

from accel_advisor.tuning.search.statistics import WORTH, Interval, gain, gain_of_runs, interval, mean_gain

ORDER = ((True, False), (False, True), (False, True), (True, False))
"""Whether the new side runs: new, old, old, new, then the same the other way round, so that a steady drift of the
machine cancels. Two neighbours are a pair."""
MOST_PAIRS = 2 * len(ORDER)
"""Where :data:`ORDER` leaves open what looks like a gain worth having, or a comparison is also to distinguish a gain
from none, it is gone through again."""
BETTER = 1.02
"""A gain that cannot be larger than this is none."""
_PLAIN = 1.1  # in every pair of runs
_UNLUCKY = 0.75
"""A process that is slower by more than this is so by more than bad luck."""
_AGAIN = 1.48
"""Once :data:`ORDER` is over a gain has had its chance. One that is seen before, or is looked for still longer, is to
clear 1 by an interval that is wider by so much: one of 99 % for one of 95 %."""
_BESIDE = 1.6
"""The same of runs beside each other, at both looks: only the ratios of their pairs stand for what runs differ by."""


class PairedRuns:
    """The times of the blocks of such runs, in seconds a batch or a sample."""

    def __init__(self) -> None:
        self._times: dict[bool, list[Sequence[float]]] = {False: [], True: []}

    def add(self, new: bool, times: Sequence[float]) -> None:
        """Notes a run. Of a pair, as many blocks count as both have."""
        runs, others = self._times[new], self._times[not new]
        runs.append(times)
        if len(runs) == len(others):
            both = min(len(times), len(others[-1]))
            runs[-1], others[-1] = times[:both], others[-1][:both]

    @property
    def pairs(self) -> int:
        """How many pairs are complete."""
        return min(len(runs) for runs in self._times.values())

    @property
    def gain(self) -> Interval:
        """How many times as fast the new side is; at least one pair is complete."""
        return gain_of_runs(self._times[False], self._times[True])

    def settled(self, worth: float | None = None, *, beside: bool = False) -> tuple[Interval, bool]:
        """The gain, and whether it is settled without a limit on time.

        Args:
            worth: with it, what is settled as no gain is to rule out one as large, by what runs differ in, too, unless
                a single pair shows that there is none.
            beside: whether the runs of each pair were under way at once, block by block. What the machine does is the
                same for both then, however it changes from pair to pair.

        Blocks of one run have their process in common, and with it luck that blocks do not show. That there is no gain
        can be seen in one pair of runs; a loss in two where ``worth`` is given, unless it is plain; a gain in two where
        it is plain in both, and in all of :data:`ORDER` or as often again otherwise, by whichever is the less certain:
        the ratios of the pairs, or the blocks with what runs of one side differ by.
        """
        old, new = self._times[False], self._times[True]
        found = self.gain
        blocks = gain([time for run in old for time in run], [time for run in new for time in run])
        if self.pairs < 2:
            # That it is slower is a claim of its own, where something is to be said of it, and one pair may be unlucky.
            claims = worth is not None and _UNLUCKY < blocks.high < 1
            return found, blocks.high < BETTER and not claims
        if blocks.high < BETTER if worth is None else found.high < worth:
            return found, True
        no_more = worth is None and self.pairs == len(ORDER) and found.ratio < WORTH
        last = no_more or self.pairs >= MOST_PAIRS
        ratios = [mean_gain(*pair) for pair in zip(old, new, strict=True)]
        if beside and self.pairs >= len(ORDER):
            between = interval(ratios)
            low, high = min(blocks.low, between.low), max(blocks.high, between.high)
            found = Interval(blocks.ratio, low, high, blocks.pairs)
            if worth is not None and found.high < worth:
                return found, True
            found = found.widened(_BESIDE)
            return found, last or (found.wins and self.pairs == len(ORDER))
        found = min(found, interval(ratios), key=attrgetter("low"))
        if self.pairs != len(ORDER):
            found = found.widened(_AGAIN)
        plain = found.wins and (min(ratios) > _PLAIN or self.pairs == len(ORDER))
        return found, plain or last


def no_gain(found: Interval) -> str:
    """Why a gain does not count, in words."""
    ends = f"between {found.low:.2f} and {found.high:.2f} times as fast"
    if found.high < 1:
        return f"it is slower: {ends}"
    return f"no gain beyond doubt: {ends}"
