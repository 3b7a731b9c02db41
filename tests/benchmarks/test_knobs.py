"""The benchmark of the knobs, as far as it can be seen without running it."""

import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from accel_advisor.tuning.search.settings import TRAINING_KNOB_NAMES
from benchmarks.knob_workloads import WORKLOADS


@pytest.mark.parametrize("knob", TRAINING_KNOB_NAMES)
def test_a_knob_has_a_workload_on_which_it_pays_and_one_on_which_it_is_refused(knob: str) -> None:
    assert {workload.pays for workload in WORKLOADS.values() if workload.knob == knob} == {True, False}


@pytest.mark.parametrize("name", WORKLOADS)
def test_a_script_is_python_and_named_by_its_knob(name: str) -> None:
    compile(WORKLOADS[name].source, "train.py", "exec")
    assert name.startswith(f"{WORKLOADS[name].knob}, ")
