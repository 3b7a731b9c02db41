"""The shares of a step beside those of torch.profiler, as far as they can be seen without a GPU."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

pytest.importorskip("torch")
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import torch

from accel_advisor.tuning.probe.channel.wire import BASELINE, Block
from benchmarks.gpu.profiled import compared, measured
from benchmarks.gpu.profiled_loop import FETCH, Plan, on_clock, parts_of

COMMAND = Path(__file__).resolve().parents[2] / "benchmarks" / "gpu" / "profiled.py"
CPU, CUDA = torch.autograd.DeviceType.CPU, torch.autograd.DeviceType.CUDA


def event(name: str, begin: float, end: float, where: object = CUDA, *, mark: bool = False) -> SimpleNamespace:
    time_range = SimpleNamespace(start=begin, end=end)
    return SimpleNamespace(name=name, device_type=where, is_user_annotation=mark, time_range=time_range)


EVENTS = [
    event(FETCH, 0, 10, CPU, mark=True),
    event(FETCH, 4, 9),  # as the profiler lays a mark over what the device did within it
    event("Optimizer.step#SGD.step", 30, 40, CPU, mark=True),
    event("Optimizer.step#SGD.step", 30, 50),
    event("aten::mm", 12, 14, CPU),
    event("Memcpy HtoD (Pageable -> Device)", 11, 20),
    event("sm90_xmma_gemm_f32f32", 20, 30),
    event("Memset (Device)", 30, 31),
]


def test_what_the_device_does_is_told_apart() -> None:
    found = parts_of(EVENTS, "cuda")
    assert found == {"compute": [(20, 30), (30, 31)], "transfer": [(11, 20)], "fetch": [(0, 10)]}
    assert parts_of(EVENTS, "cpu") == {"compute": [(12, 14)], "transfer": [], "fetch": [(0, 10)]}


def test_the_profile_is_laid_on_the_clock_of_the_loop() -> None:
    found = on_clock({"compute": [(5e6, 6e6)], "fetch": [(7e6, 8e6), (1e6, 2e6)]}, [101.0, 107.0])
    assert found == {"compute": [(105.0, 106.0)], "fetch": [(107.0, 108.0), (101.0, 102.0)]}
    with pytest.raises(ValueError, match="the profiler saw 1 batches of 2"):
        on_clock({"fetch": [(1e6, 2e6)]}, [101.0, 107.0])


def test_the_seconds_of_a_block_are_compared() -> None:
    block = Block(BASELINE, 10, 10, 10.0, wait=2.0, transfer=3.0, compute=4.0, host=1.0, began=100.0)
    seen = {"fetch": [[98.0, 102.0]], "transfer": [[102.0, 106.0]], "compute": [[105.0, 109.0], [109.0, 120.0]]}
    found = compared(block, seen)
    assert found["reported"] == {"wait": 20.0, "transfer": 30.0, "compute": 40.0, "host": 10.0}
    assert found["profiled"] == {"wait": 20.0, "transfer": 30.0, "compute": 50.0, "host": 0.0}
    assert found["off"] == 10.0


def test_a_loop_that_waits_does_so_by_both() -> None:
    (first, second) = measured(Plan(sleep=0.05), quick=True)
    for block in (first, second):
        assert block["steps"] >= 4
        assert block["reported"]["wait"] > 60
        assert block["profiled"]["wait"] == pytest.approx(block["reported"]["wait"], abs=15)


def test_without_a_gpu_nothing_is_recorded() -> None:
    if torch.cuda.is_available():
        pytest.skip("there is a GPU on this machine")
    ran = subprocess.run([sys.executable, str(COMMAND)], capture_output=True, text=True)
    assert ran.returncode == 2
    assert ran.stderr == "there is no CUDA device here: --quick proves that the benchmark runs\n"
