"""From blocks to ratios with intervals.

A gain is the time that the old settings take for a batch, divided by the time that the new ones take, in two blocks
that are neighbours in time. The machine's drift and a neighbour's load are nearly the same in both, so the ratio is
free of them where the times themselves are not. The interval is Student's, on the logarithms of the ratios: a ratio
and its inverse are then equally far from 1, and few rounds give a wide interval instead of a wrong one.

Blocks are paired without overlap. Within the first two pairs the order alternates (old new, new old): a steady drift
moves one ratio up and the next one down, so that it widens the interval and does not shift it. From then on lots are
drawn: whatever a neighbour does and whatever its rhythm, where nothing is to be gained a ratio is as likely above 1 as
below.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from random import Random
from typing import TypeVar

CONFIDENCE = 0.95
"""Two-sided confidence of every interval."""
MARGIN = 1.02
"""A candidate wins only if the lower end of its gain is above this."""
WORTH = 1.05
"""A gain that cannot be as large as this is none worth having: there is nothing to gain where it is ruled out."""
FALSE_WINS = 0.02
"""Declared rate: where nothing is to be gained, at most this share of trials ends with a win, on a quiet machine and
beside a neighbour's load. (An interval is looked at after every round, so that it clears 1 itself in 3 to 4 %; the
margin is what keeps the rate.)"""

_T_975 = (
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131,
    2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
)  # fmt: skip
_Z_975 = 1.959964
_MOST_FREEDOM = 6

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Interval:
    """A ratio with its uncertainty: the geometric mean of ``pairs`` ratios and the ends of its interval.

    With fewer than two pairs the interval is open: ``low`` is 0 and ``high`` infinite.
    """

    ratio: float
    low: float
    high: float
    pairs: int

    @property
    def wins(self) -> bool:
        """Whether the gain is beyond doubt and beyond the margin."""
        return self.low > MARGIN

    @property
    def half_width(self) -> float:
        """Half the interval on the logarithmic scale: 0.02 means about 2 % either way; infinite with one pair."""
        return math.log(self.high / self.low) / 2 if self.low > 0 else math.inf

    def widened(self, by: float) -> Interval:
        """The same ratio with an interval that is ``by`` times as wide."""
        low = self.ratio * (self.low / self.ratio) ** by
        return Interval(self.ratio, low, self.ratio * (self.high / self.ratio) ** by, self.pairs)


def student(freedom: int) -> float:
    """The 97.5 % quantile of Student's t with ``freedom`` >= 1 degrees of freedom, exact to three digits."""
    if freedom < 1:
        raise ValueError("Student's t needs at least one degree of freedom")
    if freedom <= len(_T_975):
        return _T_975[freedom - 1]
    return _Z_975 + (_Z_975**3 + _Z_975) / (4 * freedom)


def interval(ratios: Sequence[float]) -> Interval:
    """The interval of the geometric mean of ``ratios``.

    Raises:
        ValueError: there is none, or one is not a positive finite number.
    """
    logs = _logs(ratios)
    count = len(logs)
    mean = math.fsum(logs) / count
    if count == 1:
        return Interval(math.exp(mean), 0.0, math.inf, 1)
    deviation = math.dist(logs, [mean] * count) / math.sqrt(count - 1)
    reach = student(count - 1) * deviation / math.sqrt(count)
    return Interval(math.exp(mean), math.exp(mean - reach), math.exp(mean + reach), count)


def _logs(ratios: Sequence[float]) -> list[float]:
    """Their logarithms.

    Raises:
        ValueError: as :func:`interval`.
    """
    if not ratios:
        raise ValueError("an interval needs at least one ratio")
    if not all(map(math.isfinite, ratios)) or min(ratios) <= 0:
        raise ValueError("ratios of times are positive and finite")
    return list(map(math.log, ratios))


def mean_gain(old: Sequence[float], new: Sequence[float]) -> float:
    """The ratio of :func:`gain`, without its interval.

    Raises:
        ValueError: as :func:`gain`.
    """
    logs = _logs([before / after for before, after in zip(old, new, strict=True)])
    return math.exp(math.fsum(logs) / len(logs))


def gain(old: Sequence[float], new: Sequence[float]) -> Interval:
    """How many times as fast ``new`` is, from the times of blocks that are neighbours: ``old[i]`` with ``new[i]``.

    Raises:
        ValueError: as :func:`interval`, or the two differ in length.
    """
    return interval([before / after for before, after in zip(old, new, strict=True)])


def gain_of_runs(old: Sequence[Sequence[float]], new: Sequence[Sequence[float]]) -> Interval:
    """As :func:`gain`, from whole runs with the times of their blocks, ``old[i]`` a neighbour of ``new[i]``. Blocks of
    one run are no strangers to each other: the interval is no narrower than the means of runs differ among themselves.

    Raises:
        ValueError: as :func:`gain`.
    """
    found = gain(list(chain(*old)), list(chain(*new)))
    count = len(old)
    if count < 2:
        return found
    variance = 0.0
    for side in (old, new):
        means = [math.fsum(map(math.log, run)) / len(run) for run in side]
        variance += math.dist(means, [math.fsum(means) / count] * count) ** 2 / (2 * (count - 1))
    freedom = min(found.pairs - 1, _MOST_FREEDOM)
    reach = max(found.half_width, student(freedom) * math.sqrt(2 * variance / count))
    return Interval(found.ratio, found.ratio * math.exp(-reach), found.ratio * math.exp(reach), found.pairs)


def pairs_for(found: Interval, most: int) -> int:
    """Pairs of blocks that another comparison is likely to need to distinguish a gain like ``found`` from none; at most
    ``most``."""
    if found.pairs < 2 or found.ratio <= 1:
        return most
    return _pairs_until(found, math.log(found.ratio), most)


def pairs_to_settle(found: Interval, most: int) -> int:
    """Pairs of blocks after which a comparison like ``found`` is likely to distinguish a gain from none, or to rule one
    out that is worth having; at most ``most``."""
    if found.pairs < 2:
        return most
    return _pairs_until(found, max(math.log(found.ratio / MARGIN), math.log(WORTH / found.ratio)), most)


def _pairs_until(found: Interval, distance: float, most: int) -> int:
    """Pairs after which half the width of an interval like ``found`` is well below a distance between logarithms."""
    spread = found.half_width * math.sqrt(found.pairs) / student(found.pairs - 1)
    return next((n for n in range(2, most) if student(n - 1) * spread / math.sqrt(n) <= 0.7 * distance), most)


def order(members: Sequence[T], number: int, random: Random) -> list[T]:
    """The order in which round ``number`` (from 0) visits ``members``: forward, backward, random, forward...

    Two members take turns once, so that drift cancels as early as it can. From then on lots decide: an order with a
    rhythm would mistake a load with that rhythm for a gain.
    """
    turn = min(number, 2) if len(members) <= 2 else number % 3
    if turn == 0:
        return list(members)
    if turn == 1:
        return list(reversed(members))
    return random.sample(list(members), len(members))
