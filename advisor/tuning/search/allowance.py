"""What a search may still spend: the budget, what requests have cost and what the next ones will, and the time that the
verification needs after it."""

from __future__ import annotations

import math
from collections.abc import Sequence

from accel_advisor.tuning.probe.channel.wire import BASELINE, Block, Settings
from accel_advisor.tuning.search.stops import TooShort

OVERTIME = 0.25
OVERTIME_SECONDS = 6.0
"""By so much of the budget, and by no more than so many seconds, the last comparison may exceed it."""
PAIRS = 4
SURE_PAIRS = 3
LEAST_PAIRS = 2
"""Pairs of blocks that the last comparison should have; those that do where they are costly and agree; and those
without which it says nothing."""

VERIFY_SHARE, VERIFY_SECONDS = 0.5, 30.0
"""By so much of the budget, and by so many seconds at least, a run with its verification may exceed the budget."""
RUNS, LEAST_BLOCKS = 4, 2
"""Runs of old and new source in the verification, and blocks of each at least."""
FEW_RUNS, FEW_BLOCKS = 2, 3
"""The same where starts are costly."""

_LATE_SHARE, _LATE_BASELINE_SHARE = 1 / 3, 1 / 2
_DEAR, _DEAR_SECONDS = 1 / 15, 1.6
_LEAST_SHARE, _LEAST_SECONDS = 1 / 2, 15.0
_AIM = 0.9


def whole(budget: float) -> float:
    """Seconds within which a run is to end beyond the first start of the script, the verification included."""
    return budget + max(VERIFY_SHARE * budget, VERIFY_SECONDS)


def runs_seconds(runs: int, blocks: int, start: float, block: float) -> float:
    """What so many runs of the script take, each of ``blocks`` blocks."""
    return runs * (start + blocks * block)


def reserved(budget: float, start: float, block: float) -> float:
    """Seconds that a search leaves to the verification: for the usual runs where they fit into the time beyond the
    budget, else for few."""
    usual, few = runs_seconds(RUNS, LEAST_BLOCKS, start, block), runs_seconds(FEW_RUNS, FEW_BLOCKS, start, block)
    return usual if usual <= whole(budget) - budget else min(usual, few)


class Allowance:
    """The time of one search, in seconds.

    Args:
        budget: what the search may spend.
        cores: that share the work of starting workers.
        baseline: the settings in the user's source.
        start: what a start of the script takes, where old and new source are to be run against each other afterwards.

    Attributes:
        spent: so far.
    """

    def __init__(self, budget: float, cores: float, baseline: Settings, start: float | None = None) -> None:
        self.budget = budget
        self.spent = 0.0
        self._start = start
        self._cores = max(1.0, cores)
        self._baseline = baseline
        self._costs: dict[Settings | str, float] = {}
        self._starts: dict[int, float] = {}
        self._latest: Settings | str = BASELINE

    @property
    def most(self) -> float:
        """When nothing more is asked in any case: the last comparison may take somewhat more than the budget."""
        return self.budget + min(OVERTIME * self.budget, OVERTIME_SECONDS)

    @property
    def limit(self) -> float:
        """When nothing more is asked: before :attr:`most` where the verification is costly, but not in the first half
        of the budget, nor in its first seconds."""
        return self._limit(_AIM)

    def _limit(self, share: float) -> float:
        if self._start is None:
            return self.most
        block = (self.cost(BASELINE) + self.cost(self._latest)) / 2
        left = share * whole(self.budget) - reserved(self.budget, self._start, block)
        return min(self.most, max(_LEAST_SHARE * self.budget, _LEAST_SECONDS, left))

    @property
    def end(self) -> float:
        """When the budget is spent, or what the verification leaves of it."""
        return min(self.budget, self.limit)

    def spend(self, what: Settings | str, seconds: float, block: Block | None) -> None:
        """Notes what a request cost, and what of it was the start of workers."""
        self.spent += seconds
        self._costs[what] = seconds
        self._latest = BASELINE if isinstance(what, str) else what
        workers = (self._baseline if isinstance(what, str) else what).num_workers
        if block is not None and workers and block.pool_seconds:
            self._starts[workers] = block.pool_seconds

    def late(self, what: Settings | str, *, last: bool) -> float:
        """How long one block may take, its workers' start included, so that a hopeless one does not cost all; whatever
        is left in the ``last`` comparison."""
        left = max(0.0, (self.most if last else self.limit) - self.spent)
        share = (_LATE_BASELINE_SHARE if what == BASELINE else _LATE_SHARE) * left
        return left if last else min(left, max(share, 2 * self._costs.get(BASELINE, 0.0)))

    def cost(self, what: Settings | str) -> float:
        """What a block is expected to take: as long as the last one, or as the baseline's with the start of so many
        workers as far as such starts were seen."""
        if what in self._costs or isinstance(what, str):
            return self._costs.get(what, 0.0)
        steady = self._costs.get(BASELINE, 0.0) - self._starts.get(self._baseline.num_workers, 0.0)
        starts = (seconds * self._turns(what.num_workers) / self._turns(n) for n, seconds in self._starts.items())
        return max(0.0, steady) + (max(starts, default=0.0) if what.num_workers else 0.0)

    def pair(self, settings: Settings) -> float:
        """What a block of the old settings and one of these are expected to take."""
        return self.cost(BASELINE) + self.cost(settings)

    def affords(self, what: Settings | str) -> bool:
        """Whether a block leaves enough for the least that a last comparison would take."""
        settings = what if isinstance(what, Settings) else self._baseline
        return self.spent + self.cost(what) + LEAST_PAIRS * self.pair(settings) <= self.limit

    def within(self, share: float) -> bool:
        """Whether less than ``share`` of the budget is spent and enough is left for the last comparison."""
        costliest = max((cost for what, cost in self._costs.items() if isinstance(what, Settings)), default=0.0)
        pair = self.cost(BASELINE) + costliest
        left = self.end - self.spent - PAIRS * pair
        return self.spent < share * self.end and left > 0

    def leaves(self, among: Sequence[Settings]) -> bool:
        """Whether a block of each leaves enough for the last comparison."""
        pair = max(self.pair(settings) for settings in among)
        return self.spent + sum(self.cost(settings) for settings in among) + SURE_PAIRS * pair <= self.limit

    def enough(self, settings: Settings) -> int:
        """Pairs of blocks after which the last comparison may end, if they agree."""
        return SURE_PAIRS if self.pair(settings) > max(_DEAR_SECONDS, _DEAR * self.budget) else PAIRS

    def compares(self, settings: Settings, pairs: int) -> bool:
        """Whether there is time for one more pair; the first ones, without which the search would be wasted, may
        cost more than was expected."""
        return self.spent + self.pair(settings) <= (self.limit if pairs >= SURE_PAIRS else self._limit(1.0))

    def too_short_for(self, settings: Settings) -> TooShort:
        """What it would take to compare ``settings`` with the old ones."""
        pair = self.pair(settings)
        return TooShort(self.budget, pair, self.suffices(2 * PAIRS * pair))

    def suffices(self, more: float) -> int:
        """A budget, in seconds, that leaves so many ``more`` to a search that has spent what this one has."""
        needed = self.spent + more
        return 10 * math.ceil(max(needed, needed * self.budget / max(self.end, 1e-9)) / 10)

    def _turns(self, workers: int) -> int:
        return max(1, math.ceil(workers / self._cores))
