"""The benchmark of the knobs, as far as it can be seen without running it."""

import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from accel_advisor.tuning.search.settings import TRAINING_KNOB_NAMES
from benchmarks.knob_workloads import WORKLOADS, present
from benchmarks.knob_workloads_on_gpu import ALL, ON_GPU
from benchmarks.knobs import trains

from ..forked import Forks

COMMAND = Path(__file__).resolve().parents[2] / "benchmarks" / "knobs.py"


@pytest.mark.parametrize("knob", TRAINING_KNOB_NAMES)
def test_a_knob_has_a_workload_on_which_it_pays_and_one_on_which_it_is_refused(knob: str) -> None:
    assert {workload.pays for workload in WORKLOADS.values() if workload.knob == knob} == {True, False}


@pytest.mark.parametrize("name", ALL)
def test_a_script_is_python_and_named_by_its_knob(name: str) -> None:
    compile(ALL[name].source, "train.py", "exec")
    assert name.startswith(f"{ALL[name].knob}, ")


def test_the_same_for_a_gpu() -> None:
    assert {workload.device for workload in ON_GPU.values()} == {"cuda"}
    asked = {"tf32", "cudnn_benchmark", "autocast", "channels_last", "compile", "fused_optimizer", "batch_size"}
    for knob in asked:
        assert {workload.pays for workload in ON_GPU.values() if workload.knob == knob} == {True, False}


@pytest.mark.parametrize("name", ["autocast, products on a GPU", "channels_last, convolutions on a GPU"])
def test_a_script_for_a_gpu_trains_under_the_probe(name: str) -> None:
    found = trains(ON_GPU[name])
    assert found["losses"] > 4
    assert found["device"] == ("cuda" if present("cuda") else "cpu")


def test_what_a_processor_cannot_tell_is_left_out_there_and_time_that_is_over_ends_it(tmp_path: Path) -> None:
    if present("cuda"):
        pytest.skip("there is a GPU on this machine")
    assert ON_GPU["autocast, products on a GPU"].elsewhere
    assert not ON_GPU["tf32, products"].elsewhere  # is refused there, since it is for the GPU alone
    assert not WORKLOADS["autocast, products"].elsewhere
    forks = Forks("import torch, accel_advisor.tuning.knobs.knob_trials")
    for words, said in (
        ([], "left out, as there is no cuda here"),
        (["--seconds", "-1"], "left out, as -1 s are over"),
    ):
        ran = forks.python([str(COMMAND), "--gpu", "autocast", *words], tmp_path)
        assert ran.returncode == 0, ran.stderr
        assert ran.stdout.splitlines()[:2] == [f"{name}: {said}" for name in ON_GPU if name.startswith("autocast")]
        assert "0 workloads" in ran.stdout
    forks.close()
