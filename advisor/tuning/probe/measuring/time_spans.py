"""Sorted, disjoint spans of time and what can be done with them: pure arithmetic."""

from __future__ import annotations

import math
from collections.abc import Iterable

Spans = list[tuple[float, float]]


def union(spans: Iterable[tuple[float, float]]) -> Spans:
    """The same stretch of time as sorted, disjoint, non-empty spans."""
    merged: Spans = []
    for begin, end in sorted(spans):
        if end <= begin:
            continue
        if merged and begin <= merged[-1][1]:
            if end > merged[-1][1]:
                merged[-1] = (merged[-1][0], end)
        else:
            merged.append((begin, end))
    return merged


def intersect(left: Spans, right: Spans) -> Spans:
    """The time that is in both; both must be sorted and disjoint."""
    shared: Spans = []
    i = j = 0
    while i < len(left) and j < len(right):
        begin, end = max(left[i][0], right[j][0]), min(left[i][1], right[j][1])
        if begin < end:
            shared.append((begin, end))
        if left[i][1] <= right[j][1]:
            i += 1
        else:
            j += 1
    return shared


def subtract(left: Spans, right: Spans) -> Spans:
    """The time that is in ``left`` and not in ``right``; both must be sorted and disjoint."""
    rest: Spans = []
    passed = 0
    for begin, end in left:
        while passed < len(right) and right[passed][1] <= begin:
            passed += 1
        at = passed
        while at < len(right) and right[at][0] < end:
            first, last = right[at]
            if first > begin:
                rest.append((begin, first))
            begin = max(begin, last)
            at += 1
        if begin < end:
            rest.append((begin, end))
    return rest


def length(spans: Spans) -> float:
    """Seconds covered; the spans must be disjoint."""
    return sum(end - begin for begin, end in spans)


def exclusive(active: Spans, compute: Spans, transfer: Spans, wait: Spans) -> tuple[float, float, float, float]:
    """Split the active time into wait, transfer, compute and host, which add up to it.

    Where spans overlap (a device computes while the host waits for data), the time belongs to compute before
    transfer before wait: only what nothing hides is lost to the loader. Host is the rest.

    Returns:
        seconds of (wait, transfer, compute, host).
    """
    busy = intersect(active, union(compute))
    moving = intersect(active, union([*compute, *transfer])) if transfer else busy
    waiting = intersect(active, union([*compute, *transfer, *wait]))
    of_compute, of_moving, of_waiting = length(busy), length(moving), length(waiting)
    return (
        max(of_waiting - of_moving, 0.0),
        max(of_moving - of_compute, 0.0),
        of_compute,
        max(length(active) - of_waiting, 0.0),
    )


def idle_at_first(active: Spans, busy: Spans, steps: int) -> float:
    """Seconds by which a device that was waited for before ``steps`` steps stands idle longer before the first of them
    than before each of the others; ``busy`` must lie within ``active``."""
    if steps < 2 or not busy:
        return 0.0
    begin = busy[0][0]
    first = length(intersect(active, [(-math.inf, begin)]))
    later = length(active) - first - length(busy)
    return max(first - later / (steps - 1), 0.0)
