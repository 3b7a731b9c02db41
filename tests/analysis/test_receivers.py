"""Modules that a training reaches through what others were built with, and through what it does now and then."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..rules.checks import findings_of

MODEL = """
import torch
from torch import nn
from torch.utils.data import DataLoader

class Inner(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 3)
    def forward(self, x):
        return self.layer(x) / x.sum().item()
"""
STEPS = """
def train(data, made, settings):
    BEFORE
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    for x in DataLoader(data, pin_memory=True, num_workers=4, persistent_workers=True):
        x = x.cuda(non_blocking=True)
        LOSS
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""
OUTER = """
class Outer(nn.Module):
    def __init__(self, kind=None):
        super().__init__()
        if kind is None:
            kind = Inner
        self.inner = kind()
    def forward(self, x):
        return self.inner(x)
"""
BORROWED = """
class Base(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = Inner()
    def forward(self, x):
        return x
class Outer(nn.Module):
    def __init__(self):
        super().__init__()
        base = Base()
        self.inner = base.body
    def forward(self, x):
        return self.inner(x)
"""
CALL, PLAIN = "loss = net(x).sum()", "net = Inner().cuda()"
REACHED = {
    "one of several behind a wrapper": (
        "",
        "net = Inner() if settings.small else made.Other()\n    net = nn.DataParallel(net).cuda()",
        CALL,
    ),
    "also called by its name elsewhere": (
        "\nprint(Inner().forward(torch.zeros(3)))\n",
        PLAIN,
        CALL,
    ),
    "called in both branches": (
        "",
        PLAIN,
        "if torch.rand(1) < 0.5:\n            loss = net(x).sum()\n        else:\n            loss = net(x * 2).sum()",
    ),
    "called under a manager of an unknown object": (
        "",
        "engine = made.Engine()\n    net = made.model()",
        "with engine.autocast():\n            loss = net(x).sum()",
    ),
    "a class by default": (OUTER, "net = Outer().cuda()", CALL),
    "a part of another module": (BORROWED, "net = Outer().cuda()", CALL),
    "a part of which nothing is known": (
        OUTER.replace("kind()", "kind.choose()"),
        "net = Outer(settings.kind).cuda()",
        CALL,
    ),
    "one of two models": ("", "netG, net = made.pair()", "loss = netG(x).sum()"),
}
NOT_REACHED = {
    "a seldom call": ("", PLAIN, "loss = x.sum()\n        if x.step % 100 == 0:\n            print(net(x))"),
    "an evaluation": ("", PLAIN, "loss = x.sum()\n        if settings.evaluate:\n            print(net(x))"),
    "a manager that may stop autograd": (
        "",
        "engine = made.Engine()\n    net = made.model()",
        "with engine.frozen():\n            loss = net(x).sum()",
    ),
    "the base alone": (BORROWED, "net = Base().cuda()", CALL),
    "a function of another name": ("", "mix, net = made.pair()", "loss = mix(x).sum()"),
}


def _program(case: tuple[str, str, str]) -> str:
    more, before, loss = case
    return MODEL + more + STEPS.replace("BEFORE", before).replace("LOSS", loss)


@pytest.mark.parametrize("case", REACHED)
def test_is_reached_in_each_step(case: str, tmp_path: Path) -> None:
    found = findings_of("ACC208", _program(REACHED[case]), tmp_path)
    assert any("at `x.sum().item()`" in one.message for one in found)


@pytest.mark.parametrize("case", NOT_REACHED)
def test_is_not_reached(case: str, tmp_path: Path) -> None:
    found = findings_of("ACC208", _program(NOT_REACHED[case]), tmp_path)
    assert not any("at `x.sum().item()`" in one.message for one in found)


def test_what_the_host_does_for_those_without_a_gpu_is_no_wait(tmp_path: Path) -> None:
    kept = "loss = net(x).sum()\n        if settings.cpu_cache:\n            kept = x.cpu()"
    program = _program(("", "net = nn.Linear(3, 3).cuda()", kept))
    assert findings_of("ACC208", program, tmp_path) == []
    assert findings_of("ACC208", program.replace("cpu_cache", "keep"), tmp_path)
    one_of_several = program.replace("settings.cpu_cache", "settings.num_gpus > 1")
    assert findings_of(
        "ACC208", one_of_several.replace("kept = x.cpu()", "pass\n        else:\n            kept = x.cpu()"), tmp_path
    )
