"""Joules a sample, from counters that are read beside blocks."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import pytest

from accel_advisor.machine.gpus import Sample
from accel_advisor.tuning.probe.channel.wire import BASELINE, Block
from accel_advisor.tuning.record.device_schema import EnergyRecord
from accel_advisor.tuning.record.energy_use import OF_BLOCK, OF_SETTINGS, energy, joules


def block(began: float, seconds: float = 1.0, samples: int = 100) -> Block:
    return Block(BASELINE, 10, samples, seconds, 0.0, 0.0, seconds, 0.0, began)


def readings(stretches: Iterable[tuple[float, float, float]], *, every: float = 0.2) -> list[Sample]:
    """A counter, read ``every`` so many seconds while a card takes some watts: ``(begin, end, watts)`` in a row."""
    found, counter = [], 5e6
    for begin, end, watts in stretches:
        for number in range(round((end - begin) / every)):
            found.append(Sample(begin + number * every + 0.05, None, None, None, None, counter))
            counter += watts * every
    return found


def test_energy_is_power_by_time_by_samples() -> None:
    steady = readings([(0, 4, 300)])
    assert joules(steady, [block(1.0)], OF_BLOCK) == pytest.approx(3.0)
    assert joules(steady, [block(1.0), block(2.0, samples=200)], OF_SETTINGS) == pytest.approx(2.0)
    assert joules(steady, [replace(block(1.0), seconds=0.5)], OF_BLOCK) == pytest.approx(1.5)


def test_what_was_before_and_after_a_block_does_not_count() -> None:
    found = readings([(0, 2, 700), (2, 3, 100), (3, 5, 700)])
    assert joules(found, [block(2.0)], OF_BLOCK) == pytest.approx(1.0)
    assert joules(found, [block(1.0)], OF_BLOCK) == pytest.approx(7.0)


def test_what_a_card_takes_between_two_epochs_does_not_count() -> None:
    found = readings([(0, 1, 100), (1, 2, 700), (2, 3, 100)])
    through = block(0.0, 3.0, 300)
    parted = replace(through, seconds=2.0, samples=200, stretches=((0.0, 1.0), (2.0, 3.0)))
    assert joules(found, [parted], OF_BLOCK) == pytest.approx(1.0)
    assert joules(found, [through], OF_BLOCK) != pytest.approx(1.0, rel=0.5)


@pytest.mark.parametrize(("seconds", "told"), [(0.44, False), (0.46, True)])
def test_a_block_that_holds_too_few_readings_tells_nothing(seconds: float, told: bool) -> None:
    assert (joules(readings([(0, 4, 300)]), [block(1.0, seconds)], OF_BLOCK) is not None) is told


@pytest.mark.parametrize(("count", "told"), [(3, False), (4, True)])
def test_short_blocks_of_one_setting_are_joined(count: int, told: bool) -> None:
    blocks = [block(float(number), 0.3, 30) for number in range(count)]
    found = joules(readings([(0, 10, 300)]), blocks, OF_SETTINGS)
    assert found == (pytest.approx(3.0) if told else None)


def test_readings_of_two_blocks_have_nothing_between_them() -> None:
    """One reading in each of many blocks: what lies between two of them is no block."""
    assert joules(readings([(0, 10, 300)], every=1.0), [block(float(number), 0.9) for number in range(9)], 1) is None


def test_a_counter_that_is_missing_stands_or_goes_backwards_tells_nothing() -> None:
    steady = readings([(0, 4, 300)])
    assert joules(steady, [block(1.0)], OF_BLOCK) is not None
    assert joules([], [block(1.0)], OF_BLOCK) is None
    assert joules(steady, [], 0) is None
    assert joules([replace(one, energy=None) for one in steady], [block(1.0)], OF_BLOCK) is None
    assert joules([replace(one, energy=7.0) for one in steady], [block(1.0)], OF_BLOCK) is None
    assert joules(steady, [block(1.0, samples=0)], OF_BLOCK) is None
    reloaded = [replace(one, energy=(one.energy or 0.0) - (5e6 if one.at > 1.6 else 0.0)) for one in steady]
    assert joules(reloaded, [block(1.0)], OF_BLOCK) is None
    assert joules(reloaded, [block(2.0)], OF_BLOCK) == pytest.approx(3.0)


OLD, NEW = [block(float(number)) for number in (0, 2, 4, 6)], [block(float(number)) for number in (1, 3, 5, 7)]


def in_turns(*watts: float) -> list[Sample]:
    return readings([(float(number), number + 1.0, one) for number, one in enumerate(watts)])


def test_before_and_after_are_told_apart_by_neighbours() -> None:
    found = energy(in_turns(400, 300, 420, 310, 380, 290, 400, 300), OLD, NEW, list(zip(OLD, NEW, strict=True)), 2)
    assert found is not None
    assert (found.pairs, found.cards) == (4, 2)
    assert found.now == pytest.approx(4.0, rel=0.02)
    assert found.recommended == pytest.approx(3.0, rel=0.02)
    assert found.ratio is not None
    assert found.ratio.ratio == pytest.approx(0.75, rel=0.02)
    assert found.ratio.ratio == pytest.approx(found.recommended / found.now)
    assert found.ratio.low is not None
    assert found.ratio.high is not None
    assert 0.7 < found.ratio.low < found.ratio.ratio < found.ratio.high < 0.8


def test_fewer_than_two_pairs_give_both_numbers_alone() -> None:
    watts = in_turns(400, 300, 400, 300, 400, 300, 400, 300)
    assert energy(watts, OLD, NEW, [(OLD[0], NEW[0])], 1) == EnergyRecord(pytest.approx(4.0), pytest.approx(3.0))
    short = [(replace(old, seconds=0.3), replace(new, seconds=0.3)) for old, new in zip(OLD, NEW, strict=True)]
    assert energy(watts, OLD, NEW, short, 1) == EnergyRecord(pytest.approx(4.0), pytest.approx(3.0))
    assert energy(watts, OLD, [replace(NEW[0], seconds=0.7)], [], 1) == EnergyRecord(pytest.approx(4.0), None)


def test_where_nothing_is_recommended_there_is_one_number() -> None:
    watts = in_turns(400, 300, 400, 300, 400, 300, 400, 300)
    assert energy(watts, OLD, (), (), 1) == EnergyRecord(pytest.approx(4.0))
    assert energy(watts, OLD[:1], (), (), 1) == EnergyRecord(pytest.approx(4.0))
    assert energy(watts, [replace(OLD[0], seconds=0.7)], (), (), 1) is None
    assert energy([], OLD, NEW, list(zip(OLD, NEW, strict=True)), 1) is None
