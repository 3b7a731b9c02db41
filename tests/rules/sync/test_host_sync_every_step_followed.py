"""ACC208 host-sync-every-step, on values that reach the loop in the ways in which people write programs: silent where
they stay on the host."""

from __future__ import annotations

from pathlib import Path

import pytest

from accel_advisor.finding import Confidence

from ..checks import findings_of

HEAD = """
import sys
from functools import partial
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
import lib

data = TensorDataset(torch.zeros(64, 8), torch.zeros(64, 2))
device = torch.device("cuda")
model = nn.Linear(8, 2).to(device)
criterion = nn.MSELoss()
loader = DataLoader(data, batch_size=16)
total = 0.0
"""
STEP = """
    out = model(x.to(device))
    loss = criterion(out, y.to(device))
    loss.backward()
    total += loss.item()
"""
LOOP = "for x, y in loader:" + STEP
TRAINER = """
class Base:
    def __init__(self, device):
        self.model, self.device = nn.Linear(8, 2).to(device), device

class Trainer(Base):
    def __init__(self, device):
        super().__init__(device)
    def run(self, total=0.0):
        for x, y in loader:
            loss = criterion(self.model(x.to(self.device)), y.to(self.device))
            loss.backward()
            total += loss.item()

Trainer(device).run()
"""
KINDS = "".join(f"class Net{n}(nn.Linear):\n    pass\n" for n in range(8))
CHOICE = "".join(f"if n == {n}:\n    model = Net{n}(8, 2)\n" for n in range(8))
MANY = "".join(f"loader = make({n})\n" for n in range(1, 12))
PROVEN = {
    "by super().__init__": TRAINER,
    "in strings behind each other": LOOP.replace(
        "total += loss.item()", "print('loss' f'{loss.item()} ' f'of {total}')"
    ),
    "out of an object that is called": "class Both:\n    def __call__(self, out, y):\n"
    + "        return torch.mean((out - y) ** 2), out.sum()\ncriterion = Both()\n"
    + LOOP.replace("loss = ", "loss, total = ").replace("+= loss.item()", "= total.item()"),
    "out of the branch that a constant takes": "def build(mode):\n    if mode == 'train':\n        return loader\n"
    + "    return loader, loader\n"
    + LOOP.replace("in loader", "in build('train')"),
    "by map() of a partial": "train, test = map(partial(DataLoader, batch_size=16), (data, data))\n"
    + LOOP.replace("in loader", "in train"),
    "out of one of eight models": f"{KINDS}n = int(sys.argv[1])\n{CHOICE}model = model.to(device)\n{LOOP}",
    "out of a function with eleven callers": "def make(n):\n    return DataLoader(data, batch_size=n)\n" + MANY + LOOP,
    "through DistributedDataParallel": "model = nn.parallel.DistributedDataParallel(model)\n" + LOOP,
    "out of either of two branches": LOOP.replace(
        "    out = model(x.to(device))",
        "    if len(sys.argv) > 1:\n        out = model(x.to(device))\n    else:\n        out = 2 * model(x.to(device))",
    ),
    "from one of two loaders": "if len(sys.argv) > 1:\n    loader = DataLoader(data, batch_size=64)\n" + LOOP,
    "from a loader that is asked by an old method": "batches = iter(loader)\nfor step in range(1000):\n"
    + "    x, y = batches.next()"
    + STEP,
    "from a loader that is asked by its method": "batches = iter(loader)\nfor step in range(1000):\n"
    + "    x, y = batches.__next__()"
    + STEP,
}
EVIDENT = {
    "out of a model that somebody else has seen": "lib.count(model)\n" + LOOP,
    "out of a model that the caller has moved": "def train(model, total=0.0):\n"
    + "".join(f"    {line}\n" for line in LOOP.splitlines())
    + "train(lib.models[sys.argv[1]]().to(device))\n",
    "as a number of what an unknown model returns": "model = lib.build().to(device)\n"
    + LOOP.replace("loss.item()", "float(out.max())"),
    "out of a dict that the step goes over": LOOP.replace(
        "loss = criterion", "losses = {}\n    losses['a'] = criterion"
    )
    .replace("loss.backward()", "losses['a'].backward()")
    .replace("total += loss.item()", "for name in losses:\n        print(name, losses[name].item())"),
}


@pytest.mark.parametrize("case", [*PROVEN, *EVIDENT])
def test_silent_where_the_value_is_on_the_host(case: str, tmp_path: Path) -> None:
    source = (HEAD + (PROVEN | EVIDENT)[case]).replace('"cuda"', '"cpu"')
    assert findings_of("ACC208", source, tmp_path) == []


@pytest.mark.parametrize("case", PROVEN)
def test_reported_where_the_value_certainly_is_on_the_gpu(case: str, tmp_path: Path) -> None:
    assert [one.confidence for one in findings_of("ACC208", HEAD + PROVEN[case], tmp_path)] == [Confidence.PROVEN]


@pytest.mark.parametrize("case", EVIDENT)
def test_reported_where_the_value_evidently_is_on_the_gpu(case: str, tmp_path: Path) -> None:
    assert [one.confidence for one in findings_of("ACC208", HEAD + EVIDENT[case], tmp_path)] == [Confidence.EVIDENT]
