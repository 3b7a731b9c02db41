"""Where the time of a block belongs: arithmetic on spans."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accel_advisor.tuning.probe.measuring.time_spans import exclusive, idle_at_first, intersect, length, subtract, union

ticks = st.integers(0, 50).map(float)
spans = st.lists(st.tuples(ticks, ticks), max_size=8)


def covered(of: list[tuple[float, float]]) -> set[int]:
    return {tick for begin, end in of for tick in range(int(begin), int(end))}


@given(spans)
def test_union_is_sorted_disjoint_and_covers_the_same(given_spans: list[tuple[float, float]]) -> None:
    merged = union(given_spans)
    assert covered(merged) == covered(given_spans)
    assert all(left[1] < right[0] for left, right in pairwise(merged))
    assert length(merged) == len(covered(given_spans))


@given(spans, spans)
def test_intersect_is_what_both_cover(left: list[tuple[float, float]], right: list[tuple[float, float]]) -> None:
    assert covered(intersect(union(left), union(right))) == covered(left) & covered(right)


@given(spans, spans)
def test_subtract_is_what_only_the_first_covers(
    left: list[tuple[float, float]], right: list[tuple[float, float]]
) -> None:
    assert covered(subtract(union(left), union(right))) == covered(left) - covered(right)


@given(spans, spans, spans, spans)
def test_exclusive_parts_add_up_and_do_not_overlap(
    active: list[tuple[float, float]],
    compute: list[tuple[float, float]],
    transfer: list[tuple[float, float]],
    wait: list[tuple[float, float]],
) -> None:
    whole = union(active)
    parts = exclusive(whole, compute, transfer, wait)
    assert sum(parts) == pytest.approx(length(whole))
    on = covered(active)
    of_compute = on & covered(compute)
    of_transfer = (on & covered(transfer)) - of_compute
    of_wait = (on & covered(wait)) - of_compute - of_transfer
    assert parts[:3] == (len(of_wait), len(of_transfer), len(of_compute))


def test_waiting_that_the_device_hides_is_not_lost() -> None:
    assert exclusive([(0.0, 10.0)], [(0.0, 6.0)], [(5.0, 7.0)], [(2.0, 9.0)]) == (2.0, 1.0, 6.0, 1.0)


def test_one_step_or_no_work_says_nothing_of_the_first() -> None:
    assert idle_at_first([(0.0, 5.0)], [(2.0, 5.0)], 1) == 0.0
    assert idle_at_first([(0.0, 5.0)], [], 4) == 0.0


def test_the_first_step_is_late_by_what_the_others_do_not_wait() -> None:
    assert idle_at_first([(0.0, 10.0)], [(2.0, 4.0), (5.0, 7.0), (8.0, 10.0)], 3) == pytest.approx(1.0)
    assert idle_at_first([(0.0, 10.0)], [(1.0, 10.0)], 5) == pytest.approx(1.0)
    assert idle_at_first([(0.0, 10.0)], [(0.0, 2.0), (8.0, 10.0)], 2) == 0.0
