"""Who runs on which cores."""

from dataclasses import replace

import pytest

from accel_advisor.tuning.probe.channel.wire import LoaderInfo, Settings, Turned
from accel_advisor.tuning.probe.knobs.knob import Situation
from accel_advisor.tuning.probe.knobs.thread_binding_knob import ThreadBinding
from accel_advisor.tuning.probe.knobs.threads_knob import ONE_CORE, Threads

Cores = tuple[tuple[int, ...], ...]
PAIRS: Cores = tuple((number, number + 8) for number in range(8))


def situation(cores: Cores, workers: int, threads: int = 2) -> Situation:
    info = LoaderInfo(0, "train", (), Settings(workers), 16, 40, 1024, "__main__.Data", "fork")
    return Situation("cpu", Turned((), (), threads, "highest", False, 1), info, physical=cores)


def splits(cores: Cores, workers: int, threads: int) -> tuple[ThreadBinding, ...]:
    return ThreadBinding.values(situation(cores, workers, threads))


def test_where_threads_are_not_bound_the_reason_is_given() -> None:
    here = situation(PAIRS, 2)
    assert ThreadBinding.refusal(here) == ""
    assert "others run on them" in ThreadBinding.refusal(replace(here, shares_cores=True))
    assert "no workers" in ThreadBinding.refusal(situation(PAIRS, 0))
    assert ThreadBinding.refusal(situation(PAIRS[:1], 2)) == ONE_CORE
    assert "does not let a process choose" in ThreadBinding.refusal(situation((), 2))
    assert "the model is on cuda" in ThreadBinding.refusal(replace(here, device="cuda"))


@pytest.mark.parametrize(("cores", "workers"), [((), 4), (((0,),), 4), (((0, 1),), 4), (PAIRS, 0)])
def test_without_workers_or_a_second_core_there_is_nothing_to_part(cores: Cores, workers: int) -> None:
    assert splits(cores, workers, 2) == ()


def test_two_cores_are_parted_in_one_way() -> None:
    for workers in (1, 2, 8):
        assert splits(((0,), (1,)), workers, 2) == (ThreadBinding((0,), (1,), 1),)


def test_workers_have_from_one_core_to_one_each_and_never_more_than_half() -> None:
    counts = {workers: [len(one.workers) // 2 for one in splits(PAIRS, workers, 8)] for workers in (1, 2, 3, 4, 16)}
    assert counts == {1: [1], 2: [1, 2], 3: [1, 2, 3], 4: [1, 2, 4], 16: [1, 2, 4]}
    for one in splits(PAIRS, 16, 64):
        assert not {*one.training} & {*one.workers}
        assert {*one.training, *one.workers} == set(range(16))
        assert one.threads == len(one.training)


def test_there_are_never_more_threads_than_the_script_has() -> None:
    assert {one.threads for one in splits(PAIRS, 4, 3)} == {3}


def test_threads_that_pay_by_themselves_are_bound() -> None:
    here = replace(situation(PAIRS, 4, 3), paid={Threads: Threads(6)})
    assert {one.threads for one in ThreadBinding.values(here)} == {6}


def test_numbers_are_written_as_python_reads_them() -> None:
    for numbers in ((0,), (4, 5), (0, 1, 2, 3), (0, 2, 4), (1, 0, 2), (0, 1, 8, 9)):
        assert {*eval(written(numbers))} == {*numbers}
    assert written(tuple(range(48))) == "range(0, 48)"


def written(numbers: tuple[int, ...]) -> str:
    """The cores that the training is bound to, as they stand in the source."""
    return ThreadBinding(numbers, (0,), 1).shown().partition("(0, ")[2].partition(");")[0]
