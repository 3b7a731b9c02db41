"""Old source against new: which of them to run next and for how many blocks, and what that makes known. Pure code,
without clock or processes.

:meth:`Comparison.plan` is a generator like the search's: it yields a :class:`Run`, is sent a :class:`Ran`, and returns
the answer when it knows enough or has no time for more.
"""

from __future__ import annotations

import math
from collections.abc import Generator
from dataclasses import dataclass

from accel_advisor.tuning.search.allowance import FEW_BLOCKS, FEW_RUNS, LEAST_BLOCKS, RUNS, runs_seconds
from accel_advisor.tuning.search.paired_runs import ORDER, PairedRuns
from accel_advisor.tuning.search.statistics import MARGIN, Interval, pairs_for

NOT_SHOWN = "the gain did not show when old and new source were run against each other"
MOST_BLOCKS = 4
"""Blocks of one run at most: runs differ from each other more than blocks do."""


@dataclass(frozen=True, slots=True)
class Run:
    """One run of the new or of the old source, for so many blocks; for as few as ``least`` where these take longer than
    ``seconds`` with the start."""

    new: bool
    blocks: int
    least: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Ran:
    """What became of a run: seconds a batch in each of its blocks, and of wall time in all. Where there are none, the
    reason, and whether it is that the time was up."""

    times: tuple[float, ...]
    seconds: float
    reason: str = ""
    late: bool = False


@dataclass(frozen=True, slots=True)
class Verification:
    """Old source against new source.

    Attributes:
        holds: whether the gain showed, so that the new source stayed.
        gain: how many times as fast the new source ran; None where it could not be run.
        reason: why it was taken back, in words; empty where it stayed.
    """

    holds: bool
    gain: Interval | None
    reason: str = ""


class Comparison:
    """Runs in the order of :data:`ORDER`, as far as there is time and the answer is open.

    Args:
        expected: the gain that the search found.
        start: seconds that a start of the script is expected to take.
        block: seconds that a block of either source is expected to take.
        limit: seconds that all of it may take. One run of either is made in any case.
        remedy: what to do where the time was too short, in words.

    Attributes:
        blocks: in each run.
    """

    def __init__(self, expected: Interval, *, start: float, block: float, limit: float, remedy: str) -> None:
        self._runs = PairedRuns()
        self._limit = limit
        self._remedy = remedy
        if runs_seconds(RUNS, LEAST_BLOCKS, start, block) <= limit:
            wanted = math.ceil(pairs_for(expected, RUNS * MOST_BLOCKS) / (RUNS // 2))
            self._least = LEAST_BLOCKS
            self.blocks = min(max(wanted, LEAST_BLOCKS), _room(RUNS, start, block, limit))
        else:
            self._least = FEW_BLOCKS
            self.blocks = max(FEW_BLOCKS, _room(FEW_RUNS, start, block, limit))

    @property
    def pairs(self) -> int:
        """Pairs of runs so far."""
        return self._runs.pairs

    def plan(self) -> Generator[Run, Ran, Verification]:
        """Yields what to run next; returns whether the gain showed."""
        found, spent, last = None, 0.0, 0.0
        for pair in ORDER:
            if found is not None and spent + last > self._limit:
                break
            last = 0.0
            for number, new in enumerate(pair):
                ran = yield Run(new, self.blocks, self._least, (self._limit - spent - last) / (2 - number))
                last += ran.seconds
                if ran.late and found is not None:
                    return self._answer(found)
                if ran.reason:
                    side = "new" if new else "old"
                    return Verification(False, None, f"the {side} source could not be measured: {ran.reason}")
                self._runs.add(new, ran.times)
            spent += last
            found = self._runs.gain
            if found.high < 1:
                return Verification(False, found, "the new source is slower")
            if 2 * self.pairs == RUNS and self._holds(found):
                break
        assert found is not None
        return self._answer(found)

    def _holds(self, found: Interval) -> bool:
        """Whether the gain is beyond doubt: a single pair of runs does not show by how much runs differ."""
        return found.low > (1 if self.pairs > 1 else MARGIN)

    def _answer(self, found: Interval) -> Verification:
        if self._holds(found):
            return Verification(True, found)
        if found.ratio > 1 and self.pairs < len(ORDER):
            reason = f"the time was too short to see the gain in runs of old and new source: {self._remedy}"
        else:
            reason = NOT_SHOWN
        return Verification(False, found, reason)


def _room(runs: int, start: float, block: float, limit: float) -> int:
    """Blocks that so many runs have time for."""
    return max(0, min(MOST_BLOCKS, int((limit / runs - start) / max(block, 1e-9))))
