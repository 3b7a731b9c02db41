"""ACC417 where an option decides about mixed precision, through functions that others call too."""

from __future__ import annotations

from pathlib import Path

from ..checks import findings_of

PROGRAM = """
import argparse
import torch
from torch import nn
from torch.utils.data import DataLoader

class Scaler:
    def __init__(self):
        self.inner = torch.cuda.amp.GradScaler()
    def __call__(self, loss, create_graph=False):
        self.inner.scale(loss).backward(create_graph=create_graph)

def epoch(net, loader, optimizer, scaler, use_amp=False):
    for x in loader:
        x = x.cuda(non_blocking=True)
        if use_amp:
            with torch.autocast("cuda"):
                loss = net(x).sum()
        else:
            loss = net(x).sum()
        optimizer.zero_grad()
        if use_amp:
            scaler(loss, create_graph=hasattr(optimizer, "second"))
        else:
            loss.backward()
        optimizer.step()

def main(args, data):
    net = nn.Sequential(*(nn.Conv2d(3, 3, 3) for _ in range(9))).cuda()
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    scaler = Scaler()
    loader = DataLoader(data, pin_memory=True, num_workers=4, persistent_workers=True)
    epoch(net, loader, optimizer, scaler, use_amp=args.use_amp)

class Job:
    def __init__(self, args, data):
        self.args, self.data = args, data
    def __call__(self):
        main(self.args, self.data)

parser = argparse.ArgumentParser()
parser.add_argument("--use_amp", type=bool, default=False)
main(parser.parse_args(), range(100))
"""


def test_says_which_option_decides_though_nobody_knows_what_others_ask_for(tmp_path: Path) -> None:
    (found,) = findings_of("ACC417", PROGRAM, tmp_path)
    assert found.message.startswith("mixed precision is decided by `--use_amp`, off by default")
    assert findings_of("ACC417", PROGRAM.replace("default=False", "default=True"), tmp_path) == []


def test_names_the_option_of_the_training_and_not_that_of_an_evaluation_before_it(tmp_path: Path) -> None:
    evaluation = """
def evaluate(net, loader, use_amp=False):
    for x, y in loader:
        with torch.autocast("cuda", enabled=use_amp):
            net(x.cuda())

"""
    before = PROGRAM.replace("def main(", evaluation + "def main(", 1).replace(
        "    epoch(net, loader",
        "    if args.eval:\n        return evaluate(net, loader, True)\n    epoch(net, loader",
        1,
    )
    before = before.replace("main(parser", 'parser.add_argument("--eval", action="store_true")\nmain(parser')
    assert "args.eval" in before
    assert "def evaluate" in before
    (found,) = findings_of("ACC417", before, tmp_path)
    assert found.message.startswith("mixed precision is decided by `--use_amp`, off by default")


def test_silent_where_a_region_is_entered_whatever_is_asked_for(tmp_path: Path) -> None:
    always = PROGRAM.replace(
        "        else:\n            loss = net(x)", "        with torch.autocast('cuda'):\n            loss = net(x)"
    )
    assert always != PROGRAM
    assert findings_of("ACC417", always, tmp_path) == []


def test_silent_about_gradients_of_gradients(tmp_path: Path) -> None:
    twice = PROGRAM.replace('create_graph=hasattr(optimizer, "second")', "create_graph=True")
    assert findings_of("ACC417", twice, tmp_path) == []
