"""What is said of pinned memory, and what an interval does to it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from accel_advisor.tuning.search.statistics import Interval, gain

CLAIMS = {"transfer": (1.3, 1.5), "training": (1.25, 1.25)}
"""Copies gain 30 to 50 %, training takes 20 % less time; as ratios of speeds."""


def judged(name: str, found: Interval) -> dict[str, Any]:
    """A ratio of speeds with its interval, and what it does to the claim: *confirmed* where the interval meets it,
    *refuted* below it, *exceeded* above it, *open* where it reaches from no gain at all to the claim, or from a single
    pair."""
    least, most = CLAIMS[name]
    if found.low <= 1 and found.high >= least:
        verdict = "open"
    else:
        verdict = "refuted" if found.high < least else "exceeded" if found.low > most else "confirmed"
    return ends(found) | {"claim": verdict}


def ends(found: Interval) -> dict[str, Any]:
    """A ratio with its interval; without one where a single pair was read."""
    low, high = (round(found.low, 4), round(found.high, 4)) if found.low > 0 else (None, None)
    return {"ratio": round(found.ratio, 4), "low": low, "high": high}


def compared(name: str, old: Sequence[float], new: Sequence[float]) -> dict[str, Any]:
    """As :func:`judged`, from the seconds of blocks that are neighbours in time."""
    return judged(name, gain(old, new))


def words(found: dict[str, Any]) -> str:
    """``1.32 (1.29-1.35) confirmed``"""
    reach = f" ({found['low']:.2f}-{found['high']:.2f})" if found["low"] is not None else ""
    return f"{found['ratio']:.2f}{reach} {found.get('claim', '')}".rstrip()
