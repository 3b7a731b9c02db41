"""ACC208 host-sync-every-step, on values that reach the loop in the ways in which people write programs: silent where
they stay on the host."""

from __future__ import annotations

from pathlib import Path

import pytest

from accel_advisor.finding import Confidence

from ..checks import Pair, check_pair, findings_of

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
QUIET = LOOP.replace("    total += loss.item()\n", "")
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
NET = """
def longest(lengths):
    return lengths.max().item()

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(8, 2)
    def forward(self, x, lengths):
        return self.layer(x)[:, :longest(lengths)]
"""
WHOLE = """
class Whole(nn.Module):
    def __init__(self):
        super().__init__()
        self.part = Net()
    def forward(self, lengths, x):
        return self.part(x, lengths)

model = Whole().to(device)
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
    "through DistributedDataParallel, by keyword": "model = nn.parallel.DistributedDataParallel(module=model)\n" + LOOP,
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
    "out of a dict that the step goes over": LOOP.replace(
        "loss = criterion", "losses = {}\n    losses['a'] = criterion"
    )
    .replace("loss.backward()", "losses['a'].backward()")
    .replace("total += loss.item()", "for name in losses:\n        print(name, losses[name].item())"),
}
EVIDENT = {
    "out of a model that somebody else has seen": "lib.count(model)\n" + LOOP,
    "out of a model that the caller has moved": "def train(model, total=0.0):\n"
    + "".join(f"    {line}\n" for line in LOOP.splitlines())
    + "train(lib.models[sys.argv[1]]().to(device))\n",
    "as a number of what an unknown model returns": "model = lib.build().to(device)\n"
    + LOOP.replace("loss.item()", "float(out.max())"),
    "in a forward": NET + QUIET.replace("model(x.to(device))", "Net()(x.to(device), y.to(device))"),
    "in the forward of a part": NET + WHOLE + QUIET.replace("model(", "model(y.to(device), "),
    "in the forward of what is wrapped": NET
    + WHOLE
    + "model = nn.parallel.DistributedDataParallel(model)\n"
    + QUIET.replace("model(", "model(y.to(device), "),
    "in the forward of a part of a sequence": "class Scale(nn.Module):\n    def forward(self, x):\n"
    + "        return x / x.max().item()\nmodel = nn.Sequential(nn.Linear(8, 2), Scale()).to(device)\n"
    + QUIET,
    "in the forward of a loss": NET
    + "class Loss(nn.Module):\n    def forward(self, out, y):\n        return longest(y) * (out - y).mean()\n"
    + "criterion = Loss()\n"
    + QUIET,
    "in the forward of a model that a function nobody calls trains": NET
    + "def train(loader):\n    model = Net().to(device)\n    for x, y in loader:\n"
    + "        model(x.to(device), y.to(device)).sum().backward()\n",
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


FORWARD = (
    "for i, (x, y) in enumerate(loader):\n    x, n = x.to(device), y.to(device)\n    model(x, n).sum().backward()\n"
)
MODEL = NET + "model = Net().to(device)\n"
PAIRS = {
    "an input on the host": Pair(HEAD + MODEL + FORWARD.replace("y.to(device)", "y"), ", y\n", ", y.to(device)\n"),
    "an input of a part that is on the host": Pair(
        HEAD + NET + WHOLE + FORWARD.replace("y.to(device)", "y").replace("(x, n)", "(n, x)"),
        ", y\n",
        ", y.to(device)\n",
    ),
    "a number": Pair(
        HEAD + MODEL.replace("lengths.max().item()", "int(lengths)") + FORWARD, "int(lengths)", "lengths.item()"
    ),
    "called now and then": Pair(
        HEAD
        + MODEL
        + FORWARD.replace("    model(x, n)", "    if i % 100 == 0:\n        model(x, n)")
        + "    criterion(x, n).backward()\n",
        "i % 100 == 0",
        "lib.uses_model",
    ),
    "never called in a training": Pair(
        HEAD + MODEL + FORWARD.replace("model(x, n)", "x"), "x.sum()", "model(x, n).sum()"
    ),
}


@pytest.mark.parametrize("case", PAIRS)
def test_silent_about_a_forward_for_one_reason(case: str, tmp_path: Path) -> None:
    check_pair("ACC208", PAIRS[case], tmp_path)


def test_a_wait_in_a_forward_has_a_remedy_of_its_own(tmp_path: Path) -> None:
    (found,) = findings_of("ACC208", HEAD + MODEL + FORWARD, tmp_path)
    assert "take the value from the batch before it is copied" in found.message


ROUND_TRIP = """
def aligned(x):
    found = lib.search(x.detach().cpu().numpy())
    return torch.from_numpy(found).to(x.device)
for x, y in loader:
    out = model(x.to(device))
    (aligned(out) * out).sum().backward()
"""


def test_what_the_host_computes_for_the_gpu_cannot_wait_for_an_epoch(tmp_path: Path) -> None:
    for source, words in (
        (ROUND_TRIP, "the host computes with it and the step needs the result"),
        (ROUND_TRIP.replace("torch.from_numpy(found).to(x.device)", "found").replace("aligned(out) *", "1 *"), "once"),
    ):
        source = source.replace("1 * out", "out + 0 * len(aligned(out))") if words == "once" else source
        (found,) = findings_of("ACC208", HEAD + source, tmp_path)
        assert words in found.message


def test_the_loss_of_a_trainer_is_no_part_of_a_batch(tmp_path: Path) -> None:
    trainer = (
        "class Trainer:\n    def forward(self, x):\n"
        "        loss = model(x).sum()\n        loss.backward()\n        return loss.item()\n"
        "trainer = Trainer()\nfor x, y in loader:\n    trainer.forward(x.to(device))\n"
    )
    (found,) = findings_of("ACC208", HEAD + trainer, tmp_path)
    assert "keep the value as a tensor" in found.message
