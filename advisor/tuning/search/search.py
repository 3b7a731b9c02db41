"""Which candidate to measure next, and when to stop: pure code, without torch, clock or processes.

:meth:`Search.plan` is a generator. It yields a :class:`Request`, is sent an :class:`Answer`, and ends when it knows
enough or has spent its budget. Whoever drives it may stop at any request: what is known so far stands in
:attr:`Search.readings` and :attr:`Search.final`.

The plan: ceilings beside the baseline, and an end there if they leave nothing to gain; a number of workers predicted
from the costs of a fetch and of a step; doubling while more workers still help, halving the gap below while fewer
might do; prefetching and pinned transfers at the number found; the finalists again in interleaved rounds; and last the
old settings against the chosen ones in blocks of their own. Predictions choose what to measure and never decide.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Iterable
from dataclasses import dataclass, replace
from random import Random

from accel_advisor.tuning.probe.channel.wire import BASELINE, NO_TRANSFER, NO_WAIT, Block, Measure, Settings
from accel_advisor.tuning.search.allowance import Allowance
from accel_advisor.tuning.search.headroom import Excess, Headroom
from accel_advisor.tuning.search.purposes import Purpose
from accel_advisor.tuning.search.readings import Busy, Loop, Readings, Tried, What
from accel_advisor.tuning.search.settings import ACCELERATOR_KNOBS, KNOBS, Limits, consistent, prefetch, simplicity
from accel_advisor.tuning.search.statistics import MARGIN, WORTH, Interval, gain, order
from accel_advisor.tuning.search.stops import OpenHeadroom, Stop, TooShort
from accel_advisor.tuning.search.worker_counts import STARVED, TOLERANCE, WorkerCounts

_WAITS, _FETCH_SHARE = 0.1, 0.03
_MOST_EXPLORED = 12
_MOST_PREFETCH = 16
_MOST_ROUNDS, _OPEN_ROUNDS, _OPEN_SHARE = 6, 16, 0.5
_CEILING_SHARE, _EXPLORE_SHARE, _FINALISTS_SHARE = 0.15, 0.5, 0.55
MOST_PAIRS = 12
"""Pairs of blocks that the last comparison takes at most."""


@dataclass(frozen=True, slots=True)
class Request:
    """One block to measure, and what for."""

    measure: Measure
    purpose: Purpose

    @property
    def what(self) -> What:
        """What it is measured under."""
        return self.measure.what


@dataclass(frozen=True, slots=True)
class Answer:
    """What became of a request: a block, or why there is none, in words, and whether memory was too small for it;
    ``seconds`` of wall time either way; what was seen of the cores."""

    block: Block | None
    seconds: float
    reason: str = ""
    out_of_memory: bool = False
    busy: Busy | None = None


class BaselineError(Exception):
    """The user's own settings could not be measured; the message says why."""


def block_seconds(budget: float) -> float:
    """How long a block should last for a search of ``budget`` seconds: a sixtieth of it, and what a clock resolves."""
    return min(2.0, max(0.4, budget / 60))


Plan = Generator[Request, Answer, None]
Found = Generator[Request, Answer, Settings]


class Search:
    """One search. Deterministic given its seed and the answers.

    Args:
        loop: what is being tuned.
        limits: what candidates may take; made exact with the first pool's memory.
        knobs: those that may be turned.
        budget: seconds that the search may spend on measuring.
        seed: of the order in random rounds.
        start: seconds of a start of the script, where old and new source are to be run against each other afterwards:
            the search leaves time for that.

    Attributes:
        readings: everything that was measured.
        chosen: the best settings found, before they were confirmed.
        final: pairs of old and chosen settings, measured after the choice: these alone make the gain.
        overtime: seconds that these took beyond the budget, since a gain looked likely and was not settled.
        exhausted: why there was nothing to choose, or no time to confirm the choice; None where there was.
        unexplored: whether the budget ended before everything was tried that promised something.
        time: what was spent, and what may be.
    """

    def __init__(
        self,
        loop: Loop,
        limits: Limits,
        *,
        knobs: Iterable[str] = KNOBS,
        budget: float = 60.0,
        seed: int = 0,
        start: float | None = None,
    ) -> None:
        self.knobs = frozenset(knobs) if loop.accelerator else frozenset(knobs) - ACCELERATOR_KNOBS
        self.readings = Readings(
            replace(loop, may_persist=loop.may_persist and "persistent_workers" in self.knobs),
        )
        self.baseline = self.readings.baseline
        self.limits = limits
        self.time = Allowance(budget, limits.cores, self.baseline, start)
        self.chosen: Settings | None = None
        self.exhausted: Stop | OpenHeadroom | TooShort | None = None
        self.unexplored = False
        self.final: list[tuple[Block, Block]] = []
        self.overtime = 0.0
        self._headroom = Headroom(self.readings, transfers=loop.accelerator and bool(self.knobs & ACCELERATOR_KNOBS))
        self._counts = WorkerCounts(self.readings)
        self._random = Random(seed)
        self._finalists: list[Settings] = []

    @property
    def budget(self) -> float:
        """Seconds that the search may spend."""
        return self.time.budget

    @property
    def spent(self) -> float:
        """Seconds of the budget so far."""
        return self.time.spent

    @property
    def gain(self) -> Interval | None:
        """How many times as fast the chosen settings are, from the final pairs; None before there were two."""
        if self.chosen is None or len(self.final) < 2:
            return None
        charged = self.readings.charged_itself
        return gain(
            [charged(self.baseline, old) for old, _ in self.final], [charged(self.chosen, new) for _, new in self.final]
        )

    @property
    def excess(self) -> Excess | None:
        """What there is to say of a gain that reads larger than the ceiling; None where it does not."""
        return self._headroom.excess(self.gain, self.final) if self.gain is not None else None

    @property
    def recommended(self) -> Settings | None:
        """The chosen settings if they win beyond doubt, else None."""
        return self.chosen if self.gain is not None and self.gain.wins else None

    def plan(self) -> Plan:
        """Yields what to measure next.

        Raises:
            BaselineError: into the driver, when the user's own settings could not be measured.
        """
        yield from self._measure_ceilings()
        if not self._headroom.any:
            open_still = None if self._headroom.ruled_out else self._headroom.ceiling
            self.exhausted = Stop.NO_HEADROOM if open_still is None else OpenHeadroom(open_still)
            return
        best = self.baseline
        if "num_workers" in self.knobs:
            if best.num_workers and self._may_try_without(best):
                yield from self._measure(consistent(replace(best, num_workers=0)), Purpose.FETCH_COST, batches=4)
            best = yield from self._explore_workers(best)
        best = yield from self._explore_prefetch(best)
        pinned = yield from self._explore_transfers(best)
        if pinned != best and "num_workers" in self.knobs:
            yield from self._explore_workers(pinned)
        yield from self._compare_finalists()
        chosen = self.readings.preferred(self._simplest(self._finalists))
        if chosen == self.baseline:
            chosen = self._rival()
        while chosen != self.baseline:
            yield from self.confirm(chosen)
            tried = self.readings.tried.get(chosen)  # a short budget may end before it was asked for
            barred = chosen.persistent_workers and tried is not None and tried.failed
            if not (barred and self.readings.loop.may_persist):
                return
            # Workers that cannot outlive an epoch of this loop: once more without.
            self.readings.loop = replace(self.readings.loop, may_persist=False)
            chosen = self._simplest((self.baseline, *self._finalists))
        self.chosen = chosen
        self.exhausted = Stop.NOTHING_FASTER

    # Ceilings

    def _measure_ceilings(self) -> Plan:
        members = [BASELINE, NO_WAIT]
        if self.readings.loop.accelerator:
            members.append(NO_TRANSFER)
        for number in range(1, _OPEN_ROUNDS + 1):
            yield from self._round(members, number - 1, Purpose.CEILINGS)
            members = [what for what in members if self.readings.references[what]]
            slow = self.spent > _CEILING_SHARE * self.budget
            if not self.time.affords(BASELINE):
                return
            if not (self._headroom.any or self._headroom.ruled_out) and self.spent < _OPEN_SHARE * self.budget:
                continue  # an end here is an answer, and it is not settled yet
            enough = number >= (2 if slow else 3) and (slow or self._headroom.clear)
            if enough or number >= _MOST_ROUNDS:
                return

    # Exploring

    def _may_try_without(self, settings: Settings) -> bool:
        """Whether to see the loop without workers: where it hardly waits, for what a fetch costs; where it waits, which
        shows that, only if it costs little, since taking batches over may be all that it waits for."""
        slowest = 6 * settings.num_workers * (self.readings.seconds(settings) or 0.0)
        return self.readings.starved(settings) < _WAITS or slowest < _FETCH_SHARE * self.budget

    def _explore_workers(self, base: Settings) -> Found:
        """The fastest number of workers for ``base``, the fewest of those that are equally fast."""
        for number in range(_MOST_EXPLORED):
            count = self._counts.next(base, self.limits)
            if count is None:
                break
            settings = self._counts.settings(base, count)
            if not self.time.affords(settings) or (number and not self.time.within(_EXPLORE_SHARE)):
                self.unexplored = True
                break
            yield from self._measure(settings, Purpose.WORKERS)
        return self._simplest(self._counts.settings(base, count) for count in self._counts.times(base))

    def _explore_prefetch(self, best: Settings) -> Found:
        """More batches ahead, where workers are late now and then."""
        if "prefetch_factor" not in self.knobs:
            return best
        deepest = best
        while best.num_workers and prefetch(deepest) < _MOST_PREFETCH and self.readings.starved(deepest) > STARVED:
            deepest = replace(best, prefetch_factor=2 * prefetch(deepest))
            if self.limits.refusal(deepest):
                break
            if not self.time.within(_EXPLORE_SHARE):
                self.unexplored = True
                break
            yield from self._measure(deepest, Purpose.PREFETCH)
            if self._faster(deepest, best):
                best = deepest
            elif self._faster(best, deepest, self._counts.reach) or not self._counts.uneven(
                self.readings.starved(deepest)
            ):
                break
        return best

    def _explore_transfers(self, best: Settings) -> Found:
        """Pinned memory and copies that do not block: they pay only together, and only with workers."""
        wanted = {knob: True for knob in ("pin_memory", "non_blocking") if knob in self.knobs}
        pinned = replace(best, **wanted)
        if pinned == best or best.num_workers == 0:
            return best
        yield from self._measure(pinned, Purpose.TRANSFERS)
        return pinned if self._faster(pinned, best) else best

    def _faster(self, new: Settings, old: Settings, beyond: float = TOLERANCE) -> bool:
        after, before = self.readings.seconds(new), self.readings.seconds(old)
        return after is not None and before is not None and before / after > beyond

    # Deciding

    def _compare_finalists(self) -> Plan:
        """Those near the best again, in interleaved rounds."""
        times = {s: seconds for s in self.readings.measured if (seconds := self.readings.potential(s)) is not None}
        best = min(times, key=lambda s: times[s])
        near = sorted((s for s in times if s != best and times[s] <= self._counts.reach * times[best]), key=simplicity)
        second = sorted(near, key=lambda s: times[s])[:1]
        self._finalists = list(dict.fromkeys([best, *near[:1], *second, *near]))[:4]
        if not near or not self.time.leaves(self._finalists):
            return
        members: list[What] = [BASELINE if settings == self.baseline else settings for settings in self._finalists]
        for number in range(6):
            enough = 1 if self.readings.noise() < (TOLERANCE - 1) / 2 else 2
            if (number and not self.time.within(_FINALISTS_SHARE)) or (number >= enough and self._settled()):
                return
            yield from self._round(members, number, Purpose.FINALISTS)

    def _rival(self) -> Settings:
        """Where nothing has read faster than the settings in the source, what may be faster all the same by what is
        worth having, with workers kept where preferred; those in the source where all readings rule it out."""
        others = {s: self.readings.at_most(s) for s in self.readings.measured if s != self.baseline}
        best = max(others, key=lambda s: others[s], default=self.baseline)
        return self.readings.preferred(best) if others.get(best, 0.0) >= WORTH else self.baseline

    def _settled(self) -> bool:
        """Whether more rounds could hardly change which of the finalists is taken."""
        best = min(self._finalists, key=lambda s: self.readings.potential(s) or math.inf)
        found = [self.readings.between(settings, best) for settings in self._finalists]
        return all(each is None or each.half_width < TOLERANCE - 1 for each in found)

    def _simplest(self, among: Iterable[Settings]) -> Settings:
        """The simplest of ``among`` that is as fast as the fastest of them."""
        times = {s: seconds for s in among if (seconds := self.readings.potential(s)) is not None}
        if not times:
            return self.baseline
        best = min(times, key=lambda s: times[s])

        def slower(settings: Settings) -> float:
            paired = self.readings.between(settings, best)
            return paired.ratio if paired else times[settings] / times[best]

        return min((s for s in times if slower(s) <= TOLERANCE), key=simplicity)

    def confirm(self, chosen: Settings) -> Plan:
        """Measures the old settings against ``chosen`` until the interval is narrow or the budget is spent."""
        self.chosen = chosen
        purpose, budgeted = Purpose.OLD_AGAINST_NEW, math.inf
        for number in range(MOST_PAIRS):
            found = self.gain
            if number >= self.time.enough(chosen) and found is not None:
                odd = self.excess is not None and self.excess.apart
                precise = found.half_width <= max(0.015, abs(math.log(found.ratio)) / 4) and not odd
                promising = found.ratio > MARGIN and not found.wins
                if precise or self.spent >= (self.time.limit if promising else self.time.end):
                    return
                if self.spent >= self.time.end:
                    purpose, budgeted = Purpose.OVERTIME, min(budgeted, self.spent)
            if not self.time.compares(chosen, number):
                if found is None:
                    self.exhausted = self.time.too_short_for(chosen)
                return
            pair: dict[What, Block] = {}
            sides: list[What] = [BASELINE, chosen]
            for what in order(sides, number, self._random):
                fresh = self.readings.starts_anew(self.baseline if what == BASELINE else chosen)
                yield from self._measure(what, purpose, kept=pair, fresh=fresh, last=True)
                self.overtime = max(0.0, self.spent - budgeted)
            if len(pair) == 2:
                self.final.append((pair[BASELINE], pair[chosen]))
            else:
                return

    # Measuring

    def _round(self, members: Iterable[What], number: int, purpose: Purpose) -> Plan:
        kept: dict[What, Block] = {}
        for what in order(list(members), number, self._random):
            yield from self._measure(what, purpose, kept=kept)
        self.readings.rounds.append(kept)

    def _measure(
        self,
        what: What,
        purpose: Purpose,
        *,
        batches: int | None = None,
        kept: dict[What, Block] | None = None,
        fresh: bool = False,
        last: bool = False,
    ) -> Plan:
        """Asks for one block and takes it in; nothing where the candidate failed, must not be started, or would leave
        no time for the last comparison."""
        if not (last or isinstance(what, str) or self.time.affords(what)):
            return
        if isinstance(what, Settings):
            tried = self.readings.tried.setdefault(what, Tried(what))
            tried.failed = tried.failed or self.limits.refusal(what) or ""
            if tried.failed:
                return
        least, seconds = self._size(what)
        most = self.time.late(what, last=last)
        answer = yield Request(Measure(what, batches or least, seconds, fresh, most), purpose)
        self.time.spend(what, answer.seconds, answer.block)
        if answer.block is None:
            late = answer.seconds >= most
            if what == BASELINE and not self.readings.references[BASELINE]:
                raise BaselineError(answer.reason + ": it takes a longer --budget" if late else answer.reason)
            if isinstance(what, Settings) and not (last and late):
                self.readings.tried[what].failed = answer.reason
            return
        if kept is not None:
            kept[what] = answer.block
        self.readings.add(what, answer.block)
        self.readings.busy.update({what: answer.busy} if isinstance(what, Settings) and answer.busy else {})
        workers = self.baseline.num_workers if isinstance(what, str) else what.num_workers
        if workers and answer.block.worker_bytes:
            self.limits = replace(self.limits, worker=max(1, answer.block.worker_bytes // workers))

    def _size(self, what: What) -> tuple[int, float]:
        """How long a block is: 16 batches and a sixtieth of the budget; where batches are slow, as many of them as
        fit into twice that."""
        target = block_seconds(self.budget)
        settings = self.baseline if isinstance(what, str) else what
        expected = self.readings.seconds(settings)
        if expected is None and settings.num_workers:
            expected = self.readings.seconds(self.baseline)
        if expected is None:
            return 2, target
        return max(2, min(16, round(2 * target / expected))), target
