"""Whether a change moved the training: the losses of runs that saw the same batches from the same seed. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean

LEAST = 16
"""Losses that a comparison needs."""
TOLERANCE = 0.02
"""Share of the loss by which a run may lie above or below the script's own."""
_WINDOWS = 4
_ERRORS = 2.0


@dataclass(frozen=True, slots=True)
class Moved:
    """What became of the loss.

    Attributes:
        share: by which share of itself the mean loss changed; None where there was nothing to compare.
        reason: why the change must not be made, in words; empty where it may.
    """

    share: float | None
    reason: str = ""


def finite(losses: Sequence[float]) -> bool:
    """Whether no loss is infinite or no number."""
    return all(math.isfinite(loss) for loss in losses)


def compare(old: Sequence[float], again: Sequence[float], new: Sequence[float]) -> Moved:
    """Compares the losses of ``new`` with those of two runs of the script as it is, batch by batch.

    A run is cut into windows. In none of them may the mean difference be larger than :data:`TOLERANCE`, by more than
    what the script's own runs differ, and beyond twice its standard error: another order of additions, or other draws
    of a dropout, are no change of the training.
    """
    count = min(len(old), len(again), len(new))
    if count < LEAST:
        return Moved(None, f"only {count} losses were seen, too few to tell whether it changes the training")
    old, again, new = old[:count], again[:count], new[:count]
    if not finite(new) and finite(old):
        return Moved(None, "the loss is no longer a finite number")
    if not finite(old) or not finite(again):
        return Moved(None, "the script's own loss is not a finite number")
    scale = math.fsum(abs(loss) for loss in old) / count
    share = (math.fsum(new) / count - math.fsum(old) / count) / scale if scale else 0.0
    own = max(abs(fmean(one)) for one in _differences(old, again))
    for window in _differences(old, new):
        beyond = abs(fmean(window)) - _ERRORS * _error(window) - own
        if beyond > TOLERANCE * scale:
            return Moved(share, f"it changes the loss: its mean moves by {share:+.1%}".replace("%", " %"))
    return Moved(share)


def _differences(old: Sequence[float], new: Sequence[float]) -> list[list[float]]:
    count = len(old)
    ends = [count * number // _WINDOWS for number in range(_WINDOWS + 1)]
    both = list(zip(old, new, strict=True))
    return [[b - a for a, b in both[start:end]] for start, end in pairwise(ends)]


def _error(values: Sequence[float]) -> float:
    mean = fmean(values)
    return math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1) / len(values))
