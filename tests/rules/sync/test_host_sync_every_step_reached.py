"""ACC208 in what a training reaches in a way that is not followed: by its shape, and by what is handed out."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..checks import Pair, check_pair, findings_of, severities

STEP = """
import torch
from torch.utils.data import DataLoader
from torchvision.datasets import ImageFolder
import retry

def forever(loader):
    while True:
        for batch in loader:
            yield batch

class Trainer:
    def __init__(self, net):
        self.net = net.cuda()
        self.opt = torch.optim.SGD(self.net.parameters(), 0.1)
        self.loader = None

    def feed(self, folder):
        loader = DataLoader(ImageFolder(folder), 8, num_workers=4, pin_memory=True)
        self.loader = forever(loader)

    def train(self):
        self.opt.zero_grad()
        for i in range(4):
            x, y = next(self.loader)
            loss = self.net(x.cuda()).mean()
            loss.backward()
        self.opt.step()
        if any(torch.isnan(one) for one in (loss, loss + 1)):
            raise ValueError

def main(net):
    trainer = Trainer(net)
    trainer.feed("photos")
    for step in range(100):
        retry.call(trainer.train)
"""


def test_a_function_that_takes_one_step(tmp_path: Path) -> None:
    (found,) = findings_of("ACC208", STEP, tmp_path)
    assert "`any(torch.isnan(one) for one in (loss, loss + 1))`" in found.message
    assert "that a training calls this function at each step" in found.message
    check_pair(
        "ACC208", Pair(STEP.replace("self.opt.step()", "self.seen = i"), "self.seen = i", "self.opt.step()"), tmp_path
    )


def test_the_object_whose_method_is_handed_out(tmp_path: Path) -> None:
    (found,) = findings_of("ACC201", STEP, tmp_path)
    assert found.message.startswith("`loader` pins its batches, but `x.cuda()` waits")
    check_pair("ACC201", Pair(STEP.replace("(trainer.train)", "(trainer)"), "(trainer)", "(trainer.train)"), tmp_path)


NETWORK = """
import torch
from nets import make

net = make().cuda()
explained = torch.zeros(8, 3, 8, 8, device="cuda")
{pictures}
def train(opt, loader):
    for x, y in loader:
        loss = net(x.cuda()).sum()
        loss.backward()
        opt.step()
def main(opt, loader):
    for epoch in range(9):
        train(opt, loader)
launch(main)
"""
NETS = """
import torch
from torch import nn
Base = conf.base()
class Net({base}):
    def forward(self, x):
        y = x * self.scale
        {wait}
        return y
def make():
    return conf.build(conf.name)
"""


@pytest.mark.parametrize("base", ["nn.Module", "Base"])
def test_a_model_that_is_made_by_name(base: str, tmp_path: Path) -> None:
    waits = NETS.format(base=base, wait="if torch.mean(torch.abs(torch.cat((x, x)))) > 9: print(0)")
    others = {"nets.py": waits}
    assert _in_nets(NETWORK.format(pictures=""), others, tmp_path / "a")
    assert not _in_nets(NETWORK.format(pictures="").replace("loss.backward()", "pass"), others, tmp_path / "b")


def test_what_is_shown_to_people_is_no_part_of_a_step(tmp_path: Path) -> None:
    shown = (
        NETS.format(base="nn.Module", wait="self.visualize(y)")
        + "    def visualize(self, y):\n        print(y.norm())\n"
    )
    shown = shown.replace("def make():\n    return conf.build(conf.name)\n    def", "    def")
    assert not _in_nets(NETWORK.format(pictures=""), {"nets.py": shown}, tmp_path / "a")
    assert _in_nets(NETWORK.format(pictures=""), {"nets.py": shown.replace("visualize", "scales")}, tmp_path / "b")


def _in_nets(source: str, others: dict[str, str], folder: Path) -> list[str]:
    """What the rule says in the file of the network."""
    from accel_advisor.analysis.project import analyze
    from accel_advisor.rule import registry
    from accel_advisor.source.document import Document

    folder.mkdir()
    files = {"train.py": source, **others}
    for name, text in files.items():
        (folder / name).write_text(text)
    documents = [Document.read(folder / name) for name in files]
    facts = analyze(documents, folder).facts[str(folder / "nets.py")]
    return [one.message for one in registry()["ACC208"].check(facts)]


STEPS = """
import conf, torch
from torch import nn
model = nn.Linear(8, 2).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
def steps(training):
    def step(x):
        loss = model(x.cuda()).sum()
        if training:
            loss.backward()
            optimizer.step()
        return loss
    return step
def NAME(batches):
    step, losses = steps(conf.training), []
    for x in batches:
        losses.append(step(x).item())
    return losses
NAME(conf.batches)
"""


def test_silent_where_what_trains_is_told_not_to(tmp_path: Path) -> None:
    assert findings_of("ACC208", STEPS.replace("NAME", "evaluate"), tmp_path) == []
    assert findings_of("ACC208", STEPS.replace("NAME", "run"), tmp_path)
    assert findings_of("ACC208", STEPS.replace("NAME", "train_and_evaluate"), tmp_path)


CRITERION = """
import conf, torch
from torch import nn
class NAME(nn.Module):
    def forward(self, out, target):
        if out.max() > 3:
            out = out / 2
        return (out - target).square().sum()
def run(batches, criterion):
    model = nn.Linear(8, 2).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in batches:
        optimizer.zero_grad()
        loss = criterion(model(x.cuda()), y.cuda())
        loss.backward()
        optimizer.step()
"""


def test_a_loss_that_the_program_chooses(tmp_path: Path) -> None:
    (found,) = findings_of("ACC208", CRITERION.replace("NAME", "FocalLoss"), tmp_path)
    assert "out.max() > 3" in found.message
    assert "chooses among its own classes" in found.message
    assert findings_of("ACC208", CRITERION.replace("NAME", "Scaled"), tmp_path) == []
    shown = CRITERION.replace("NAME", "FocalLoss").replace("criterion(", "conf.show(")
    assert findings_of("ACC208", shown, tmp_path) == []


def test_one_of_the_losses_that_the_program_chooses_from_is_counted(tmp_path: Path) -> None:
    one, calls = CRITERION.replace("NAME", "FocalLoss").split("def run")
    head, body = one.split("class ")
    asks = "".join(f"        if out.{of}() > 3:\n            out = out / 2\n" for of in ("min", "max", "sum"))
    body = body.replace("        if out.max() > 3:\n            out = out / 2\n", asks)
    two = body.replace(asks, "".join(asks.splitlines(keepends=True)[:4]))
    other = two.replace("FocalLoss", "OtherLoss")
    assert severities("ACC208", f"{head}class {two}class {other}def run{calls}", tmp_path) == ["info"]
    assert severities("ACC208", f"{head}class {body}class {other}def run{calls}", tmp_path) == ["warning"]


HOLDER = """
import torch
from collections import OrderedDict
from torch import nn
from torch.utils.checkpoint import checkpoint
from torch.utils.data import DataLoader
from torchvision.datasets import ImageFolder

class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(8, 8)
    def forward(self, x):
        h = self.layer(x)
        return h[h > 0].mean() * h

class Net(nn.Module):
    def __init__(self, n=3):
        super().__init__()
        HOLDS
    def forward(self, x):
        CALLS
        return x

net = Net().cuda()
optimizer = torch.optim.SGD(net.parameters(), 0.1)
for x, y in DataLoader(ImageFolder("photos"), 8, num_workers=4, pin_memory=True):
    loss = net(x.cuda(non_blocking=True)).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
ONE = "self.part = Block()"
HELD = {
    "under names that are made": (
        "for i in range(n): setattr(self, f'part{i}', Block())",
        "for i in range(3): x = getattr(self, f'part{i}')(x)",
    ),
    "under names that are put together": (
        "for i in range(n): setattr(self, 'part%d' % i, Block())",
        "for i in range(3): x = getattr(self, 'part%d' % i)(x)",
    ),
    "as children": ("self.add_module('part', Block())", "for one in self.children(): x = one(x)"),
    "as named children": ("self.add_module('part', Block())", "for name, one in self.named_children(): x = one(x)"),
    "as its modules": ("self.add_module('part', Block())", "for name, one in self._modules.items(): x = one(x)"),
    "as a module that is added": ("self.add_module('part', Block())", "x = self.part(x)"),
    "in an ordered dict": ("self.parts = nn.Sequential(OrderedDict([('a', Block())]))", "x = self.parts(x)"),
    "in a checkpoint": (ONE, "x = checkpoint(self.part, x)"),
    "in a function that a checkpoint calls": (ONE, "x = checkpoint(lambda z: self.part(z), x, use_reentrant=False)"),
}


@pytest.mark.parametrize("case", HELD)
def test_a_part_that_a_forward_calls(case: str, tmp_path: Path) -> None:
    holds, calls = HELD[case]
    source = HOLDER.replace("HOLDS", holds).replace("CALLS", calls)
    check_pair("ACC208", Pair(source.replace(calls, "x = self.other(x)"), "x = self.other(x)", calls), tmp_path)


def test_a_sequence_that_is_a_class(tmp_path: Path) -> None:
    net = "class Net(nn.Sequential):\n    def __init__(self):\n        super().__init__(Block(), nn.ReLU())\n"
    source = HOLDER[: HOLDER.index("class Net")] + net + HOLDER[HOLDER.index("\nnet = ") :]
    check_pair(
        "ACC208", Pair(source.replace("(Block(), ", "(", 1), "init__(nn.ReLU", "init__(Block(), nn.ReLU"), tmp_path
    )


def test_what_an_epoch_calls_that_forgets_gradients_once_more(tmp_path: Path) -> None:
    source = """
import random
import torch
from torch import nn

def decode(samples, model):
    for at in range(len(samples) // 16):
        found = model(torch.FloatTensor(samples[at : at + 16]).cuda())
        print(found.cpu().numpy().tolist())

def train(samples, turns):
    model = nn.Linear(8, 2).cuda()
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    for turn in range(turns):
        random.shuffle(samples)
        model.zero_grad()
        for at in range(len(samples) // 16):
            model(torch.FloatTensor(samples[at : at + 16]).cuda()).sum().backward()
            optimizer.step()
            model.zero_grad()
        decode(samples, model)
"""
    once = "model.zero_grad()\n        decode(samples, model)"
    check_pair("ACC208", Pair(source, once, once.replace("\n", "\n    ")), tmp_path)
