"""What the smallest of several nodes allows to each."""

from __future__ import annotations

from dataclasses import replace

from accel_advisor.tuning.nodes.node_facts import least, least_text, ranks_of
from accel_advisor.tuning.nodes.node_messages import NodeFacts
from accel_advisor.tuning.search.settings import Limits, Settings

GIB = 1 << 30
LARGE = NodeFacts("large", "1.0", "tune train.py", 2, "train.py", "ab", 0, 16.0, 64 * GIB, 32 * GIB)
NARROW = replace(LARGE, name="narrow", number=1, cores=2.5)
SMALL = replace(LARGE, name="small", number=2, memory=GIB, shared_memory=64 << 20)


def test_each_node_may_take_what_the_smallest_has() -> None:
    limits = Limits(cores=16.0, memory=60 * GIB, shared_memory=30 * GIB, batch=4 << 20)
    found = least(limits, [LARGE, NARROW, SMALL])
    assert found == replace(limits, cores=2.5, memory=GIB, shared_memory=64 << 20)
    assert least(limits, [LARGE, NARROW]) == replace(limits, cores=2.5)
    assert "/dev/shm" in (found.refusal(Settings(6, 2)) or "")
    assert least(limits, [LARGE]).refusal(Settings(6, 2)) is None


def test_a_node_without_shared_memory_sets_no_limit_to_it() -> None:
    limits = Limits(cores=16.0, memory=None, shared_memory=None)
    without = replace(LARGE, shared_memory=None)
    assert least(limits, [without, without]).shared_memory is None
    assert least(limits, [without, SMALL]).shared_memory == 64 << 20


def test_it_is_said_which_node_that_is() -> None:
    assert least_text([LARGE, NARROW, SMALL]) == (
        "2.5 cores (node narrow), 1,024 MiB of memory (node small), 64 MiB of /dev/shm (node small)"
    )
    assert "/dev/shm" not in least_text([replace(LARGE, shared_memory=None)])


def test_the_ranks_of_a_node_follow_those_of_the_one_before() -> None:
    assert [ranks_of(number, one) for number, one in enumerate([LARGE, NARROW])] == [(0, 1), (2, 3)]
