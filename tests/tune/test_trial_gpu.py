"""What only an accelerator can show: transfers, their overlap, and the ceiling without them."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from accel_advisor.tune.probe.wire import BASELINE, NO_TRANSFER, NO_WAIT, Settings
from accel_advisor.tune.trial import Command, Trial

SCRIPT = """\
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

class Samples(Dataset):
    def __len__(self): return 4000
    def __getitem__(self, index): return torch.ones(3, 256, 256), index % 3

device = torch.accelerator.current_accelerator()
model = nn.Sequential(nn.Conv2d(3, 16, 3), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, 3)).to(device)
optimizer = torch.optim.SGD(model.parameters(), 0.01)
while True:
    for x, y in DataLoader(Samples(), 32):
        x, y = x.to(device), y.to(device)
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
"""


@pytest.mark.gpu
def test_transfers_are_measured_and_left_out(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    if not torch.accelerator.is_available():
        pytest.skip("there is no accelerator on this machine")
    script = tmp_path / "train.py"
    script.write_text(SCRIPT)
    with Trial(Command(script, None, (), tmp_path), deadline=time.monotonic() + 120) as running:
        assert running.start().device == torch.accelerator.current_accelerator().type
        pinned = Settings(2, 2, pin_memory=True)
        overlapped = Settings(2, 2, pin_memory=True, non_blocking=True)
        blocks = {
            what: running.measure(what, min_batches=24, min_seconds=0.2)
            for what in (BASELINE, pinned, overlapped, NO_WAIT, NO_TRANSFER)
        }
        for block in blocks.values():
            assert block.wait + block.transfer + block.compute + block.host == pytest.approx(block.seconds)
            assert block.compute > 0
        assert blocks[BASELINE].transfer > 0
        assert blocks[NO_TRANSFER].transfer < blocks[NO_WAIT].transfer / 2
        assert blocks[NO_WAIT].wait < blocks[BASELINE].wait / 2
