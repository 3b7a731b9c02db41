"""A session goes on where a ceiling is more than a script can take, and refuses what it cannot time."""

import time
from pathlib import Path

import pytest

from accel_advisor.tuning.probe.channel.wire import BASELINE, NO_WAIT, Measure
from accel_advisor.tuning.search.purposes import Purpose
from accel_advisor.tuning.search.search import Request
from accel_advisor.tuning.target.command import Command
from accel_advisor.tuning.trial.session import Session
from accel_advisor.tuning.trial.trial_errors import NotMeasurable, SlowStart

pytest.importorskip("torch")

SCRIPT = """\
import torch
from torch.utils.data import DataLoader, TensorDataset

model = torch.nn.Linear(1, 1, device="{device}")
last = -1.0
held = torch.empty(4, 1)
while True:
    for (inputs,) in DataLoader(TensorDataset(torch.arange(100_000.0).reshape(-1, 1)), batch_size=4):
        assert inputs[0].item() > last or inputs[0].item() == 0, "the same batch again"
        last = inputs[0].item()
        model.zero_grad()
        model(held.copy_(other=inputs / 1e5).to("{device}")).mean().backward()
"""


def session(folder: Path, device: str) -> Session:
    script = folder / "train.py"
    script.write_text(SCRIPT.format(device=device))
    return Session(Command(script, None, (), folder), deadline=time.monotonic() + 300, start_timeout=60)


def test_a_script_that_fails_in_a_ceiling_goes_on_without_it(tmp_path: Path) -> None:
    with session(tmp_path, "cpu") as running:
        running.start()
        failed = running.answer(Request(Measure(NO_WAIT, 8, 0.05), Purpose.CEILINGS))
        assert failed.block is None
        assert "the same batch again" in failed.reason
        found = running.answer(Request(Measure(BASELINE, 8, 0.05), Purpose.CEILINGS))
        assert found.block is not None
        assert found.block.samples == 4 * found.block.batches


def test_a_device_whose_work_torch_cannot_time_is_refused(tmp_path: Path) -> None:
    with session(tmp_path, "meta") as running, pytest.raises(NotMeasurable, match="the model is on meta, whose work"):
        running.start()


SECOND = """\
import os, time
import torch
from torch.utils.data import DataLoader, TensorDataset

if os.path.exists("ending"):
    time.sleep(600)
weight = torch.zeros(1, requires_grad=True)
while True:
    for (inputs,) in DataLoader(TensorDataset(torch.zeros(1000, 1)), batch_size=4):
        (weight * inputs).sum().backward()
        if os.path.exists("ending"):
            os._exit(3)
"""


def test_a_restart_that_takes_long_is_given_longer_by_the_option_for_starts(tmp_path: Path) -> None:
    """Not by a longer budget: the first restart is not taken from it."""
    script = tmp_path / "train.py"
    script.write_text(SECOND)
    command = Command(script, None, (), tmp_path)
    with Session(command, deadline=time.monotonic() + 300, start_timeout=60) as running:
        running.start()
        (tmp_path / "ending").touch()
        running.start_timeout = 1.0
        with pytest.raises(SlowStart) as caught:
            running.answer(Request(Measure(BASELINE, 8, 0.05), Purpose.CEILINGS))
    assert "did not reach its first batch within 1 s" in caught.value.reason
    assert caught.value.sentence.endswith(": give it longer with --start-timeout SECONDS")
