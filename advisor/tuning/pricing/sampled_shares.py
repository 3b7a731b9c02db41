"""From samples of the loop's stack to shares of a step with their intervals. Pure code."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

from accel_advisor.finding import Price
from accel_advisor.tuning.probe.channel.wire import LoopSamples, LoopStack
from accel_advisor.tuning.showing.explain import wilson

STRETCHES = 20
"""Stretches of equal length that the samples are cut into: what differs between them is what steps differ by."""
_T_975 = 2.093
"""The quantile of Student's distribution for as many stretches."""
_OFF = 0.03
"""What a share may be off by whatever the number of samples, of itself: a sample is put off while compiled code keeps
the interpreter, and is then charged to the place where it lets go."""


class Shares:
    """Shares of a step, from the samples of one block.

    Args:
        fetching: the share of the block in which batches were fetched, where a clock tells: samples of that and of all
            else then stand for what they took. Where steps take a millisecond, samples alone miss it by points.
    """

    def __init__(self, samples: LoopSamples, fetching: float | None = None) -> None:
        if fetching is not None:
            samples = _clocked(samples, fetching)
        self.stacks = samples.stacks
        self.count = len(samples.samples)
        self._total = math.fsum(seconds for _, seconds in samples.samples)
        squares = math.fsum(seconds * seconds for _, seconds in samples.samples)
        self._effective = self._total**2 / squares if squares else 0.0
        length = max(math.ceil(self.count / STRETCHES), 1)
        self._stretches = [samples.samples[start : start + length] for start in range(0, self.count, length)]

    def of(self, stacks: set[int]) -> float:
        """The share of several stacks together."""
        found = math.fsum(seconds for part in self._stretches for number, seconds in part if number in stacks)
        return found / self._total if self._total else 0.0

    def price(self, stacks: set[int], waits: str = "", saves: float | None = None) -> Price:
        """The share of several stacks together, with the ends of its 95 % interval: as wide as the number of samples
        makes it, and as the stretches differ."""
        share = self.of(stacks)
        low, high = wilson(share, self._effective)
        half = math.hypot(self._spread(stacks, share), _OFF * share)
        low, high = min(low, share - half), max(high, share + half)
        return Price(share, max(low, 0.0), min(high, 1.0), waits, saves)

    def where(self, counts: Callable[[LoopStack], bool]) -> set[int]:
        """The numbers of the stacks that count."""
        return {number for number, stack in enumerate(self.stacks) if counts(stack)}

    def _spread(self, stacks: set[int], share: float) -> float:
        """Half of the interval of a ratio of sums, as the stretches give it."""
        parts = self._stretches
        if len(parts) < 2:
            return 1.0
        off = [_rest(part, stacks, share) for part in parts]
        variance = math.fsum(one * one for one in off) * len(parts) / (len(parts) - 1)
        return _T_975 * math.sqrt(variance) / self._total


def _clocked(samples: LoopSamples, fetching: float) -> LoopSamples:
    """The samples with other weights, so that those that were taken in a fetch make up this share; as they are where
    all or none of them were."""
    fetches = [stack.fetching is not None for stack in samples.stacks]
    total = math.fsum(seconds for _, seconds in samples.samples)
    within = math.fsum(seconds for number, seconds in samples.samples if fetches[number])
    if not 0.0 < within < total:
        return samples
    factors = (1 - fetching) * total / (total - within), fetching * total / within
    weighed = tuple((number, factors[fetches[number]] * seconds) for number, seconds in samples.samples)
    return replace(samples, samples=weighed)


def _rest(part: Sequence[tuple[int, float]], stacks: set[int], share: float) -> float:
    return math.fsum((number in stacks) * seconds - share * seconds for number, seconds in part)
