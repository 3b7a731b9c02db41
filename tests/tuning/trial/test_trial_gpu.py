"""What only an accelerator can show: transfers, their overlap, the ceiling without them, captured graphs, its use."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from accel_advisor.machine.gpus import gpus
from accel_advisor.tuning.probe.channel.wire import BASELINE, NO_TRANSFER, NO_WAIT, Measure, Settings
from accel_advisor.tuning.record.outcome_record import recorded
from accel_advisor.tuning.record.record_file import plain
from accel_advisor.tuning.search.purposes import Purpose
from accel_advisor.tuning.search.search import Request
from accel_advisor.tuning.target.command import Command
from accel_advisor.tuning.trial.session import Session
from accel_advisor.tuning.trial.trial import Trial
from accel_advisor.tuning.tuner import Options, tune

pytestmark = pytest.mark.gpu

SCRIPT = """\
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

class Samples(Dataset):
    def __len__(self): return 4000
    def __getitem__(self, index): return torch.ones(3, 256, 256), index % 3

kind = torch.accelerator.current_accelerator().type
device = torch.device(kind, torch.accelerator.device_count() - 1)
model = nn.Sequential(nn.Conv2d(3, 16, 3), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, 3)).to(device)
optimizer = torch.optim.SGD(model.parameters(), 0.01)
{setup}
while True:
    for x, y in DataLoader(Samples(), 32):
        {first}
        x, y = x.to(device), y.to(device)
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
"""
PLAIN = """\
import time
import torch
device = torch.accelerator.current_accelerator()
model = torch.nn.Sequential(*(torch.nn.Linear(512, 512) for _ in range(4))).to(device)
optimizer = torch.optim.SGD(model.parameters(), 1e-4)

def get_batch():
    time.sleep(0.01)
    return torch.rand(64, 512).pin_memory().to(device, non_blocking=True)

while True:
    x = get_batch()
    model(x).square().mean().backward()
    optimizer.step()
    optimizer.zero_grad()
"""
CAPTURE = """\
other = nn.Linear(64, 64).to(device)
still, kept = torch.ones(8, 64, device=device), torch.ones(8, 64)
steps = 0
side = torch.cuda.Stream(device)
with torch.cuda.stream(side), torch.no_grad():
    other(still)  # graphs want their libraries awake
torch.cuda.synchronize(device)
def capture():
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.device(device), torch.no_grad(), torch.cuda.graph(graph):
        other(still)
    still.copy_(kept)
    graph.replay()
"""


@pytest.fixture
def torch() -> Any:
    found = pytest.importorskip("torch")
    if not hasattr(found, "accelerator") or not found.accelerator.is_available():
        pytest.skip("there is no accelerator on this machine")
    return found


def write(folder: Path, *, setup: str = "", first: str = "pass") -> Command:
    (folder / "train.py").write_text(SCRIPT.format(setup=setup, first=first))
    return Command(folder / "train.py", None, (), folder)


def test_transfers_are_measured_and_left_out(torch: Any, tmp_path: Path) -> None:
    """On the last of several devices, which is not the current one."""
    with Trial(write(tmp_path), deadline=time.monotonic() + 120) as running:
        assert running.start().device == torch.accelerator.current_accelerator().type
        pinned = Settings(2, 2, pin_memory=True)
        overlapped = Settings(2, 2, pin_memory=True, non_blocking=True)
        blocks = {
            what: running.measure(Measure(what, min_batches=24, min_seconds=0.2))
            for what in (BASELINE, pinned, overlapped, NO_WAIT, NO_TRANSFER)
        }
        for block in blocks.values():
            assert block.wait + block.transfer + block.compute + block.host == pytest.approx(block.seconds)
            assert block.compute > 0
        assert blocks[BASELINE].transfer > 0
        assert blocks[NO_TRANSFER].transfer < blocks[NO_WAIT].transfer / 2
        assert blocks[NO_WAIT].wait < blocks[BASELINE].wait / 2


def test_a_script_that_captures_graphs_in_its_loop_is_measured(torch: Any, tmp_path: Path) -> None:
    if not torch.cuda.is_available():
        pytest.skip("there are no CUDA graphs on this machine")
    with Trial(write(tmp_path, setup=CAPTURE, first="capture()"), deadline=time.monotonic() + 120) as running:
        running.start()
        for what in (BASELINE, Settings(1, 2)):
            block = running.measure(Measure(what, min_batches=16, min_seconds=0.1))
            assert block.compute > 0
            assert block.transfer > 0


def test_a_batch_that_must_be_on_the_host_costs_one_ceiling(torch: Any, tmp_path: Path) -> None:
    command = write(tmp_path, first="y.numpy()")
    with Session(command, deadline=time.monotonic() + 240, start_timeout=100) as session:
        session.start()
        failed = session.answer(Request(Measure(NO_TRANSFER, 8, 0.1), Purpose.CEILINGS))
        assert failed.block is None
        assert "numpy" in failed.reason
        assert session.answer(Request(Measure(BASELINE, 8, 0.1), Purpose.CEILINGS)).block is not None


def test_what_the_gpu_did_is_reported(torch: Any, tmp_path: Path) -> None:
    if torch.accelerator.current_accelerator().type != "cuda" or not gpus():
        pytest.skip("no NVIDIA GPU, or no driver that reports it")
    if any(gpu.divided for gpu in gpus()):
        pytest.skip("the GPU is divided into MIG instances, of which the driver does not report it")
    # Blocks are to be so long that each holds several readings, also where other tests keep the driver busy.
    found = tune(write(tmp_path), Options(budget=40))
    data = plain(recorded(found))
    assert len(data["samples"]) >= 10
    assert 0 < data["tried"][0]["device"]["busy"] <= 1
    assert data["tried"][0]["device"]["memory"] > 0
    if any(one["energy"] is not None for one in data["samples"]):
        assert data["energy"] is not None, [round(one["at"], 2) for one in data["samples"]]
        assert data["energy"]["now"] > 0
        assert data["energy"]["cards"] == 1
        assert data["tried"][0]["device"]["joules"] > 0
    assert any("pageable ones here" in note for note in data["notes"])


def test_a_loop_without_a_loader(torch: Any, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(PLAIN)
    command = Command(Path("train.py"), None, (), tmp_path)
    with Trial(command, deadline=time.monotonic() + 300) as running:
        ready = running.start()
        assert ready.plain is not None
        assert (ready.plain.function, ready.plain.unreplayed) == ("get_batch", None)
        own = running.measure(Measure(BASELINE, min_batches=32))
        replayed = running.measure(Measure(NO_WAIT, min_batches=32))
        assert own.passes is not None
        assert own.passes.forward + own.passes.backward + own.passes.optimizer <= own.compute * 1.001
        assert own.wait > 0.5 * own.seconds
        assert replayed.wait < 0.1 * replayed.seconds + 0.01
        running.stop()
