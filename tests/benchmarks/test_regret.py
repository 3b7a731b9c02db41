"""The benchmark of choices: that its scripts say what its grid means, that its clock keeps time, that it counts."""

import ast
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("torch")
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from accel_advisor.tuning.probe.channel.wire import Settings
from accel_advisor.tuning.search.settings import arguments
from benchmarks.regret.formulas import choices
from benchmarks.regret.grid import Grid
from benchmarks.regret.project import Project
from benchmarks.regret.score import OURS, gains, shares
from benchmarks.regret.workloads import WORKLOADS, Workload

SLEEPS = Workload("sleeps", "A wait of 20 ms a batch.", "none", step="pass", fetch="time.sleep(0.01)", batch=2)


@pytest.mark.parametrize("workload", WORKLOADS, ids=lambda workload: workload.name)
def test_scripts_have_the_settings_of_their_cells(workload: Workload) -> None:
    with Project(workload) as project:
        assert project.changed() == []
        for cell in workload.cells():
            source = workload.source(cell)
            ast.parse(source)
            project.script.write_text(source)
            assert project.settings() == cell
    assert workload.cells()[0] == workload.cell(workload.baseline)
    assert {cell.num_workers for cell in workload.cells()} >= {1, 2, 4}


def test_what_makes_no_difference_is_one_cell() -> None:
    assert SLEEPS.cell(Settings(4, 2, True)) == Settings(4)
    assert SLEEPS.cell(Settings(0)) == Settings()
    assert Workload("short", "", "", step="pass", length=5).cell(Settings(4, 4, True)) == Settings(4, 4, True)


@pytest.fixture(scope="module")
def grid() -> Iterator[Grid]:
    """One clock for all: its process imports torch."""
    with Grid(SLEEPS) as made:
        yield made


def test_the_clock_times_a_script_as_it_is(grid: Grid) -> None:
    grid.read(Settings(), quick=True)
    assert 1 < grid.rate(Settings()) <= 100


def test_a_script_that_fails_says_so(grid: Grid, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grid, "workload", Workload("broken", "", "none", step="raise ValueError('no step')"))
    with pytest.raises(RuntimeError, match="no step"):
        grid.read(Settings(), quick=True)


def test_launches_and_changes_are_counted() -> None:
    with Project(SLEEPS) as project:
        ended = project.script.read_text().replace("range(1_000_000)", "range(0)")
        project.script.write_text(ended + 'open("left.txt", "w").close()\n')
        twice = (
            "import runpy\nfor _ in range(2): runpy.run_path('train.py', run_name='__main__')"  # one import of torch
        )
        assert project.run([sys.executable, "-c", twice], 300).status == 0
        assert project.changed() == ["left.txt", "train.py"]
        until = time.monotonic() + 60
        while project.launches < 2 and time.monotonic() < until:
            time.sleep(0.01)
        assert project.launches == 2


def test_shares_and_gains() -> None:
    def cell(settings: Settings, rate: float) -> dict[str, object]:
        return {"settings": arguments(settings), "rate": rate, "readings": [rate, rate]}

    result = {
        "cells": [cell(Settings(), 50.0), cell(Settings(2), 100.0), cell(Settings(4), 90.0)],
        OURS: {
            "settings": arguments(Settings(4)),
            "recommended": arguments(Settings(4)),
            "predicted": {"ratio": 2.0},
            "verification": {"ratio": 1.7},
            "refused": "",
        },
    }
    found = shares(SLEEPS, result, cores=2)
    assert found[OURS] == pytest.approx(0.9)
    assert found["as it was"] == pytest.approx(0.5)
    assert found["all cores"] == pytest.approx(1.0)
    assert "half the cores" not in found
    assert gains(SLEEPS, result) == (2.0, 1.7, pytest.approx(1.8))


def test_formulas_keep_what_they_do_not_decide() -> None:
    found = choices(Settings(8, 4, True), cores=8)
    assert found["as it was"] == Settings(8, 4, True)
    assert found["half the cores"] == Settings(4, 4, True)
    assert found["Lightning"] == Settings(7, 4, True)
    assert choices(Settings(2), cores=1)["Lightning"] == Settings(1)
