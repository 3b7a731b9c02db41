"""What follows from a search that recommends nothing: settled, or open and what would settle it."""

from __future__ import annotations

import itertools

import pytest

from accel_advisor.tuning.probe.channel.wire import BASELINE, Block, Settings
from accel_advisor.tuning.search.conclusion import conclusion
from accel_advisor.tuning.search.readings import Loop
from accel_advisor.tuning.search.search import Answer, Search
from accel_advisor.tuning.search.settings import Limits
from accel_advisor.tuning.search.statistics import Interval
from accel_advisor.tuning.search.stops import (
    CutShort,
    Kept,
    NoGain,
    NoneRan,
    OpenHeadroom,
    Stop,
    Unexplored,
    Verdict,
    verdict_of,
)

from .simulation import Simulation, Workload, drive

READY = Workload(fetch_cpu=0.0001, step_device=0.02)
SLOW = Workload(fetch_cpu=0.08, step_cpu=0.002, step_device=0.018, cores=16, jitter=0.01)
IN_MEMORY = Workload(fetch_cpu=0.0008, step_device=0.004, handover=0.002, jitter=0.01)
"""A fetch takes less than taking its batch over from a worker would."""


def searched(workload: Workload, baseline: Settings, budget: float = 60.0, seed: int = 0) -> Search:
    search = Search(Loop(baseline, None), Limits(cores=workload.cores), budget=budget)
    drive(search, Simulation(workload, baseline, seed))
    return search


def verdict(kept: Kept) -> Verdict | None:
    return verdict_of(kept)


def test_data_that_is_ready_leaves_nothing_to_gain() -> None:
    kept = conclusion(searched(READY, Settings()))
    assert kept is Stop.NO_HEADROOM
    assert verdict(kept) is Verdict.NOTHING


def test_data_that_may_be_ready_leaves_it_open() -> None:
    """The ceilings differ by a tenth either way, however often they are read."""
    search = Search(Loop(Settings(2), None), Limits(cores=4))
    plan = search.plan()
    request = next(plan)
    fast = itertools.cycle((0.9, 1.1))
    try:
        while True:
            seconds = 1.0 if request.what == BASELINE else next(fast)
            block = Block(request.what, 10, 100, seconds, 0.0, 0.0, seconds, 0.0, 0.0)
            request = plan.send(Answer(block, 0.5))
    except StopIteration:
        pass
    kept = conclusion(search)
    assert isinstance(kept, OpenHeadroom)
    assert verdict(kept) is Verdict.UNDECIDED
    assert len(search.readings.rounds) == 16


def test_other_settings_that_are_slower_leave_nothing_to_gain() -> None:
    kept = conclusion(searched(IN_MEMORY, Settings()))
    assert verdict(kept) is Verdict.NOTHING, kept


@pytest.mark.parametrize("seed", range(3))
def test_readings_that_differ_too_much_leave_it_open(seed: int) -> None:
    """Workers cost as much as they bring, on a machine whose speed wanders."""
    workload = Workload(fetch_cpu=0.0008, step_cpu=0.003, step_device=0.001, handover=0.0007, jitter=0.01, wander=0.4)
    kept = conclusion(searched(workload, Settings(), budget=20, seed=seed))
    assert isinstance(kept, NoGain)
    assert verdict(kept) is Verdict.UNDECIDED
    assert kept.enough is None
    assert verdict(NoGain(Interval(1.0, 0.96, 1.04, 8))) is Verdict.NOTHING


def test_what_was_not_tried_is_not_ruled_out() -> None:
    """What was tried is slower; the time ended before the rest came to it."""
    search = searched(IN_MEMORY, Settings())
    search.unexplored = True
    kept = conclusion(search)
    assert isinstance(kept, Unexplored)
    assert kept.enough > 60
    assert verdict(kept) is Verdict.UNDECIDED


def test_an_interrupted_search_names_what_had_read_fastest() -> None:
    search, simulation = Search(Loop(Settings(), None), Limits(cores=16)), Simulation(SLOW, Settings())
    plan = search.plan()
    request = next(plan)
    before = conclusion(search, interrupted=True)
    assert before == CutShort()
    while len(search.readings.measured) < 3:
        request = plan.send(simulation.answer(request))
    kept = conclusion(search, interrupted=True)
    assert isinstance(kept, CutShort)
    assert kept.leader is not None
    assert kept.leader[0].num_workers > 0
    assert kept.leader[1] > 1.5
    assert verdict(kept) is Verdict.UNDECIDED


@pytest.mark.parametrize(("from_the_start", "kind"), [(True, NoneRan), (False, CutShort)])
def test_candidates_that_cannot_be_measured_leave_it_open(from_the_start: bool, kind: type[Kept]) -> None:
    """Neither from the start, nor when they are to be compared with the old settings."""
    search, simulation = Search(Loop(Settings(), None), Limits(cores=16)), Simulation(SLOW, Settings())
    plan = search.plan()
    request = next(plan)
    try:
        while True:
            fails = isinstance(request.what, Settings) and (from_the_start or bool(search.chosen))
            request = plan.send(Answer(None, 1.0, "killed") if fails else simulation.answer(request))
    except StopIteration:
        pass
    kept = conclusion(search)
    assert isinstance(kept, kind)
    assert verdict(kept) is Verdict.UNDECIDED
    if isinstance(kept, CutShort):
        assert kept.why.startswith("num_workers=")
        assert kept.why.endswith("could not be measured again: killed")


def test_nothing_is_concluded_where_no_knob_was_to_be_turned() -> None:
    assert verdict(Stop.NO_KNOB) is None
