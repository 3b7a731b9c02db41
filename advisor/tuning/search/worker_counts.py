"""How many workers to try next: pure code over what was read so far."""

from __future__ import annotations

import math
from dataclasses import replace

from accel_advisor.tuning.probe.channel.wire import Settings
from accel_advisor.tuning.search.readings import Readings
from accel_advisor.tuning.search.settings import Limits, consistent

TOLERANCE = 1.02
"""Settings that take at most this many times the best time count as equally fast; the simplest of them is taken."""
FINALIST = 1.06
"""Settings read within this of the best are measured again; more are where readings are noisier than that."""
STARVED = 0.03
"""Workers are late now and then where a loop waits for more than this share of its time."""

_STALLED, _UNEVEN = 0.15, 0.1


class WorkerCounts:
    """Numbers of workers and what was read of them.

    Args:
        readings: what is known; it grows while this looks on.
    """

    def __init__(self, readings: Readings) -> None:
        self._readings = readings

    @property
    def reach(self) -> float:
        """Settings read within this of the best may be the best."""
        return max(FINALIST, min(1.25, math.exp(2 * self._readings.noise())))

    def settings(self, base: Settings, count: int) -> Settings:
        """``base`` with ``count`` workers, as they are explored: whether workers persist does not show within an epoch,
        so it stays as the source has it and is decided last, from the measured cost of a start."""
        kept = self._readings.baseline.persistent_workers
        return consistent(replace(base, num_workers=count, persistent_workers=kept))

    def times(self, base: Settings) -> dict[int, float]:
        """Seconds a batch by the number of workers, of what was measured with all else as in ``base``."""
        found: dict[int, float] = {}
        for settings in self._readings.measured:
            count, seconds = settings.num_workers, self._readings.potential(settings)
            if seconds is not None and self.settings(base, count) == self.settings(settings, count):
                found[count] = min(seconds, found.get(count, math.inf))
        return found

    def uneven(self, starved: float) -> bool:
        """Whether a loop that waits for this share of its time waits as where a few batches take much longer than the
        others: readings of the same differ, so that one of them is no reason to stop."""
        return starved > _STALLED and self._readings.noise() > _UNEVEN

    def next(self, base: Settings, limits: Limits) -> int | None:
        """The number of workers to read next for ``base``; None where the interval is closed.

        It begins with no more than the cores, whatever the costs predict: only the loop itself shows whether a fetch
        waits or computes, and workers that fight for cores can be slower than none. It goes beyond them only where they
        are seen to sleep.
        """
        times, most = self.times(base), self._most(base, limits)
        busy = [count for count in times if count]
        if not most:
            return None
        cores = max(1, round(limits.cores))
        predicted = min(most, self._readings.predicted_workers() or cores)
        first = min(predicted, cores)
        if not busy or (len(busy) == 1 and first < busy[0]):
            return first
        best = min(times, key=lambda count: times[count])
        if self._doubtful(base, max(busy), times):
            return max(busy)
        enough = min(count for count in times if times[count] <= TOLERANCE * times[best])
        top = max(busy)
        if best == 0 and min(busy) > 1:
            return min(busy) // 2
        starved = self._starved(base, top)
        rising = enough == top or (times[top] <= self.reach * times[best] and self.uneven(starved))
        more = rising and top < most and starved > STARVED
        if more and not (top >= cores and self._readings.saturated(self.settings(base, top), limits.cores)):
            return min(most, max(top + 1, min(2 * top, predicted), math.ceil(1.5 * top)))
        below = max((count for count in times if count < enough), default=0)
        if enough - below > max(1, enough // 4):
            return predicted if below < predicted < enough else (below + enough) // 2
        above = min((count for count in times if count > best), default=best)
        if best and above - best > max(1, best // 4) and self._starved(base, best) > STARVED:
            return (best + above) // 2
        return None

    def _starved(self, base: Settings, count: int) -> float:
        return self._readings.starved(self.settings(base, count))

    def _doubtful(self, base: Settings, top: int, times: dict[int, float]) -> bool:
        """Whether more workers were slower than fewer although the loop waits for data: either they are in each other's
        way, or one of the two readings is off. A second one shows which."""
        fewer = [times[count] for count in times if 0 < count < top]
        slower = bool(fewer) and times[top] > TOLERANCE * min(fewer)
        read = len(self._readings.blocks(self.settings(base, top)))
        return slower and read == 1 and self._starved(base, top) > _STALLED

    def _most(self, base: Settings, limits: Limits) -> int:
        tried = self._readings.tried.values()
        failed = [one.settings.num_workers for one in tried if one.failed and one.settings.num_workers]
        most = min([limits.most_workers, *(count - 1 for count in failed)])
        return limits.largest(self.settings(base, 1), range(1, most + 1))
