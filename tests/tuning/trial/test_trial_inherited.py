"""What a script asks for without effect, and every candidate inherits: it bars none. What a candidate would turn on
without effect is refused."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import pytest

from accel_advisor.tuning.probe.channel.wire import BASELINE, Measure, Settings
from accel_advisor.tuning.target.command import Command
from accel_advisor.tuning.trial.trial import Trial
from accel_advisor.tuning.trial.trial_errors import CandidateError

pytest.importorskip("torch")

SCRIPT = """\
import torch
from torch.utils.data import DataLoader, TensorDataset

model = torch.nn.Linear(4, 1)
data = TensorDataset(torch.ones(48, 4))
{before}
while True:
    {within}
    for (inputs,) in loader:
        model(inputs).sum().backward()
"""
PINNED = Settings(2, 2, pin_memory=True)
PERSISTENT = Settings(2, 2, persistent_workers=True)


@pytest.mark.parametrize(
    ("place", "given", "candidate", "reason"),
    [
        ("before", {"pin_memory": True}, PINNED, ""),
        ("before", {}, PINNED, "have no effect without an accelerator"),
        ("within", {"num_workers": 1, "persistent_workers": True}, PERSISTENT, ""),
        ("within", {"num_workers": 1}, PERSISTENT, "no worker outlives one"),
    ],
)
def test_what_has_no_effect(
    tmp_path: Path, temporary: Path, place: str, given: dict[str, object], candidate: Settings, reason: str
) -> None:
    arguments = "".join(f", {name}={value}" for name, value in given.items())
    lines = {"before": "pass", "within": "pass", place: f"loader = DataLoader(data, batch_size=4{arguments})"}
    (tmp_path / "train.py").write_text(SCRIPT.format(**lines))
    with Trial(Command(tmp_path / "train.py", None, (), tmp_path), deadline=time.monotonic() + 300) as trial:
        own = trial.start().loaders[0].settings
        # The second epoch shows what is built anew for each.
        trial.measure(Measure(BASELINE, min_batches=24, min_seconds=0.0))
        if reason:
            with pytest.raises(CandidateError, match=reason):
                trial.measure(Measure(candidate, min_batches=8, min_seconds=0.0))
        else:
            assert own == replace(candidate, num_workers=own.num_workers, prefetch_factor=own.prefetch_factor)
            assert trial.measure(Measure(candidate, min_batches=8, min_seconds=0.0)).batches >= 8
        trial.stop()
