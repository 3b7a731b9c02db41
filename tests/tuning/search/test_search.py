"""The search against simulated loaders: what it finds, what it costs, and when it keeps quiet."""

from collections.abc import Iterator
from dataclasses import replace
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accel_advisor.tuning.probe.channel.wire import BASELINE, NO_TRANSFER, NO_WAIT, Block, Measure, Settings
from accel_advisor.tuning.search.purposes import Purpose
from accel_advisor.tuning.search.readings import Loop
from accel_advisor.tuning.search.search import MOST_PAIRS, Answer, BaselineError, Request, Search
from accel_advisor.tuning.search.settings import Limits, prefetch
from accel_advisor.tuning.search.statistics import FALSE_WINS, MARGIN, interval
from accel_advisor.tuning.search.stops import Stop

from .simulation import Simulation, Workload, drive, true_rate


def search_for(workload: Workload, baseline: Settings, **options: object) -> tuple[Search, list[Request]]:
    """A search run to its end on a simulated loop, and everything that it asked for."""
    accelerator = workload.transfer > 0
    seed = int(options.pop("seed", 0))  # type: ignore[call-overload]
    loop = Loop(baseline, workload.length, accelerator, bool(options.pop("may_persist", True)))
    limits = options.pop("limits", Limits(cores=workload.cores))
    search = Search(loop, limits, seed=seed, **options)  # type: ignore[arg-type]
    simulation = Simulation(workload, baseline, seed)
    asked: list[Request] = []
    plan = search.plan()
    try:
        asked.append(next(plan))
        while True:
            asked.append(plan.send(simulation.answer(asked[-1])))
    except StopIteration:
        return search, asked


def confirmed(
    old: list[tuple[float, float]], new: list[tuple[float, float]], *, budget: float = 60.0, cost: float = 0.5
) -> tuple[Search, list[Request]]:
    """A last comparison in which the blocks of either side take these seconds and wait for so many of them, in turns;
    each costs the search as many seconds."""
    search = Search(Loop(Settings(), None), Limits(cores=4), budget=budget)
    plan, asked = search.confirm(Settings(2)), []
    counts = {True: 0, False: 0}
    try:
        asked.append(next(plan))
        while True:
            what = asked[-1].what
            sides, number = (old if what == BASELINE else new), counts[what == BASELINE]
            counts[what == BASELINE] += 1
            seconds, wait = sides[number % len(sides)]
            block = Block(what, 10, 100, seconds, wait, 0.0, seconds - wait, 0.0, 0.0)
            asked.append(plan.send(Answer(block, cost)))
    except StopIteration:
        return search, asked


def candidates(asked: list[Request]) -> Iterator[Settings]:
    return (request.what for request in asked if isinstance(request.what, Settings))


SLOW = Workload(fetch_cpu=0.08, step_cpu=0.002, step_device=0.018, cores=16, jitter=0.01)


# Nothing to gain: it stops and says so


def test_data_that_is_ready_ends_the_search_at_the_ceiling() -> None:
    search, asked = search_for(Workload(fetch_cpu=0.0001, step_device=0.02), Settings())
    assert search.recommended is None
    assert search.exhausted is Stop.NO_HEADROOM
    assert {request.what for request in asked} == {BASELINE, NO_WAIT}
    assert len(asked) <= 12


def test_a_loader_that_is_tuned_is_left_alone() -> None:
    search, _ = search_for(SLOW, Settings(6))
    assert search.recommended is None


def test_data_in_memory_gets_no_workers() -> None:
    search, asked = search_for(Workload(fetch_cpu=0.0008, step_device=0.004, handover=0.002), Settings())
    assert search.recommended is None
    assert len(list(candidates(asked))) <= 4


@pytest.mark.parametrize("load", [0.0, 0.4])
def test_false_wins_stay_within_the_declared_rate(load: float) -> None:
    """The last comparison between two names for the same settings, many times."""
    workload = Workload(fetch_cpu=0.02, step_cpu=0.003, spread=0.2, jitter=0.02, wander=0.05, load=load)
    runs, wins = 150, 0
    for seed in range(runs):
        simulation = Simulation(workload, Settings(4), seed)
        search = Search(Loop(Settings(4), None), Limits(cores=4), seed=seed)
        reference = simulation.answer(Request(Measure(NO_WAIT, 16, 0.5), Purpose.CEILINGS)).block
        assert reference is not None
        search.readings.add(NO_WAIT, reference)
        plan = search.confirm(Settings(4, 2))
        try:
            request = next(plan)
            while True:
                request = plan.send(simulation.answer(request))
        except StopIteration:
            wins += search.recommended is not None
    assert wins <= FALSE_WINS * runs + 2


@pytest.mark.parametrize(("waits", "pairs"), [(0.6, 4), (0.2, MOST_PAIRS)])
def test_a_gain_beyond_what_waiting_allows_is_measured_on(waits: float, pairs: int) -> None:
    """Twice as fast where a fifth of each step waits: what is left of the step takes twice as long beside the wait."""
    search, _ = confirmed([(1.0, waits)], [(0.5, 0.1)])
    assert len(search.final) == pairs
    assert search.recommended == Settings(2)
    found = search.excess
    assert (found is not None) == (waits < 0.5)
    if found is not None:
        assert found.apart
        assert found.rest is not None
        assert found.rest.ratio == pytest.approx(0.8 / 0.4)


def test_a_gain_beyond_a_wide_ceiling_is_no_disagreement() -> None:
    """It reads 1.65 beside a ceiling of 1.25 to 1.6, in blocks that leave open whether the step itself is slower."""
    search, _ = confirmed([(1.0, 0.2), (1.0, 0.35)], [(0.45, 0.0), (0.8, 0.0)])
    found = search.excess
    assert found is not None
    assert not found.apart
    assert found.rest is None


def test_a_likely_gain_is_compared_beyond_the_budget_once_and_says_so() -> None:
    """The budget ends while the gain reads 1.2 and is open: some seconds more, and no more than these."""
    likely, asked = confirmed([(1.4, 0.9), (0.95, 0.5)], [(1.0, 0.2)], budget=20.0, cost=1.5)
    over = [request for request in asked if request.purpose is Purpose.OVERTIME]
    assert over
    assert asked[-len(over) :] == over
    assert likely.spent - likely.overtime == pytest.approx(21.0)
    assert 0 < likely.overtime <= likely.time.most - 20.0
    assert likely.recommended is None
    open_still, asked = confirmed([(1.1, 0.9), (0.9, 0.5)], [(1.0, 0.2)], budget=20.0, cost=1.5)
    assert Purpose.OVERTIME not in {request.purpose for request in asked}
    assert open_still.overtime == 0.0


# Something to gain


def test_a_starved_loop_gets_about_as_many_workers_as_the_costs_say() -> None:
    search, asked = search_for(SLOW, Settings())
    assert search.recommended is not None
    assert 4 <= search.recommended.num_workers <= 6
    assert search.gain is not None
    assert search.gain.low > 3
    assert search.spent < 60
    assert len(asked) < 45


def test_the_gain_is_made_of_the_last_blocks_alone() -> None:
    search, asked = search_for(SLOW, Settings())
    last = [request for request in asked if request.purpose is Purpose.OLD_AGAINST_NEW]
    assert len(last) == 2 * len(search.final)
    assert asked[-len(last) :] == last
    assert [request.what for request in last[:4]] == [BASELINE, search.chosen, search.chosen, BASELINE]


def test_the_same_seed_asks_the_same_questions() -> None:
    assert search_for(SLOW, Settings(), seed=3)[1] == search_for(SLOW, Settings(), seed=3)[1]


def test_waiting_for_storage_takes_more_workers_than_cores() -> None:
    storage = Workload(fetch_io=0.2, step_device=0.015, handover=0.0005, cores=2)
    search, _ = search_for(storage, Settings())
    assert search.recommended is not None
    assert search.recommended.num_workers > 8


def test_no_more_workers_than_cores_are_tried_where_they_compute() -> None:
    """A busy neighbour makes one reading of four workers look as good as two: there is no core for them all the same.
    Where nobody sees the cores, they are tried."""
    decoding = Workload(fetch_cpu=0.05, step_cpu=0.002, step_device=0.002, cores=2, jitter=0.3, wander=0.15, load=0.3)
    most = {True: 0, False: 0}
    for counts in most:
        for seed in range(12):
            search = Search(Loop(Settings(), None), Limits(cores=2), seed=seed)
            drive(search, Simulation(decoding, Settings(), seed, counts_cores=counts))
            most[counts] = max(most[counts], *(one.num_workers for one in search.readings.tried))
    assert most[True] == 2
    assert most[False] > 2


def test_workers_that_sleep_are_added_beyond_the_cores_also_beside_a_neighbour() -> None:
    sleeping = Workload(fetch_io=0.1, fetch_cpu=0.002, step_cpu=0.002, step_device=0.008, cores=2, load=0.5)
    search = Search(Loop(Settings(), None), Limits(cores=2))
    drive(search, Simulation(sleeping, Settings()))
    assert max(one.num_workers for one in search.readings.tried) > 4


def test_workers_that_fight_for_cores_are_not_added() -> None:
    busy = Workload(fetch_cpu=0.06, step_cpu=0.03, step_device=0.0, cores=2)
    search, _ = search_for(busy, Settings())
    assert search.recommended is not None
    assert search.recommended.num_workers <= 3


def test_workers_that_thrash_do_not_hide_that_fewer_would_help() -> None:
    """Costs predict 16 workers for two cores; that many would be slower than none."""
    decoding = Workload(fetch_cpu=0.05, step_cpu=0.003, step_device=0.0, cores=2, thrash=1.0, jitter=0.01)
    assert true_rate(decoding, Settings(16)) < true_rate(decoding, Settings())
    search, _ = search_for(decoding, Settings())
    assert search.recommended is not None
    assert 1 <= search.recommended.num_workers <= 3


def test_workers_go_where_taking_batches_over_is_what_the_loop_waits_for() -> None:
    cheap = Workload(fetch_cpu=0.0001, step_cpu=0.0004, step_device=0.0, handover=0.001, cores=2, jitter=0.01)
    search, _ = search_for(cheap, Settings(2))
    assert search.recommended == Settings()


@pytest.mark.parametrize("seed", range(4))
def test_rare_stalls_get_enough_batches_ahead(seed: int) -> None:
    """A stall lasts as long as twenty steps; every reading is off by what number of them it happens to see."""
    stalling = Workload(fetch_io=0.0085, slow_share=0.05, slow_times=25, step_device=0.01, cores=2, jitter=0.01)
    search, _ = search_for(stalling, Settings(), seed=seed)
    assert search.recommended is not None
    assert search.recommended.num_workers * prefetch(search.recommended) >= 14


def test_short_epochs_keep_their_workers() -> None:
    short = replace(SLOW, length=10, start=0.3)
    search, _ = search_for(short, Settings(6))
    assert search.recommended is not None
    assert search.recommended.persistent_workers


@pytest.mark.parametrize("start", [3.0, 10.0])
def test_workers_that_are_dear_to_start_are_kept_and_time_is_left_to_verify_it(start: float) -> None:
    """They start by spawn, seconds each; the gain is foretold from three pairs of blocks."""
    spawned = Workload(fetch_io=0.024, step_device=0.008, length=40, start=0.6, start_worker=1.0, cores=2, jitter=0.02)
    search, _ = search_for(spawned, Settings(2), start=start)
    kept = Settings(3, persistent_workers=True)
    assert search.recommended == kept
    assert search.gain is not None
    assert search.gain.pairs == 3
    assert search.gain.ratio == pytest.approx(true_rate(spawned, kept) / true_rate(spawned, Settings(2)), rel=0.05)
    assert search.spent < 90 - 2 * start - 20


def test_workers_do_not_persist_where_the_data_set_changes_between_epochs() -> None:
    short = replace(SLOW, length=10, start=0.3)
    _, asked = search_for(short, Settings(6), may_persist=False)
    assert not any(settings.persistent_workers for settings in candidates(asked))


def test_long_epochs_need_no_persistence() -> None:
    search, _ = search_for(replace(SLOW, length=50_000), Settings())
    assert search.recommended is not None
    assert not search.recommended.persistent_workers


def test_epochs_shorter_than_the_start_of_workers_get_none() -> None:
    tiny = Workload(fetch_cpu=0.01, step_device=0.01, length=3, start=1.0)
    search, _ = search_for(tiny, Settings(), may_persist=False)
    assert search.recommended is None


def test_transfers_are_turned_only_on_an_accelerator() -> None:
    on_device = replace(SLOW, transfer=0.01)
    search, asked = search_for(on_device, Settings())
    assert NO_TRANSFER in {request.what for request in asked}
    assert search.recommended is not None
    assert search.recommended.pin_memory
    assert search.recommended.non_blocking
    _, asked = search_for(SLOW, Settings())
    assert not any(settings.pin_memory or settings.non_blocking for settings in candidates(asked))


def test_only_the_named_knobs_are_turned() -> None:
    _, asked = search_for(SLOW, Settings(2), knobs={"prefetch_factor"})
    assert {settings.num_workers for settings in candidates(asked)} == {2}
    _, asked = search_for(replace(SLOW, length=10), Settings(2), knobs={"num_workers"})
    assert {(prefetch(s), s.persistent_workers) for s in candidates(asked) if s.num_workers} == {(2, False)}


# Limits and failures


def test_candidates_that_do_not_fit_are_never_started() -> None:
    limits = Limits(cores=16, shared_memory=64 << 20, batch=8 << 20)
    search, asked = search_for(SLOW, Settings(), limits=limits)
    assert all(limits.refusal(settings) is None for settings in candidates(asked))
    assert search.recommended is not None
    assert search.recommended.num_workers <= 2


def test_a_candidate_that_fails_costs_itself_and_those_above() -> None:
    search = Search(Loop(Settings(), None), Limits(cores=16))
    simulation = Simulation(SLOW, Settings())
    plan = search.plan()
    request = next(plan)
    started: list[int] = []
    try:
        while True:
            if isinstance(request.what, Settings) and request.what.num_workers > 3:
                started.append(request.what.num_workers)
                request = plan.send(Answer(None, 1.0, "a worker was killed: out of memory"))
            else:
                request = plan.send(simulation.answer(request))
    except StopIteration:
        pass
    assert started == sorted(set(started), reverse=True)
    assert search.recommended is not None
    assert search.recommended.num_workers == 3
    assert any(tried.failed for tried in search.readings.tried.values())


def test_a_baseline_that_cannot_be_measured_ends_the_search() -> None:
    plan = Search(Loop(Settings(), None), Limits(cores=4)).plan()
    next(plan)
    with pytest.raises(BaselineError, match="no batches"):
        plan.send(Answer(None, 1.0, "no batches"))


@given(
    st.floats(0.02, 40),
    st.integers(0, 4),
    st.integers(2, 40),
    st.floats(0.005, 1.0),
    st.floats(0.1, 8),
    st.floats(0, 2),
)
def test_a_short_budget_ends_with_an_answer_in_words(
    budget: float, workers: int, length: int, step: float, fetch: float, start: float
) -> None:
    workload = Workload(fetch_io=fetch * step, step_cpu=0.0, step_device=step, start=start, length=length, cores=2)
    try:
        search, _ = search_for(workload, Settings(workers), budget=budget, start=budget / 5)
    except BaselineError as error:
        assert "longer --budget" in str(error)  # noqa: PT017 -- a budget may do, too
        return
    assert search.gain is not None or search.exhausted


def test_an_interrupted_search_keeps_what_it_knows() -> None:
    search = Search(Loop(Settings(), None), Limits(cores=16))
    simulation = Simulation(SLOW, Settings())
    plan = search.plan()
    request = next(plan)
    for _ in range(7):
        request = plan.send(simulation.answer(request))
    plan.close()
    assert (search.readings.ceiling(NO_WAIT) or interval([1.0])).ratio > 2
    assert any(tried.blocks for tried in search.readings.tried.values())
    assert search.gain is None
    assert search.recommended is None


# Many loops


def random_workload(random: Random) -> Workload:
    step = 10 ** random.uniform(-2.3, -1.2)
    fetch = step * 10 ** random.uniform(-1.5, 1.0)
    storage, host = random.choice([0, 0, 0.5, 1]), random.choice([0.05, 0.3, 1.0])
    return Workload(
        fetch_cpu=fetch * (1 - storage),
        fetch_io=fetch * storage,
        step_cpu=step * host,
        step_device=step * (1 - host),
        handover=random.choice([0.0005, 0.002]),
        spread=random.choice([0, 0.1, 0.3]),
        cores=random.choice([2, 4, 8, 16]),
        jitter=0.02,
        wander=random.choice([0, 0.02]),
        length=random.choice([None, 200, 2000]),
    )


def test_regret_over_many_loops() -> None:
    random = Random(2026)
    regrets = []
    for seed in range(30):
        workload, baseline = random_workload(random), random.choice([Settings(), Settings(2), Settings(8)])
        search = Search(Loop(baseline, workload.length), Limits(cores=workload.cores), seed=seed)
        blocks = drive(search, Simulation(workload, baseline, seed))
        assert blocks <= 60
        assert search.spent < 90
        grid = [Settings(count, None, keep) for count in (0, 1, 2, 3, 4, 6, 8, 12, 16) for keep in {False, count > 0}]
        best = max(true_rate(workload, settings, 100) for settings in grid)
        regrets.append(max(0.0, 1 - true_rate(workload, search.recommended or baseline, 100) / best))
        if search.recommended is not None:
            realised = true_rate(workload, search.recommended, 100) / true_rate(workload, baseline, 100)
            assert realised > 1 / MARGIN
    assert sum(regrets) / len(regrets) < 0.03
    assert sorted(regrets)[len(regrets) // 2] < 0.015
