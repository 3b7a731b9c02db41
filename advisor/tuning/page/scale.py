"""From values to places on a page, in per cent of the width that there is."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Tick:
    """A mark on an axis: its place in per cent, and what it says."""

    at: float
    text: str


@dataclass(frozen=True, slots=True)
class Scale:
    """From 0 to ``most``, which lies at the right edge."""

    most: float

    def at(self, value: float) -> float:
        """The place of ``value`` in per cent, within the picture."""
        return round(100 * min(max(value / self.most, 0.0), 1.0), 3) if self.most > 0 else 0.0

    def ticks(self, text: Callable[[float], str], most: int = 5) -> tuple[Tick, ...]:
        """Round values from 0, at most so many, and none so near to the right edge that it would be cut."""
        step = round_step(self.most / most)
        count = int(self.most / step + 1e-9)
        return tuple(Tick(self.at(n * step), text(n * step)) for n in range(count + 1) if self.at(n * step) <= 96)


def round_step(value: float) -> float:
    """The least of 1, 2 and 5 times a power of ten that is not below ``value``."""
    if not value > 0:
        return 1.0
    power: float = 10.0 ** math.floor(math.log10(value))
    return next(factor * power for factor in (1, 2, 5, 10) if factor * power >= value * (1 - 1e-9))
