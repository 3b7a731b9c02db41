"""ACC208 host-sync-every-step, on what is a part of a step: what is called under ``no_grad``, by a guard, by a method of
the model itself, by a framework."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..checks import Pair, check_pair

HEAD = """
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

data = TensorDataset(torch.zeros(64, 8))
loader = DataLoader(data, batch_size=16)
model = nn.Linear(8, 2).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

def learn(x):
    optimizer.zero_grad()
    loss = model(x.cuda()).sum()
    loss.backward()
    optimizer.step()
    return loss

"""
SAVING = """
def save():
    weights = model.state_dict()
    for name, value in weights.items():
        weights[name] = value.cpu()

for at, (x,) in enumerate(loader):
    learn(x)
    if at % 100 == 0:
        save()
save()
"""
HELPED = """
def read(loss):
    return loss.item()

def step(x):
    return read(learn(x))

step(torch.zeros(8, 8))
for (x,) in loader:
    learn(x)
"""
METRIC = """
@torch.no_grad()
def evaluate(out):
    return (out > 0).float().mean().item()

for (x,) in loader:
    learn(x)
    evaluate(model(x.cuda()))
"""
QUEUE = """
class Queue(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(8, 8)
        self.register_buffer("place", torch.zeros(1, dtype=torch.long))
    @torch.no_grad()
    def push(self, keys):
        start = self.place
    def forward(self, x):
        out = self.layer(x)
        self.push(out)
        return out

model = Queue().cuda()
for (x,) in loader:
    learn(x)
"""
VALIDATION = """
for (x,) in loader:
    learn(x)
    with torch.no_grad():
        for (y,) in DataLoader(data, batch_size=4):
            print(model(y.cuda()).sum().item())
"""
OWN_METHOD = """
class Part(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(8, 8)
    def forward(self, x):
        return self.layer(x) * x.sum().item()

class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.part = Part()
    def evaluate(self, x):
        return self.part(x)

model = Policy().cuda()
for (x,) in loader:
    loss = model.evaluate(x.cuda()).sum()
    print(loss.shape)
"""
LIGHTNING = """
import lightning

class Norm(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("ready", torch.tensor(0))
    def forward(self, x):
        if self.ready.item() == 0:
            self.ready.fill_(1)
        return x

class Module(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.norm = Norm()
    def validation_step(self, batch, at):
        return self.norm(batch).sum()

lightning.Trainer(accelerator="gpu").fit(Module(), loader)
"""
EXPLAINED = """
class Explainer:
    def __init__(self, model):
        self.model = model
        self.model.eval()
    def __call__(self, x):
        out = self.model(x)
        out.max().backward()
        return out

def run():
    explain = Explainer(model)
    for (x,) in loader:
        print(explain(x.cuda()).max().item())

run()
"""
HOOK = """
class Watch:
    def __init__(self, model):
        for part in model.modules():
            part.register_forward_hook(self.print)
    def look(self, part, given, out):
        print(given[0].sum().item())

watch = Watch(model)
for (x,) in loader:
    learn(x)
"""
OPTIMIZER = """
class Scaled(torch.optim.Optimizer):
    @torch.no_grad()
    def show(self):
        for group in self.param_groups:
            for weight in group["params"]:
                weight.mul_(weight.norm().item())
"""
SCALED = """
class Scaled:
    def __init__(self, inner):
        self.inner = inner
    def step(self):
        print(self.norm.item())
        self.inner.step()

scaler = torch.amp.GradScaler("cuda")
scaled = Scaled(optimizer)
for (x,) in loader:
    scaler.scale(model(x.cuda()).sum()).backward()
    scaler.unscale_(scaled)
"""
PAIRS = {
    "of a function that is no hook": Pair(HEAD + HOOK, "self.print", "self.look"),
    "of an optimizer's other method": Pair(HEAD + OPTIMIZER, "def show", "def step"),
    "of an optimizer's other method, where nothing names a GPU": Pair(
        "import torch\n" + OPTIMIZER, "def show", "def step"
    ),
    "of an optimizer that makes no step": Pair(HEAD + SCALED, "scaler.unscale_", "scaler.step"),
    "where gradients explain a model": Pair(HEAD + EXPLAINED, ".eval()", ".train()"),
    "also called after the loop": Pair(HEAD + SAVING, "    if at % 100 == 0:\n        save()", "    save()"),
    "in what was called before the loop too": Pair(HEAD + HELPED, "    learn(x)\n", "    step(x)\n"),
    "of an evaluation by its name": Pair(HEAD + METRIC, "evaluate", "accuracy"),
    "of a queue that the model keeps": Pair(HEAD + QUEUE, "start = self.place\n", "start = self.place.item()\n"),
    "on the batches of an evaluation": Pair(HEAD + VALIDATION, "in DataLoader(data, batch_size=4)", "in [[x]]"),
    "in a model that is entered by a method of its own": Pair(
        HEAD + OWN_METHOD, "print(loss.shape)", "loss.backward()"
    ),
    "in a part of what a framework trains": Pair(HEAD + LIGHTNING, "validation_step", "training_step"),
    "in what a framework trains, beside a model that is not": Pair(
        HEAD + "model.eval()\n" + LIGHTNING, "validation_step", "training_step"
    ),
    "of an optimizer's other method, beside a model that is not trained": Pair(
        HEAD + "model.eval()\n" + OPTIMIZER, "def show", "def step"
    ),
}


@pytest.mark.parametrize("name", PAIRS)
def test_is_silent_for_what_is_no_part_of_each_step(name: str, tmp_path: Path) -> None:
    check_pair("ACC208", PAIRS[name], tmp_path)


REFILLED = """
import conf
import torch
from torch import nn
from torch.utils.data import DataLoader

class Losses:
    def compute(self, data):
        chosen = data.get('chosen', None)
        total = 0
        for i in range(data['x'].size(0)):
            if chosen is not None and chosen[i] > 0.5:
                total = total + data['out'][i].sum()
        return total

net = nn.Linear(8, 8).cuda()
losses = Losses()
optimizer = torch.optim.SGD(net.parameters(), 0.1)
for data in DataLoader(conf.data, 8, num_workers=4, pin_memory=True):
    for name, value in data.items():
        if type(value) != list:
            data[name] = value.cuda(non_blocking=True)
    out = {'out': net(data['x'])}
    optimizer.zero_grad()
    losses.compute({**data, **out}).backward()
    optimizer.step()
"""
REFILLS = {
    "entry by entry": Pair(REFILLED.replace("data[name] =", "moved ="), "moved =", "data[name] ="),
    "one entry": Pair(REFILLED.replace("data[name]", "data['x']"), "data['x'] =", "data[name] ="),
    "with what else there is": Pair(REFILLED.replace("{**data, **out}", "{**conf.more, **out}"), "conf.more", "data"),
}


@pytest.mark.parametrize("case", REFILLS)
def test_a_batch_whose_entries_are_moved_one_by_one(case: str, tmp_path: Path) -> None:
    check_pair("ACC208", REFILLS[case], tmp_path)
