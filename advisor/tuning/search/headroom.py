"""What the ceilings leave to gain: pure code over what was read so far."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from accel_advisor.tuning.probe.channel.wire import NO_TRANSFER, NO_WAIT, Block
from accel_advisor.tuning.search.readings import Readings, rest
from accel_advisor.tuning.search.statistics import WORTH, Interval, gain

HEADROOM = 1.03
"""Under this ceiling there is nothing to gain from the loader."""
CROWDED = 1.1
"""Workers are in the way of the step where it takes more than this many times as long beside them."""
_NOISY = 1.25


@dataclass(frozen=True, slots=True)
class Excess:
    """A gain that reads larger than the ceiling.

    Attributes:
        rest: how many times as long what is left of a step takes under the old settings as under the new ones, in the
            very blocks that the gain is made of; None where that is no longer beyond doubt. The ceiling takes it for
            the same.
        apart: whether the intervals of the two have nothing in common.
    """

    rest: Interval | None
    apart: bool


class Headroom:
    """How far the knobs could reach at most.

    Args:
        readings: what is known; it grows while this looks on.
        transfers: whether transfers may be turned: they count then.
    """

    def __init__(self, readings: Readings, *, transfers: bool) -> None:
        self._readings = readings
        self._transfers = transfers

    @property
    def ceiling(self) -> Interval | None:
        """How many times as fast the loop would be with all of it taken away; None before it was measured."""
        moved = self._readings.ceiling(NO_TRANSFER) if self._transfers else None
        return moved or self._readings.ceiling(NO_WAIT)

    def excess(self, found: Interval, pairs: Sequence[tuple[Block, Block]]) -> Excess | None:
        """What there is to say of a gain ``found`` in ``pairs`` of old and new settings, where it reads larger than the
        ceiling; None where it does not."""
        ceiling = self.ceiling
        if ceiling is None or found.ratio <= ceiling.high:
            return None
        left = gain([rest(old) for old, _ in pairs], [rest(new) for _, new in pairs])
        return Excess(left if left.wins else None, apart=found.low > ceiling.high)

    @property
    def clear(self) -> bool:
        """Whether more rounds could hardly change what the ceiling says about going on."""
        found, crowding = self.ceiling, self._readings.crowding()
        if crowding is not None and crowding.ratio > _NOISY and not crowding.low > CROWDED:
            return False
        return found is None or found.ratio > _NOISY or found.low > HEADROOM or found.high < 1 + 1.5 * (HEADROOM - 1)

    @property
    def any(self) -> bool:
        """Whether there is something to gain, or readings are too noisy to say so."""
        found = self.ceiling
        return found is None or found.ratio >= HEADROOM or found.high > _NOISY

    @property
    def ruled_out(self) -> bool:
        """Whether nothing is left that is worth having."""
        found = self.ceiling
        return found is not None and found.high < WORTH
