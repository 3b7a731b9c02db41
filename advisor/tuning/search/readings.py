"""What a search knows: every block so far, and what follows from them about the loop."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from operator import mul
from statistics import fmean, geometric_mean

from accel_advisor.tuning.probe.channel.wire import BASELINE, NO_TRANSFER, NO_WAIT, Block, Settings
from accel_advisor.tuning.search.settings import consistent
from accel_advisor.tuning.search.statistics import Interval, gain, interval

What = Settings | str

_HANDOVER_GUESS = 0.001
_PERSISTENT_WORTH = 0.01
_LEAST_NOISE = 0.01
_LEAST_STEP = 1e-9
_WAITS = 0.1
_ALL_CORES, _OWN_CORES = 0.9, 0.5
"""Cores are taken where so many of them are busy, if the loop and its workers keep as many of them busy."""


@dataclass(frozen=True, slots=True)
class Loop:
    """What the search must know of the loop it searches for.

    Attributes:
        baseline: the settings in the user's source.
        length: batches in an epoch, None where it has no known end.
        accelerator: whether batches are copied to a device.
        may_persist: whether workers may outlive an epoch without changing what the script computes.
    """

    baseline: Settings
    length: int | None
    accelerator: bool = False
    may_persist: bool = True


@dataclass(frozen=True, slots=True)
class Busy:
    """Cores that were kept busy on average: by the loop and its workers, and by other work."""

    own: float
    others: float


@dataclass(slots=True)
class Tried:
    """A candidate and all that was measured of it. ``failed`` is the reason why it could not be, or was not, run."""

    settings: Settings
    blocks: list[Block] = field(default_factory=list)
    failed: str = ""


class Readings:
    """Blocks by what was measured, and in the rounds in which they were neighbours.

    A loop's time for a batch is that of the steady state, plus its share of what the start of an epoch costs: new
    workers and a first batch. That share is where persistent workers, or none, win or lose.

    Attributes:
        tried: every candidate, in the order in which they were first asked for.
        references: the blocks of the baseline and of the ceilings.
        rounds: blocks that were neighbours in time.
        busy: what was seen of the cores under a candidate, the last time.
    """

    def __init__(self, loop: Loop) -> None:
        self.loop = replace(loop, baseline=consistent(loop.baseline))
        self.tried: dict[Settings, Tried] = {}
        self.references: dict[str, list[Block]] = {BASELINE: [], NO_WAIT: [], NO_TRANSFER: []}
        self.rounds: list[dict[What, Block]] = []
        self.busy: dict[Settings, Busy] = {}
        self._fetch: float | None = None
        self._fetch_apart: float | None = None
        self._handover = _HANDOVER_GUESS
        self._least_wait = math.inf

    @property
    def baseline(self) -> Settings:
        """The settings in the user's source."""
        return self.loop.baseline

    def add(self, what: What, block: Block) -> None:
        """Takes in a block, and what it shows of the costs of a fetch and of taking a batch over."""
        if self.loop.length is None and block.epoch_batches:
            self.loop = replace(self.loop, length=block.epoch_batches)
        if isinstance(what, str):
            self.references[what].append(block)
            if what == BASELINE:
                self._learn(self.baseline, block)
        else:
            self.tried[what].blocks.append(block)
            self._learn(what, block)

    def _learn(self, settings: Settings, block: Block) -> None:
        per_batch = block.seconds / block.batches
        if settings.num_workers == 0:
            self._fetch = block.wait / block.batches
            return
        self._least_wait = min(self._least_wait, block.wait / block.batches)
        if block.wait > _WAITS * block.seconds:
            self._fetch_apart = min(self._fetch_apart or math.inf, settings.num_workers * per_batch)
        elif self.references[NO_WAIT]:
            step = self.step_seconds
            self._handover = max(0.0, min(per_batch - step, 0.5 * step))

    # Single settings

    def blocks(self, settings: Settings) -> list[Block]:
        """Every block under ``settings``, those of the baseline among them where they are the same."""
        own = self.tried[settings].blocks if settings in self.tried else []
        return own + self.references[BASELINE] if settings == self.baseline else own

    @property
    def measured(self) -> list[Settings]:
        """Everything that has a block, the baseline included."""
        return [s for s in dict.fromkeys((*self.tried, self.baseline)) if self.blocks(s)]

    def seconds(self, settings: Settings) -> float | None:
        """Mean seconds a batch under ``settings``, an epoch's start included; None where nothing was measured."""
        blocks = self.blocks(settings)
        if not blocks:
            return None
        return geometric_mean([self.charged(settings, block) for block in blocks])

    def rate(self, settings: Settings) -> float | None:
        """Samples a second under ``settings``, an epoch's start included; None where nothing was measured."""
        seconds, blocks = self.seconds(settings), self.blocks(settings)
        if seconds is None:
            return None
        return sum(block.samples for block in blocks) / sum(block.batches for block in blocks) / seconds

    def starved(self, settings: Settings) -> float:
        """The share of the step that waits for data under ``settings``."""
        blocks = self.blocks(settings)
        return sum(b.wait for b in blocks) / sum(b.seconds for b in blocks) if blocks else 0.0

    def saturated(self, settings: Settings, cores: float) -> bool:
        """Whether workers under ``settings`` compute rather than sleep and there is no core left for more of them. A
        loop that hardly waits may keep all cores busy by itself."""
        seen = self.busy.get(settings)
        if seen is None or self.starved(settings) <= _WAITS:
            return False
        return seen.own + seen.others >= _ALL_CORES * cores and seen.own >= _OWN_CORES * cores

    # Starts of epochs

    def epoch_start(self, settings: Settings) -> float:
        """Seconds by which the start of an epoch under ``settings`` makes it longer than its batches alone."""
        if settings.num_workers == 0:
            return 0.0
        own = self.blocks(settings)
        kin = own + self.blocks(replace(settings, persistent_workers=not settings.persistent_workers))
        if not kin:
            return 0.0
        starts = [start for block in own if (start := self._start_seen(settings, block))]
        if not starts and settings.persistent_workers:
            starts = [self._fetch or self._fetch_apart or 0.0]
        starts = starts or [block.pool_seconds for block in kin if block.pool_seconds > 0]
        return self._beyond(settings, fmean(starts), kin) if starts else 0.0

    def _start_seen(self, settings: Settings, block: Block) -> float | None:
        """Seconds from an epoch's end to the next one's first batch, as ``block`` saw them; None where it did not."""
        if settings.persistent_workers:
            return block.epoch_seconds
        start = block.epoch_seconds or block.pool_seconds or None
        # The first pool of a process has followed none: what stopping one takes is known from others.
        return None if start is None else start + (self._stopping(settings) if start == block.pool_seconds else 0.0)

    def _stopping(self, settings: Settings) -> float:
        """Seconds that it takes to stop so many workers."""
        seen = [b.epoch_seconds - b.pool_seconds for b in self.blocks(settings) if b.pool_seconds and b.epoch_seconds]
        seen = [seconds for seconds in seen if seconds > 0]
        return fmean(seen) if seen else 0.0

    def _beyond(self, settings: Settings, start: float, blocks: list[Block]) -> float:
        """What a ``start`` adds to an epoch whose batches run as in ``blocks``. The loop waits for all of it; but the
        workers, which fetch all at once then, have the first batch of each ready: for these it does not wait again."""
        waited = sum(block.wait for block in blocks) / sum(block.batches for block in blocks)
        # Taking a batch over counts as waiting, and is not: it costs no more than the least that was ever waited.
        late = max(0.0, waited - min(self._least_wait, max(_HANDOVER_GUESS, 0.5 * self.step_seconds)))
        return max(0.0, start - min(settings.num_workers, self.loop.length or math.inf) * late)

    def charged(self, settings: Settings, block: Block) -> float:
        """Seconds a batch in ``block``, with the mean cost of an epoch's start under ``settings``."""
        steady = block.seconds / block.batches
        return steady if self.loop.length is None else steady + self.epoch_start(settings) / self.loop.length

    def charged_itself(self, settings: Settings, block: Block) -> float:
        """As :meth:`charged`, with the start that this very block saw where it saw one."""
        start = self._start_seen(settings, block)
        if self.loop.length is None or start is None or settings.num_workers == 0:
            return self.charged(settings, block)
        return block.seconds / block.batches + self._beyond(settings, start, [block]) / self.loop.length

    def starts_matter(self, settings: Settings) -> bool:
        """Whether the starts of epochs take a share of the time that shows."""
        seconds = self.seconds(settings)
        if self.loop.length is None or seconds is None:
            return False
        return self.epoch_start(settings) / self.loop.length > _PERSISTENT_WORTH * seconds

    def starts_anew(self, settings: Settings) -> bool:
        """Whether a block of ``settings`` is to see the start of an epoch: where it shows, and workers do not outlive
        it."""
        return not settings.persistent_workers and self.starts_matter(settings)

    def preferred(self, settings: Settings) -> Settings:
        """``settings`` with workers that outlive the epoch, where they may and where their start is costly enough."""
        seconds = self.seconds(settings)
        if self.loop.length is None or seconds is None or not self.loop.may_persist or not settings.num_workers:
            return settings
        kept = replace(settings, persistent_workers=True)
        saved = (self.epoch_start(settings) - self.epoch_start(kept)) / self.loop.length
        return kept if saved > _PERSISTENT_WORTH * seconds else settings

    def potential(self, settings: Settings) -> float | None:
        """Seconds a batch under ``settings`` if its workers were kept where that is preferred."""
        seconds = self.seconds(settings)
        if seconds is None or self.loop.length is None:
            return seconds
        saved = self.epoch_start(settings) - self.epoch_start(self.preferred(settings))
        return seconds - saved / self.loop.length

    # Costs and comparisons

    @property
    def step_seconds(self) -> float:
        """What a step costs with data ready at once: from the ceiling, or the baseline less its waiting."""
        ready = self.references[NO_WAIT]
        if ready:
            return sum(b.seconds for b in ready) / sum(b.batches for b in ready)
        plain = self.references[BASELINE]
        return sum(b.seconds - b.wait for b in plain) / sum(b.batches for b in plain)

    def predicted_workers(self) -> int | None:
        """As many workers as it takes to fetch batches as fast as the loop takes them; None before a fetch was seen."""
        fetch = self._fetch_apart or self._fetch
        if fetch is None:
            return None
        return max(1, math.ceil(fetch / max(1e-9, self.step_seconds + self._handover)))

    def unwaited(self) -> Interval | None:
        """How many times as fast the baseline would be if it never waited for data and all else stayed as it is; None
        before it was measured. Each of its blocks says so by itself, whatever the machine did in the next one, and all
        together say what their share of waiting allows: where blocks differ, the mean of ratios would say more."""
        own = self.references[BASELINE]
        if not own:
            return None
        old = [self.charged(self.baseline, block) for block in own]
        new = [rest(block) for block in own]
        found = gain(old, new)
        before, after = (math.fsum(map(mul, times, (block.batches for block in own))) for times in (old, new))
        ratio = before / after
        return Interval(ratio, min(found.low, ratio), max(found.high, ratio), found.pairs)

    def crowding(self) -> Interval | None:
        """How many times as long what is left of a step takes beside the baseline's workers as without them; None where
        there are none, or nothing was measured."""
        shared = [(r[BASELINE], r[NO_WAIT]) for r in self.rounds if BASELINE in r and NO_WAIT in r]
        if not shared or not self.baseline.num_workers:
            return None
        return gain([rest(old) for old, _ in shared], [new.seconds / new.batches for _, new in shared])

    def ceiling(self, name: str) -> Interval | None:
        """How many times as fast the baseline would be with what ``name`` takes away, its workers and what they take of
        the machine among it; None before it was measured."""
        if name == NO_WAIT and not self.baseline.num_workers:
            return self.unwaited()  # waiting is in series with the step: its share says more than another block
        shared = [(r[BASELINE], r[name]) for r in self.rounds if BASELINE in r and name in r]
        if not shared:
            return None
        return gain(
            [self.charged(self.baseline, old) for old, _ in shared], [new.seconds / new.batches for _, new in shared]
        )

    def against_baseline(self, settings: Settings) -> Interval | None:
        """How many times as fast as the baseline ``settings`` ran, from the rounds in which both were measured; the
        ratio of mean times, with an open interval, where they shared none; None where it was never measured."""
        shared = [(r[BASELINE], r[settings]) for r in self.rounds if BASELINE in r and settings in r]
        if shared:
            return gain(
                [self.charged(self.baseline, old) for old, _ in shared],
                [self.charged(settings, new) for _, new in shared],
            )
        seconds, baseline = self.seconds(settings), self.seconds(self.baseline)
        return None if seconds is None or baseline is None else interval([baseline / seconds])

    def at_most(self, settings: Settings) -> float:
        """How many times as fast as the baseline ``settings``, which were measured, may be with their workers kept
        where preferred: beyond what the noise of all readings, or the rounds that both shared, leave open."""
        old, new = self.seconds(self.baseline), self.potential(settings)
        paired = self.between(self.baseline, settings)
        assert old is not None
        assert new is not None
        counts = [len(self.blocks(one)) for one in (self.baseline, settings)]
        reach = 2 * max(_LEAST_NOISE, self.noise()) * math.sqrt(math.fsum(1 / count for count in counts))
        if paired is not None:
            return paired.ratio * math.exp(min(reach, paired.half_width))
        return old / new * math.exp(reach)

    def between(self, one: Settings, other: Settings) -> Interval | None:
        """How many times the time of ``other`` the settings ``one`` take, workers kept where preferred, from the rounds
        that they shared; None where those are fewer than two."""
        keys = [BASELINE if settings == self.baseline else settings for settings in (one, other)]
        shared = [(r[keys[0]], r[keys[1]]) for r in self.rounds if all(key in r for key in keys)]
        if one == other or len(shared) < 2:
            return None
        first, second = self.preferred(one), self.preferred(other)
        return gain([self.charged(first, a) for a, _ in shared], [self.charged(second, b) for _, b in shared])

    def noise(self) -> float:
        """The standard deviation of the logarithm of a reading, from everything that was read more than once."""
        squares, freedom = 0.0, 0
        for blocks in (*self.references.values(), *(tried.blocks for tried in self.tried.values())):
            logs = [math.log(block.seconds / block.batches) for block in blocks]
            if len(logs) > 1:
                squares += math.fsum((value - fmean(logs)) ** 2 for value in logs)
                freedom += len(logs) - 1
        return math.sqrt(squares / freedom) if freedom else 0.0


def rest(block: Block) -> float:
    """Seconds of a batch that are left without the waiting for it."""
    return max(_LEAST_STEP, (block.seconds - block.wait) / block.batches)
