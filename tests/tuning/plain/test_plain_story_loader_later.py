"""A script that trains without a loader before it builds the one of the training itself, tuned for real."""

from __future__ import annotations

from pathlib import Path

import pytest

from accel_advisor.tuning.plain.plain_text import LOADER_AHEAD
from accel_advisor.tuning.probe.channel.wire import NO_WAIT, Settings
from accel_advisor.tuning.search.purposes import Doing
from accel_advisor.tuning.target.command import Command
from accel_advisor.tuning.trial.timeline import START
from accel_advisor.tuning.tuner import Options, tune

pytest.importorskip("torch")

SCRIPT = '''\
import time

import torch

torch.set_num_threads(1)
{imports}

class Samples:
    def __len__(self):
        return 400

    def __getitem__(self, index):
        time.sleep(0.002)
        return torch.ones(4), torch.zeros(1)


class Descent(torch.optim.Optimizer):
    """For torch's own, torch imports its compiler, for as long as all else takes to start."""

    def add_param_group(self, group):
        self.param_groups.append({{**self.defaults, **group, "params": list(group["params"])}})

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for parameter in group["params"]:
                parameter -= group["lr"] * parameter.grad


model = torch.nn.Linear(4, 1)
optimizer = Descent(model.parameters(), {{"lr": 0.01}})


def step(x, y):
    model.zero_grad()
    (model(x) - y).square().mean().backward()
    optimizer.step()
    time.sleep(0.002)


for _ in range(10):  # after which a trial knows the loop, however busy the machine is
    step(torch.ones(4, 4), torch.zeros(4, 1))
end = time.monotonic() + {warm}
while time.monotonic() < end:
    step(torch.ones(4, 4), torch.zeros(4, 1))
loader = {loader}
while True:
    for x, y in loader:
        {step}
'''
BY_HAND = "(model(x) - y).square().mean().backward()"
IMPORTS = "from torch.utils.data import DataLoader\n"
LOADER = "DataLoader(Samples(), batch_size=4)"


@pytest.mark.parametrize("step", ["step(x, y)", BY_HAND])
def test_the_loop_that_comes_later_is_measured(tmp_path: Path, step: str) -> None:
    """Also where no optimizer steps in it."""
    (tmp_path / "train.py").write_text(SCRIPT.format(imports=IMPORTS, warm=1, loader=LOADER, step=step))
    phases: list[str] = []

    def watch(doing: Doing, _search: object) -> None:
        phases.append(doing.phase)

    found = tune(Command(tmp_path / "train.py", None, (), tmp_path), Options(budget=4), root=tmp_path, watch=watch)
    assert found.late_loader
    assert found.loop is None
    assert found.diagnosis is not None
    assert found.loaders[0].settings == Settings()
    assert found.loaders[0].length == 100
    assert "the script trains without a DataLoader first; the loop that was measured comes after that" in found.notes
    again = "a loop with a DataLoader comes later: starting the script again, and measuring that one"
    assert phases.count(again) == 1
    assert [one.what for one in found.timeline].count(START) == 1
    assert found.timeline[0].what == START
    assert all(one.block is None or one.block.epoch_batches == 100 or one.what == NO_WAIT for one in found.timeline)


@pytest.mark.parametrize("named", [True, False])
def test_one_that_never_comes_is_not_waited_for_beyond_the_budget(tmp_path: Path, named: bool) -> None:
    """Where the source names a DataLoader, the answer says that there may be another loop."""
    imports, loader = (IMPORTS, LOADER) if named else ("", "None")
    source = SCRIPT.format(imports=imports, warm=1000, loader=loader, step=BY_HAND)
    (tmp_path / "train.py").write_text(source)
    found = tune(Command(tmp_path / "train.py", None, (), tmp_path), Options(budget=2), root=tmp_path)
    assert not found.late_loader
    assert found.loop is not None
    assert (LOADER_AHEAD in found.notes) == named
