"""When runs that take turns settle which side is faster."""

import math
from random import Random

import pytest

from accel_advisor.tuning.search.paired_runs import MOST_PAIRS, ORDER, PairedRuns
from accel_advisor.tuning.search.statistics import WORTH


def test_both_sides_run_as_often_and_as_early() -> None:
    """A steady drift of the machine, or one that grows steadily, favours neither side."""
    places = {side: [number for number, new in enumerate(sum(ORDER, ())) if new is side] for side in (True, False)}
    assert sum(places[True]) == sum(places[False])
    assert sum(place**2 for place in places[True]) == sum(place**2 for place in places[False])


def test_as_many_blocks_of_a_pair_count_as_both_runs_have() -> None:
    paired = PairedRuns()
    paired.add(True, (0.5, 0.5, 9.0))
    assert paired.pairs == 0
    paired.add(False, (1.0, 1.0))
    assert (paired.pairs, paired.gain.pairs, paired.gain.ratio) == (1, 2, pytest.approx(2.0))


@pytest.mark.parametrize(
    ("worth", "blocks", "beside"), [(None, 3, False), (None, 8, True), (WORTH, 4, False), (WORTH, 8, True)]
)
@pytest.mark.parametrize(
    ("process", "block", "most"),
    [(own, within, 0.02) for own in (0.0, 0.01, 0.03) for within in (0.005, 0.05)]
    + [(own, within, 0.03) for own in (0.1, 0.3, 0.6) for within in (0.05, 0.3)],
)
def test_luck_of_a_process_is_no_gain(
    process: float, block: float, most: float, worth: float | None, blocks: int, beside: bool
) -> None:
    """Where nothing is to be gained, runs whose processes differ by some per cent win in no more than 2 % of cases, and
    in 3 % where they differ by any amount, as those of threads do that wait for each other beside a neighbour; also
    where what is undecided runs for longer."""
    random, wins = Random(1), 0
    for _ in range(1000):
        paired = PairedRuns()
        settled = False
        while not settled:
            pair = [[random.gauss(0, process)] * blocks for _ in range(2)]
            for new, run in enumerate(pair):
                paired.add(bool(new), [math.exp(offset + random.gauss(0, block)) for offset in run])
            found, settled = paired.settled(worth, beside=beside)
        wins += found.wins
    assert wins <= 1000 * most


@pytest.mark.parametrize(
    ("process", "gain", "least", "most"), [(0.03, 0.0, 0, 30), (0.1, 0.0, 0, 60), (0.03, -0.3, 480, 500)]
)
def test_one_unlucky_pair_is_no_loss(process: float, gain: float, least: int, most: int) -> None:
    """Of 500 races; a loss of a quarter is seen all the same."""
    random, slower = Random(3), 0
    for _ in range(500):
        paired, settled = PairedRuns(), False
        while not settled:
            for new in (True, False):
                luck = random.gauss(0, process) - gain * new
                paired.add(new, [math.exp(luck + random.gauss(0, 0.05)) for _ in range(8)])
            found, settled = paired.settled(WORTH, beside=True)
        slower += found.high < 1
    assert least <= slower <= most


@pytest.mark.parametrize(("gain", "pairs"), [(0.8, 1), (1.5, 2), (1.07, 4)])
def test_a_plain_answer_needs_fewer_runs(gain: float, pairs: int) -> None:
    random = Random(2)
    paired = PairedRuns()
    settled = False
    while not settled:
        for new, by in enumerate((gain, 1.0)):
            paired.add(bool(new), [by * random.uniform(0.99, 1.01) for _ in range(3)])
        found, settled = paired.settled()
    assert paired.pairs == pairs
    assert found.wins is (gain > 1)


@pytest.mark.parametrize(("gain", "found_at_least", "longer_at_most"), [(1.0, 0, 75), (1.25, 250, 120)])
def test_what_looks_like_a_gain_is_looked_at_for_longer(gain: float, found_at_least: int, longer_at_most: int) -> None:
    """Of 300 comparisons where processes differ by 8 %. Four pairs alone settle some 200 of the gains of a quarter."""
    random, wins, longer = Random(6), 0, 0
    for _ in range(300):
        paired, settled = PairedRuns(), False
        while not settled:
            for new in (True, False):
                own = random.gauss(0, 0.08) - (math.log(gain) if new else 0)
                paired.add(new, [math.exp(own + random.gauss(0, 0.03)) for _ in range(3)])
            found, settled = paired.settled()
        wins += found.wins
        longer += paired.pairs > len(ORDER)
    assert wins >= found_at_least if found_at_least else wins <= 6
    assert longer <= longer_at_most


@pytest.mark.parametrize(("gain", "most"), [(1.0, 0.0), (1.15, 0.03)])
def test_a_gain_worth_having_is_ruled_out_by_what_runs_differ_in_too(gain: float, most: float) -> None:
    """Where it is said that there is none, the interval rules it out; and seldom is there one nevertheless."""
    random, missed, early = Random(3), 0, 0
    for _ in range(500):
        paired = PairedRuns()
        settled = False
        while not settled:
            for new in (True, False):
                own = random.gauss(0, 0.01) - (math.log(gain) if new else 0)
                paired.add(new, [math.exp(own + random.gauss(0, 0.01)) for _ in range(3)])
            found, settled = paired.settled(1.05)
        assert found.wins or found.high < 1.05 or paired.pairs == MOST_PAIRS
        missed += gain > 1 and found.high < 1.05
        early += paired.pairs <= len(ORDER)
    assert missed <= 500 * most
    assert early >= 250


def test_what_is_worth_having_is_told_from_nothing_in_more_pairs() -> None:
    """Where processes differ by 2 %, four pairs leave a third of the comparisons undecided that eight settle."""
    random, left = Random(4), {None: 0, WORTH: 0}
    for worth in left:
        for _ in range(300):
            paired, settled = PairedRuns(), False
            while not settled:
                for new in (True, False):
                    own = random.gauss(0, 0.02)
                    paired.add(new, [math.exp(own + random.gauss(0, 0.02)) for _ in range(4)])
                found, settled = paired.settled(worth)
            left[worth] += not found.wins and found.high >= WORTH
    assert left[None] > 300 * 0.2
    assert left[WORTH] < 300 * 0.05


@pytest.mark.parametrize(("gain", "wins"), [(1.0, 0), (1.1, 270)])
def test_what_a_machine_does_to_both_sides_of_a_pair_hides_no_gain(gain: float, wins: int) -> None:
    """Where it is slower by a tenth now and then, runs beside each other tell what runs in turns do not."""
    random, settled_ones, won = Random(5), 0, 0
    for _ in range(300):
        paired, settled = PairedRuns(), False
        while not settled:
            machine = random.gauss(0, 0.1)
            for new in (True, False):
                own = machine + random.gauss(0, 0.02) - (math.log(gain) if new else 0)
                paired.add(new, [math.exp(own + random.gauss(0, 0.03)) for _ in range(8)])
            found, settled = paired.settled(WORTH, beside=True)
        settled_ones += found.wins or found.high < WORTH
        won += found.wins
    assert settled_ones >= 270
    assert won >= wins if wins else won <= 6
