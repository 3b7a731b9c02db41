"""Who runs on which cores."""

from dataclasses import replace

import pytest

from accel_advisor.machine.machine import inspect_machine
from accel_advisor.tune.knobs.binding import ONE_CORE, Split, no_split, splits, written

Cores = tuple[tuple[int, ...], ...]
PAIRS: Cores = tuple((number, number + 8) for number in range(8))


def test_where_threads_are_not_bound_it_is_told() -> None:
    machine = replace(inspect_machine(), affinity=64, quota=None)
    assert no_split(machine, PAIRS, 2) == ""
    assert no_split(replace(machine, quota=64), PAIRS, 2) == ""
    assert "others run on them" in no_split(replace(machine, quota=2), PAIRS, 2)
    assert "no workers" in no_split(machine, PAIRS, 0)
    assert no_split(machine, PAIRS[:1], 2) == ONE_CORE
    assert "does not let a process choose" in no_split(machine, (), 2)


@pytest.mark.parametrize(("cores", "workers"), [((), 4), (((0,),), 4), (((0, 1),), 4), (PAIRS, 0)])
def test_without_workers_or_a_second_core_there_is_nothing_to_part(cores: Cores, workers: int) -> None:
    assert splits(cores, workers, 2) == ()


def test_two_cores_are_parted_in_one_way() -> None:
    for workers in (1, 2, 8):
        assert splits(((0,), (1,)), workers, 2) == (Split((0,), (1,), 1),)


def test_workers_have_from_one_core_to_one_each_and_never_more_than_half() -> None:
    counts = {workers: [len(one.workers) // 2 for one in splits(PAIRS, workers, 8)] for workers in (1, 2, 3, 4, 16)}
    assert counts == {1: [1], 2: [1, 2], 3: [1, 2, 3], 4: [1, 2, 4], 16: [1, 2, 4]}
    for one in splits(PAIRS, 16, 64):
        assert not {*one.training} & {*one.workers}
        assert {*one.training, *one.workers} == set(range(16))
        assert one.threads == len(one.training)


def test_there_are_never_more_threads_than_the_script_has() -> None:
    assert {one.threads for one in splits(PAIRS, 4, 3)} == {3}


def test_numbers_are_written_as_python_reads_them() -> None:
    for numbers in ((0,), (4, 5), (0, 1, 2, 3), (0, 2, 4), (1, 0, 2), (0, 1, 8, 9)):
        assert {*eval(written(numbers))} == {*numbers}
    assert written(range(48)) == "range(0, 48)"
