"""Old source against new: which runs are made, what they prove, and that search and verification end in time."""

from __future__ import annotations

import math
from collections.abc import Callable
from random import Random

import pytest

from accel_advisor.tuning.probe.channel.wire import BASELINE, Measure, Settings
from accel_advisor.tuning.search.allowance import whole
from accel_advisor.tuning.search.purposes import Purpose
from accel_advisor.tuning.search.readings import Loop
from accel_advisor.tuning.search.search import Request, Search, block_seconds
from accel_advisor.tuning.search.settings import Limits
from accel_advisor.tuning.search.statistics import Interval, pairs_for
from accel_advisor.tuning.search.verification import Comparison, Ran, Run, Verification

from .simulation import Simulation, Workload, drive

CLEAR = Interval(2.0, 1.9, 2.1, 4)
SMALL = Interval(1.1, 1.03, 1.17, 12)
FALSELY_HOLDS = 0.05
"""At most this share of verifications holds where there is no gain, if ever they are made."""


def comparison(expected: Interval = CLEAR, *, start: float = 3.0, limit: float = 30.0) -> Comparison:
    return Comparison(expected, start=start, block=1.3, limit=limit, remedy="try --budget 90")


def compared(one: Comparison, answer: Callable[[Run], Ran]) -> tuple[Verification, list[Run]]:
    """What a comparison says, and the runs that it asked for."""
    plan, asked = one.plan(), []
    try:
        asked.append(next(plan))
        while True:
            asked.append(plan.send(answer(asked[-1])))
    except StopIteration as stopped:
        return stopped.value, asked


def noisy(seed: int, times: float, *, run: float, block: float, seconds: float = 6.0) -> Callable[[Run], Ran]:
    """Runs that differ from each other, of blocks that do; the new source is ``times`` as fast."""
    random = Random(seed)

    def answer(asked: Run) -> Ran:
        level = random.gauss(0, run) - (math.log(times) if asked.new else 0)
        return Ran(tuple(math.exp(level + random.gauss(0, block)) for _ in range(asked.blocks)), seconds)

    return answer


def sides(asked: list[Run]) -> str:
    return "".join("n" if run.new else "o" for run in asked)


# What it refuses


@pytest.mark.parametrize("limit", [15.0, 30.0, 90.0])
@pytest.mark.parametrize(("run", "block"), [(0.0, 0.01), (0.0, 0.1), (0.02, 0.03), (0.02, 0.1)])
@pytest.mark.parametrize("expected", [CLEAR, SMALL])
def test_the_same_source_twice_is_seldom_a_gain(expected: Interval, run: float, block: float, limit: float) -> None:
    runs = 600
    holds = sum(
        compared(comparison(expected, limit=limit), noisy(seed, 1.0, run=run, block=block))[0].holds
        for seed in range(runs)
    )
    assert holds <= FALSELY_HOLDS * runs


def test_a_slower_source_is_refused_after_a_run_of_either() -> None:
    said, asked = compared(comparison(), noisy(1, 0.5, run=0.0, block=0.001))
    assert not said.holds
    assert said.reason == "the new source is slower"
    assert sides(asked) == "no"


def test_a_source_that_cannot_be_measured_is_named() -> None:
    said, asked = compared(comparison(), lambda _: Ran((), 1.0, "it failed"))
    assert said == Verification(False, None, "the new source could not be measured: it failed")
    assert len(asked) == 1


def test_a_gain_that_could_not_be_made_sure_in_time_is_reported_with_the_remedy() -> None:
    said, asked = compared(comparison(SMALL), noisy(3, 1.03, run=0.0, block=0.1))
    assert not said.holds
    assert said.gain is not None
    assert said.gain.low < 1 < said.gain.ratio
    assert "too short" in said.reason
    assert "try --budget 90" in said.reason
    assert len(asked) < 8


def test_a_gain_that_does_not_show_in_all_its_runs_is_no_matter_of_time() -> None:
    said, asked = compared(comparison(SMALL, limit=500.0), noisy(4, 1.0, run=0.0, block=0.1))
    assert not said.holds
    assert "did not show" in said.reason
    assert sides(asked) == "noononno"


# What it asks for


def test_a_clear_gain_takes_two_runs_of_either() -> None:
    said, asked = compared(comparison(), noisy(1, 2.0, run=0.01, block=0.01))
    assert said.holds
    assert sides(asked) == "noon"
    assert {run.blocks for run in asked} == {2}


def test_a_small_gain_takes_longer_runs_rather_than_more() -> None:
    assert pairs_for(SMALL, 16) > pairs_for(CLEAR, 16)
    assert comparison(SMALL, limit=90.0).blocks > comparison(CLEAR, limit=90.0).blocks


def test_dear_starts_get_one_run_of_either_with_more_blocks() -> None:
    said, asked = compared(comparison(start=15.0, limit=45.0), noisy(1, 2.0, run=0.0, block=0.02, seconds=20.0))
    assert said.holds
    assert sides(asked) == "no"
    assert {run.blocks for run in asked} == {4}


def test_no_runs_begin_that_would_not_end_in_time() -> None:
    for seconds in (3.0, 6.0, 9.0, 14.0):
        _, asked = compared(comparison(SMALL), noisy(5, 1.02, run=0.0, block=0.1, seconds=seconds))
        assert len(asked) * seconds <= 30.0
        assert len(asked) >= 2


def test_what_is_known_decides_when_the_time_is_up_in_a_later_run() -> None:
    steady = noisy(1, 2.0, run=0.0, block=0.02)
    answers = iter([steady, steady, lambda _: Ran((), 1.0, "the time was spent", late=True)])
    said, asked = compared(comparison(SMALL), lambda run: next(answers)(run))
    assert said.holds
    assert len(asked) == 3


def test_a_run_with_fewer_blocks_than_its_neighbour_is_compared_in_those_that_both_have() -> None:
    plan = comparison(SMALL, limit=90.0).plan()
    asked = next(plan)
    plan.send(Ran((1.0, 1.0, 1.0, 9.0), asked.seconds))
    with pytest.raises(StopIteration) as stopped:
        plan.send(Ran((0.5, 0.51, 0.49), 90.0))
    assert stopped.value.value.gain.ratio < 1
    assert stopped.value.value.gain.pairs == 3


def test_a_run_knows_what_is_left_for_it() -> None:
    _, asked = compared(comparison(), noisy(1, 2.0, run=0.0, block=0.02, seconds=7.0))
    assert [run.seconds for run in asked] == pytest.approx([15.0, 23.0, 8.0, 9.0])
    assert all(run.least <= run.blocks for run in asked)


# In time


@pytest.mark.parametrize("start", [1.0, 3.0, 6.0, 12.0, 18.0])
@pytest.mark.parametrize("pool", [0.05, 2.0])
def test_a_run_ends_within_its_time_beyond_the_first_start(start: float, pool: float) -> None:
    """A small gain on a noisy machine, which takes as much time as there is; workers that start at once, or slowly."""
    loop = Workload(
        fetch_cpu=0.02, step_cpu=0.005, step_device=0.012, handover=0.002, spread=0.3, cores=2, jitter=0.05,
        wander=0.2, length=40, start=pool,
    )  # fmt: skip
    baseline = Settings(1)
    for seed in range(2):
        search = Search(Loop(baseline, loop.length), Limits(cores=loop.cores), seed=seed, start=start)
        drive(search, Simulation(loop, baseline, seed))
        chosen = search.recommended or search.chosen or Settings(2)
        block = search.time.pair(chosen) / 2
        left = 0.95 * (whole(search.budget) - search.spent)
        one = Comparison(search.gain or SMALL, start=start, block=block, limit=left, remedy="")

        def run(asked: Run, chosen: Settings = chosen, seed: int = seed) -> Ran:
            simulation = Simulation(loop, chosen if asked.new else baseline, seed)
            blocks = [
                simulation.answer(Request(Measure(BASELINE, 8, block_seconds(60.0), True), Purpose.CEILINGS))
                for _ in range(asked.blocks)
            ]
            times = tuple(each.block.seconds / each.block.batches for each in blocks if each.block is not None)
            return Ran(times, start + sum(each.seconds for each in blocks))

        _, asked = compared(one, run)
        seconds = len(asked) * start + sum(each.blocks for each in asked) * block
        assert search.spent + seconds <= 90
