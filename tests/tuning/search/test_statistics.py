"""Intervals: what they promise, and how often they are wrong."""

import math
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accel_advisor.tuning.search.statistics import (
    CONFIDENCE,
    Interval,
    gain,
    gain_of_runs,
    interval,
    order,
    pairs_for,
    pairs_to_settle,
    student,
)

ratios = st.lists(st.floats(0.05, 20.0), min_size=2, max_size=30)


def test_one_pair_proves_nothing() -> None:
    single = gain([3.0], [1.0])
    assert single.ratio == pytest.approx(3.0)
    assert (single.low, single.high) == (0.0, math.inf)
    assert not single.wins
    assert single.half_width == math.inf


def test_equal_blocks_do_not_win() -> None:
    assert not gain([1.0] * 10, [1.0] * 10).wins


def test_a_gain_within_the_margin_does_not_win() -> None:
    assert not gain([1.015] * 10, [1.0] * 10).wins


def test_a_clear_gain_wins() -> None:
    found = gain([2.0, 2.1, 1.9, 2.05], [1.0, 1.0, 1.02, 0.99])
    assert found.wins
    assert found.low < 2.0 < found.high


@pytest.mark.parametrize("bad", [[], [1.0, 0.0], [1.0, -2.0], [1.0, math.inf], [1.0, math.nan]])
def test_what_is_no_ratio_is_refused(bad: list[float]) -> None:
    with pytest.raises(ValueError, match="ratio"):
        interval(bad)


def test_unpaired_blocks_are_refused() -> None:
    with pytest.raises(ValueError, match="zip"):
        gain([1.0, 2.0], [1.0])


@given(ratios)
def test_the_estimate_lies_in_its_interval(values: list[float]) -> None:
    found = interval(values)
    assert found.low <= found.ratio * (1 + 1e-9)
    assert found.ratio <= found.high * (1 + 1e-9)


@given(ratios)
def test_swapping_old_and_new_inverts_the_interval(values: list[float]) -> None:
    there, back = interval(values), interval([1 / value for value in values])
    assert 1 / there.ratio == pytest.approx(back.ratio)
    assert 1 / there.high == pytest.approx(back.low)
    assert 1 / back.high == pytest.approx(there.low)


@given(ratios, st.floats(0.1, 10.0))
def test_units_do_not_matter(values: list[float], unit: float) -> None:
    plain = gain(values, [1.0] * len(values))
    scaled = gain([unit * value for value in values], [unit] * len(values))
    assert scaled.low == pytest.approx(plain.low)
    assert scaled.high == pytest.approx(plain.high)


@given(st.floats(1.0, 1.5), st.integers(2, 12))
def test_a_steady_drift_widens_and_hardly_shifts(drift: float, half: int) -> None:
    """The machine slows by ``drift`` from block to block while nothing is gained."""
    old: list[float] = []
    new: list[float] = []
    speed, random = 1.0, Random(half)
    for number in range(2 * half):
        for side in order((old, new), number, random):
            side.append(speed)
            speed *= drift
        if number == 1:
            assert gain(old, new).ratio == pytest.approx(1.0)
    assert not gain(old, new).wins


@pytest.mark.parametrize(("freedom", "value"), [(1, 12.706), (4, 2.776), (30, 2.042), (40, 2.021), (120, 1.980)])
def test_quantiles_agree_with_tables(freedom: int, value: float) -> None:
    assert student(freedom) == pytest.approx(value, abs=2e-3)


def test_quantiles_need_freedom() -> None:
    with pytest.raises(ValueError, match="freedom"):
        student(0)


@pytest.mark.parametrize("pairs", [3, 5, 8])
def test_intervals_cover_the_truth_as_often_as_they_say(pairs: int) -> None:
    random = Random(pairs)
    runs, covered = 4000, 0
    for _ in range(runs):
        found = interval([1.3 * math.exp(random.gauss(0, 0.05)) for _ in range(pairs)])
        covered += found.low <= 1.3 <= found.high
    tolerance = 4 * math.sqrt(CONFIDENCE * (1 - CONFIDENCE) / runs)
    assert covered / runs == pytest.approx(CONFIDENCE, abs=tolerance)


def test_rounds_go_forward_backward_and_at_random() -> None:
    members = list("abcdef")
    assert order(members, 0, Random(1)) == members
    assert order(members, 1, Random(1)) == members[::-1]
    assert sorted(order(members, 2, Random(1))) == members
    assert order(members, 2, Random(1)) == order(members, 2, Random(1))


def test_two_take_turns_and_then_draw_lots() -> None:
    random = Random(2)
    assert [order("ab", number, random) for number in range(2)] == [["a", "b"], ["b", "a"]]
    first = [order("ab", number, random)[0] for number in range(2, 400)]
    assert 150 < first.count("a") < 250
    assert first[::2] != first[1::2]


def test_runs_that_differ_widen_the_interval_that_their_blocks_would_give() -> None:
    old, new = [[2.0, 2.01], [2.2, 2.21]], [[1.0, 1.005], [1.0, 1.005]]
    blocks = gain([2.0, 2.01, 2.2, 2.21], [1.0, 1.005, 1.0, 1.005])
    runs = gain_of_runs(old, new)
    assert runs.ratio == pytest.approx(blocks.ratio)
    assert runs.half_width > blocks.half_width
    assert gain_of_runs(old[:1], new[:1]) == gain(old[0], new[0])


def test_runs_alike_give_the_interval_of_their_blocks() -> None:
    old, new = [[2.0, 2.2], [2.2, 2.0]], [[1.0, 1.0], [1.0, 1.0]]
    assert gain_of_runs(old, new).half_width == pytest.approx(gain([2.0, 2.2, 2.2, 2.0], [1.0] * 4).half_width)


def test_a_smaller_gain_or_a_wider_interval_needs_more_pairs() -> None:
    assert pairs_for(Interval(2.0, 1.9, 2.1, 4), 16) == 2
    assert pairs_for(Interval(1.1, 1.05, 1.15, 8), 16) > pairs_for(Interval(1.3, 1.25, 1.35, 8), 16)
    assert pairs_for(Interval(1.1, 1.0, 1.2, 8), 16) > pairs_for(Interval(1.1, 1.05, 1.15, 8), 16)
    assert pairs_for(Interval(0.9, 0.8, 1.0, 8), 16) == 16
    assert pairs_for(Interval(1.1, 0.0, math.inf, 1), 16) == 16


def test_pairs_that_settle_a_comparison_are_fewer_the_further_it_is_from_either_end() -> None:
    spread = 0.05
    open_one = Interval(1.035, 1.035 * math.exp(-spread), 1.035 * math.exp(spread), 4)
    plain = Interval(1.3, 1.3 * math.exp(-spread), 1.3 * math.exp(spread), 4)
    none = Interval(0.9, 0.9 * math.exp(-spread), 0.9 * math.exp(spread), 4)
    assert pairs_to_settle(plain, 50) <= 3
    assert pairs_to_settle(none, 50) <= 3
    assert pairs_to_settle(open_one, 50) > 10
    assert pairs_to_settle(interval([1.2]), 50) == 50
