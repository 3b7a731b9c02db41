"""What a search may still spend: the budget, what requests have cost, and what the next ones will."""

from __future__ import annotations

import math

from .probe.wire import BASELINE, Block, Settings

OVERTIME = 0.25
OVERTIME_SECONDS = 6.0
"""By so much of the budget, and by no more than so many seconds, the last comparison may exceed it."""
PAIRS = 4
LEAST_PAIRS = 2
"""Pairs of blocks that the last comparison should have, and those without which it says nothing."""

_LATE_SHARE, _LATE_BASELINE_SHARE = 1 / 3, 1 / 2


class Allowance:
    """The time of one search, in seconds.

    Args:
        budget: what the search may spend.
        cores: that share the work of starting workers.
        baseline: the settings in the user's source.

    Attributes:
        spent: so far.
        limit: when nothing more is asked: the last comparison may take somewhat more than the budget.
    """

    def __init__(self, budget: float, cores: float, baseline: Settings) -> None:
        self.budget = budget
        self.limit = budget + min(OVERTIME * budget, OVERTIME_SECONDS)
        self.spent = 0.0
        self._cores = max(1.0, cores)
        self._baseline = baseline
        self._costs: dict[Settings | str, float] = {}
        self._starts: dict[int, float] = {}

    def spend(self, what: Settings | str, seconds: float, block: Block | None) -> None:
        """Notes what a request cost, and what of it was the start of workers."""
        self.spent += seconds
        self._costs[what] = seconds
        workers = (self._baseline if isinstance(what, str) else what).num_workers
        if block is not None and workers and block.pool_seconds:
            self._starts[workers] = block.pool_seconds

    def late(self, what: Settings | str, *, last: bool) -> float:
        """How long one block may take, its workers' start included, so that a hopeless one does not cost all; whatever
        is left in the ``last`` comparison."""
        left = max(0.0, self.limit - self.spent)
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
        dearest = max((cost for what, cost in self._costs.items() if isinstance(what, Settings)), default=0.0)
        left = self.budget - self.spent - PAIRS * (self.cost(BASELINE) + dearest)
        return self.spent < share * self.budget and left > 0

    def too_short_for(self, settings: Settings) -> str:
        """Why ``settings`` were not compared with the old ones, with the remedy."""
        pair = self.pair(settings)
        enough = 10 * math.ceil((self.spent + 2 * PAIRS * pair) / 10)
        return (
            f"a budget of {self.budget:g} s was too short to compare the best settings found with those in the source, "
            f"since one comparison takes about {pair:.1f} s: try --budget {enough}"
        )

    def _turns(self, workers: int) -> int:
        return max(1, math.ceil(workers / self._cores))
