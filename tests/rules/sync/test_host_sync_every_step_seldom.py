"""ACC208 under conditions that are seldom met, whichever loop they tell the passes of apart."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..checks import Pair, check_pair, findings_of
from ..programs import IMPORTS

MICRO_STEPS = (
    IMPORTS
    + """
class Trainer:
    def __init__(self):
        self.model = nn.Linear(8, 2).cuda()
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)
        self.steps = 0
        self.floor = None
    def train(self, batches):
        seldom = self.steps > 100 and self.steps % 32 == 0
        for x in batches:
            loss = self.model(x.cuda()).sum()
            if CONDITION:
                self.floor = loss.item()
            loss.backward()
        self.optimizer.step()
        self.steps += 1
trainer = Trainer()
for _ in range(1000):
    trainer.train(DataLoader(TensorDataset(torch.zeros(8, 8))))
"""
)


@pytest.mark.parametrize("condition", ["seldom", "self.floor is None", "self.steps % 32 == 0"])
def test_silent_about_what_seldom_happens(condition: str, tmp_path: Path) -> None:
    check_pair("ACC208", Pair(MICRO_STEPS.replace("CONDITION", condition), f"if {condition}:", "if True:"), tmp_path)


@pytest.mark.parametrize("past", ["self.steps > self.first", "not_yet"])
def test_what_all_passes_do_after_some_time_is_a_part_of_each_step(past: str, tmp_path: Path) -> None:
    source = MICRO_STEPS.replace("self.floor = None", "self.first = 5").replace("self.floor =", "floor =")
    if past == "not_yet":
        source = source.replace("if CONDITION:", "if self.steps <= self.first: pass\n            else:")
        assert findings_of("ACC208", source.replace("<= self.first", "% 9 != 8"), tmp_path) == []
    assert findings_of("ACC208", source.replace("CONDITION", past), tmp_path)


FAULTS = (
    IMPORTS
    + """
class Loss(nn.Module):
    def forward(self, out, shown=None):
        if out.max() > 3:
            out = out / 2
        return out.sum()
class Learner(nn.Module):
    def __init__(self, debug=False):
        super().__init__()
        self.layer, self.criterion, self.debug = nn.Linear(8, 2), Loss(), debug
    def forward(self, x):
        out = self.layer(x)
        if TEST:
            return self.criterion(out, x)
        else:
            return self.criterion(out)
model = Learner().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for (x,) in DataLoader(TensorDataset(torch.zeros(8, 8))):
    optimizer.zero_grad()
    model(x.cuda()).backward()
    optimizer.step()
"""
)


@pytest.mark.parametrize("test", ["self.debug", "not self.debug"])
def test_who_looks_for_no_fault_takes_the_other_branch(test: str, tmp_path: Path) -> None:
    source = FAULTS.replace("TEST", test)
    assert findings_of("ACC208", source, tmp_path)
    usual = "self.criterion(out)" if test == "self.debug" else "self.criterion(out, x)"
    assert findings_of("ACC208", source.replace(usual, "out.sum()"), tmp_path) == []


def test_silent_about_a_search_for_a_learning_rate(tmp_path: Path) -> None:
    source = MICRO_STEPS.replace("train(", "find_lr(").replace("CONDITION", "True")
    check_pair("ACC208", Pair(source, "find_lr(", "train("), tmp_path)


PARTS = """
import torch
from torch import nn
from torch.utils.data import DataLoader
def train(data, skipped):
    net = nn.Linear(8, 2).cuda()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for step, x in enumerate(DataLoader(data, pin_memory=True)):
        loss = net(x.cuda(non_blocking=True)).sum()
        optimizer.zero_grad()
        loss.backward()
        for p in net.parameters():
            if p.dim() == skipped:
                continue
            norm = p.grad.norm()
            if norm > 1:
                p.grad.mul_(0.5)
        optimizer.step()
"""


def test_what_some_parts_of_a_step_skip_the_others_do(tmp_path: Path) -> None:
    (found,) = findings_of("ACC208", PARTS, tmp_path)
    assert "norm > 1" in found.message
    check_pair(
        "ACC208", Pair(PARTS.replace("p.dim() == skipped", "step % 3 > 0"), "step % 3 > 0", "p.dim() > 0"), tmp_path
    )


LARGE_ENOUGH = (
    IMPORTS
    + """
import conf
model = nn.Linear(8, 2).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
total = 0
for x, y in DataLoader(TensorDataset(torch.zeros(8, 8), torch.zeros(8)), batch_size=4):
    x, y = x.cuda(), y.cuda()
    if conf.fits(x) or len(x) > 2:
        loss = (model(x).sum() - y.sum()).square()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    else:
        conf.note(x)
"""
)
READ = "        total += loss.item()\n"
OTHERWISE = {
    "the other branch": LARGE_ENOUGH.replace(READ, "").replace("conf.note(x)", "total += y.sum().item()"),
    "a branch of its own": LARGE_ENOUGH.replace(READ, f"        if conf.fits(y):\n    {READ}"),
    "the one optimizer of two": LARGE_ENOUGH + "    conf.optimizer.step()\n",
}


def test_what_each_step_of_the_training_does_in_the_passes_that_have_one(tmp_path: Path) -> None:
    (found,) = findings_of("ACC208", LARGE_ENOUGH, tmp_path)
    assert "this training waits for the GPU at every step, at `loss.item()`" in found.message


@pytest.mark.parametrize("case", OTHERWISE)
def test_silent_about_what_some_steps_go_without(case: str, tmp_path: Path) -> None:
    assert OTHERWISE[case] != LARGE_ENOUGH
    assert not findings_of("ACC208", OTHERWISE[case], tmp_path)
