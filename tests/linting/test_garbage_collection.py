"""Cycles are looked for where enough has come together, and nothing that is still needed is lost."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator

import pytest

from accel_advisor.linting.garbage_collection import MOST_ROUNDS, collect_now_and_then, collect_what_is_new


class Ring:
    def __init__(self) -> None:
        self.itself = self


@pytest.fixture(autouse=True)
def _no_automatic_collection() -> Iterator[None]:
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def test_collects_once_there_is_enough() -> None:
    gone = weakref.ref(Ring())
    kept = [[] for _ in range(500)]
    collect_now_and_then(most=5_000_000)
    assert gone() is not None
    collect_now_and_then(most=100)
    assert gone() is None
    assert len(kept) == 500


def test_collects_again_what_came_later() -> None:
    kept = [[] for _ in range(500)]
    collect_now_and_then(most=100)
    gone = weakref.ref(Ring())
    kept += [[] for _ in range(500)]
    collect_now_and_then(most=100)
    assert gone() is None
    assert len(kept) == 1000


def test_leaves_a_process_alone_that_collects_by_itself() -> None:
    gone = weakref.ref(Ring())
    gc.enable()
    collect_now_and_then(most=0)
    alive = gone() is not None
    assert alive


def test_a_process_that_runs_for_long_collects_what_is_new_and_now_and_then_all() -> None:
    young = weakref.ref(Ring())
    kept = [[] for _ in range(500)]
    collect_what_is_new(most=5_000_000)
    assert young() is not None
    collect_what_is_new(most=100)
    assert young() is None
    ring = Ring()
    kept += [[] for _ in range(500)]
    collect_what_is_new(most=100)
    collect_what_is_new(most=0)
    old = weakref.ref(ring)
    del ring
    collect_what_is_new(most=0)
    assert old() is not None
    for _ in range(MOST_ROUNDS):
        collect_what_is_new(most=0)
    assert old() is None
    assert len(kept) == 1000


def test_what_is_new_is_left_to_a_process_that_collects_by_itself() -> None:
    gone = weakref.ref(Ring())
    gc.enable()
    collect_what_is_new(most=0)
    alive = gone() is not None
    assert alive
