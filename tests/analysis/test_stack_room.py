"""Calls at any depth are made in memory that is there already."""

import resource
from collections.abc import Callable

import pytest

from accel_advisor.analysis.stack_room import with_room

CALLS, DEPTH = 200, 400
"""Calls at each depth, and the depths: their frames fill several of the pieces that CPython keeps frames in."""


def _nothing(*given: object) -> None:
    """A function with a frame, as ``pass`` has."""


def _calls_at_each_depth(left: int) -> None:
    for _ in range(CALLS):
        _nothing()
    if left:
        _calls_at_each_depth(left - 1)


def _pages_taken_by(run: Callable[[], object]) -> int:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    run()
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before


def test_no_depth_costs_a_page_for_each_call() -> None:
    _calls_at_each_depth(DEPTH)  # what is taken once, such as the memory of the specializing interpreter
    assert with_room(_pages_taken_by, lambda: _calls_at_each_depth(DEPTH)) < CALLS


def test_arguments_results_and_errors_pass_through() -> None:
    assert with_room(divmod, 7, 2) == (3, 1)
    assert with_room(sorted, "ba", key=ord) == ["a", "b"]
    with pytest.raises(ZeroDivisionError):
        with_room(divmod, 7, 0)
