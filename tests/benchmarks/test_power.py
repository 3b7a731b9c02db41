"""The benchmark of what is found: it counts what stands in the source, and its neighbour is there as long as asked."""

import sys
import time
from pathlib import Path
from typing import Any

import psutil
import pytest

pytest.importorskip("torch")
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from accel_advisor.tuning.probe.channel.wire import Settings
from accel_advisor.tuning.search.settings import arguments
from benchmarks.power.score import LOADS, NAMES, scored, table
from benchmarks.regret.grid import Grid, neighbour
from benchmarks.regret.workloads import WORKLOADS, Workload

PLAIN = Workload("plain", "", "", step="pass")


def result(gain: float, *left: Settings) -> dict[str, Any]:
    rates = {Settings(): 100.0, Settings(1): 100.0 * gain**0.2, Settings(2): 100.0 * gain}
    return {
        "cells": [{"settings": arguments(cell), "readings": [rate, rate]} for cell, rate in rates.items()],
        "runs": [{"settings": arguments(cell), "seconds": 60.0} for cell in left],
    }


def test_what_brings_most_of_the_gain_was_found() -> None:
    found = scored(PLAIN, result(1.5, Settings(2), Settings(2), Settings(2), Settings()))
    assert (found.best, found.applied, found.missed) == (Settings(2), 3, 0)
    assert found.gain == pytest.approx(1.5)
    assert min(found.shares) == pytest.approx(1 / 1.5)
    assert found.holds(0.75)
    assert not found.holds(1.0)


def test_what_brings_little_of_the_gain_was_not_found() -> None:
    found = scored(PLAIN, result(1.5, Settings(1), Settings(2)))
    assert (found.applied, found.missed) == (1, 1)
    assert not found.holds(1.0)


@pytest.mark.parametrize(
    ("gain", "left", "holds"), [(1.02, 0, True), (1.02, 2, False), (1.15, 0, None), (1.15, 2, None)]
)
def test_where_there_is_nothing_nothing_may_be_claimed(gain: float, left: int, holds: bool | None) -> None:
    assert scored(PLAIN, result(gain, Settings(), Settings(left))).holds(0.95) is holds


def test_the_luck_of_one_cell_is_no_gain() -> None:
    """Each half of many readings times what the other half calls the fastest; two readings cannot be halved."""
    lucky = {Settings(): [100.0] * 8, Settings(1): [150.0, 90.0] * 4, Settings(2): [90.0, 150.0] * 4}
    steady = {Settings(): [100.0] * 8, Settings(1): [150.0] * 8}
    assert Grid(PLAIN, lucky).gain(Settings()) == pytest.approx(0.9)
    assert Grid(PLAIN, steady).gain(Settings()) == pytest.approx(1.5)
    few = {cell: values[:2] for cell, values in lucky.items()}
    assert Grid(PLAIN, few).gain(Settings()) == pytest.approx((150 * 90) ** 0.5 / 100)


def test_nineteen_of_twenty_are_asked_for_on_a_quiet_machine() -> None:
    quiet = LOADS["quiet"].asked
    assert scored(PLAIN, result(1.5, *[Settings(2)] * 19, Settings())).holds(quiet)
    assert not scored(PLAIN, result(1.5, *[Settings(2)] * 18, Settings(), Settings())).holds(quiet)


def test_the_table_has_a_row_for_what_was_run() -> None:
    at = {"date": "", "commit": "", "cores": 2, "processor": "", "python": "", "torch": ""}
    rows = {f"{NAMES[0]}, quiet": result(3.0, Settings(2)), f"{NAMES[1]}, quiet": result(3.0)}
    shown = table({"machine": at, "results": rows}).splitlines()
    assert [line.split(" | ")[1:5] for line in shown if "quiet" in line] == [["quiet", "2 x 2", "3.00", "1 of 1"]]
    assert set(NAMES) <= {workload.name for workload in WORKLOADS}


@pytest.mark.parametrize("busy", [0.0, 0.5, 1.0])
def test_the_neighbour_runs_meanwhile_alone(busy: float) -> None:
    own = psutil.Process()
    before = set(own.children())
    with neighbour(busy):
        new = set(own.children()) - before
        assert len(new) == (busy > 0)
        until = time.monotonic() + 60
        while new and next(iter(new)).cpu_times().user < 0.2 and time.monotonic() < until:
            time.sleep(0.05)
        assert all(process.cpu_times().user >= 0.2 for process in new)
    assert set(own.children()) == before
