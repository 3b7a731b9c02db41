"""ACC432 eval-mode-missing, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..checks import Pair, check_one, check_pair, fixed
from ..programs import IMPORTS, MODEL

BEGIN = """
class Net(nn.Module):
    def __init__(self, dropout=0.1):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(8, 8), {layer})
    def forward(self, x):
        return self.body(x)
data = TensorDataset(torch.zeros(64, 8))
train_loader, test_loader = DataLoader(data, batch_size=16), DataLoader(data, batch_size=16)
net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
def learn():
    for (x,) in train_loader:
        net(x).sum().backward()
        optimizer.step()
"""
MODULE = BEGIN.format(layer="nn.BatchNorm1d(8)")
TEST = """
with torch.no_grad():
    for (x,) in test_loader:
        net(x)
"""
TRAINING_SILENT = {
    "evaluation mode": MODULE + "learn()\nnet.eval()" + TEST,
    "evaluation mode by train": MODULE + "learn()\nnet.train(False)" + TEST,
    "switched elsewhere": MODULE + "def prepare(m):\n    m.eval()\nlearn()" + TEST,
    "no such layer": BEGIN.format(layer="nn.GroupNorm(2, 8)") + TEST,
    "an argument decides": BEGIN.format(layer="nn.Dropout(dropout)") + TEST,
    "a condition decides": BEGIN.format(layer="nn.Dropout(0.5) if torch.cuda.is_available() else nn.Identity()") + TEST,
    "no dropout": BEGIN.format(layer="nn.Dropout(0.0)") + TEST,
    "with gradients": MODULE + TEST.replace("torch.no_grad()", "torch.enable_grad()"),
    "several passes": MODULE + TEST.replace("        net(x)", "        for i in range(9):\n            net(x)"),
    "Monte Carlo": MODULE + "def mc_dropout():" + TEST.replace("\n", "\n    ") + "\nmc_dropout()",
    "batch norm is calibrated": MODULE + "def update_bn():" + TEST.replace("\n", "\n    ") + "\nupdate_bn()",
    "two optimizers": MODULE + "other = torch.optim.SGD(net.parameters(), lr=0.1)" + TEST,
    "a framework": MODULE + "from accelerate import Accelerator\na = Accelerator()" + TEST,
    "a model that is not known": MODULE + "import conf\nnet = conf.net" + TEST,
    "a teacher in a step of training": (
        MODULE + "for (x,) in train_loader:\n    with torch.no_grad():\n        net(x)\n    net(x).sum().backward()\n"
    ),
}


@pytest.mark.parametrize("source", TRAINING_SILENT.values(), ids=TRAINING_SILENT.keys())
def test_training_mode_silent(source: str, tmp_path: Path) -> None:
    check_one("ACC432", IMPORTS + source + "\n", tmp_path)


EVALUATED_EPOCHS = """
for epoch in range(9):
{before}
    for (x,) in train_loader:{mark}
        net(x).sum().backward()
        optimizer.step()
{after}
"""
EVALUATE = """
    {mode}
    with torch.no_grad():
        for (x,) in test_loader:
            net(x)
"""


def epochs(before: str = "", mode: str = "net.eval()", more: str = "", mark: str = "") -> str:
    return EVALUATED_EPOCHS.format(before=before, after=EVALUATE.format(mode=mode) + more, mark=mark)


EVALUATION_SILENT = {
    "back before training": MODULE + epochs("    net.train()"),
    "back after evaluation": MODULE + epochs(more="    net.train()"),
    "back to what it was": MODULE + epochs(more="    net.train(mode=epoch > 3)"),
    "back in a function": MODULE + "def back(m):\n    m.train()\n" + epochs("    back(net)"),
    "back somewhere unknown": MODULE + "import conf\n" + epochs("    conf.prepare(net)"),
    "frozen for training": MODULE + epochs("    net.eval()"),
    "another model": MODULE + "other = Net()\n" + epochs(mode="other.eval()"),
    "no such layer": BEGIN.format(layer="nn.ReLU()") + epochs(),
    "evaluation after all epochs": MODULE + "for epoch in range(9):\n    learn()\nnet.eval()" + TEST,
}


@pytest.mark.parametrize("source", EVALUATION_SILENT.values(), ids=EVALUATION_SILENT.keys())
def test_evaluation_mode_silent(source: str, tmp_path: Path) -> None:
    check_one("ACC432", IMPORTS + source + "\n", tmp_path)


HEAD = IMPORTS + MODEL + "import conf\nloader = DataLoader(TensorDataset(torch.zeros(8, 8)))\n"
PAIR_NET = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(8, 8), nn.Dropout(0.5))
    def forward(self, x):
        return self.body(x)
net = Net()
"""
PAIR_TEST = "with torch.no_grad():\n        for (x,) in loader:\n            net(x)\n"


def evaluated(line: str, instead: str = "pass") -> Pair:
    return Pair(f"{HEAD}{PAIR_NET}{line}\ndef check():\n    {PAIR_TEST}check()\n", line, instead)


def called(name: str) -> Pair:
    return Pair(f"{HEAD}{PAIR_NET}def {name}():\n    {PAIR_TEST}{name}()\n", name, "check")


TRAINING_MODE = {
    "evaluation mode": evaluated("net.eval()"),
    "evaluation mode of a part": evaluated("net.body.eval()"),
    "train(False)": evaluated("net.train(False)"),
    "Lightning": evaluated("import lightning as L\ntrainer = L.Trainer()"),
    "transformers": evaluated("from transformers import Trainer\ntrainer = Trainer(net)"),
    "Monte Carlo dropout": called("mc_dropout"),
    "Monte Carlo": called("monte_carlo"),
    "uncertainty": called("predict_uncertainty"),
    "a posterior": called("sample_posterior"),
    "no batch norm or dropout": Pair(
        f"{HEAD}{PAIR_NET}def check():\n    {PAIR_TEST}check()\n".replace("nn.Dropout(0.5)", "nn.ReLU()"),
        "nn.ReLU()",
        "nn.Dropout(0.5)",
    ),
}


@pytest.mark.parametrize("pair", TRAINING_MODE.values(), ids=TRAINING_MODE.keys())
def test_training_mode_silent_for_one_reason(pair: Pair, tmp_path: Path) -> None:
    check_pair("ACC432", pair, tmp_path)


@pytest.mark.parametrize(
    "layer",
    ["nn.BatchNorm1d(8)", "nn.Dropout(p=0.5)", "nn.TransformerEncoderLayer(8, 2)", "make()"],
)
def test_training_mode_reported(layer: str, tmp_path: Path) -> None:
    make = "def make():\n    return nn.Sequential(nn.ReLU(), nn.Dropout())\n"
    test = TEST.replace("test_loader:", "test_loader:  # -> warning unsafe")
    check_one("ACC432", IMPORTS + make + BEGIN.format(layer=layer) + "learn()" + test, tmp_path)


def test_training_mode_of_torchvision(tmp_path: Path) -> None:
    source = "import torchvision\nnet = torchvision.models.resnet18()\n"
    test = TEST.replace("test_loader:", "test_loader:  # -> warning unsafe")
    check_one("ACC432", IMPORTS + MODULE + source + test, tmp_path)


def test_the_fix_goes_back_to_training(tmp_path: Path) -> None:
    source = (
        MODULE
        + "@torch.no_grad()\ndef test():\n    for (x,) in test_loader:\n        net(x)\n    return 1\nlearn()\ntest()\n"
    )
    text = fixed("ACC432", IMPORTS + source, tmp_path)
    assert "    net.eval()\n    for (x,) in test_loader:\n        net(x)\n    net.train()\n    return 1\n" in text


def test_evaluation_mode_reported(tmp_path: Path) -> None:
    (found,) = check_one("ACC432", IMPORTS + MODULE + "net.train()" + epochs(mark="  # -> warning unsafe"), tmp_path)
    assert len(found.related) == 1
    text = fixed("ACC432", IMPORTS + MODULE + "net.train()" + epochs(), tmp_path)
    assert "    net.train()\n    for (x,) in train_loader:\n" in text


def test_evaluation_mode_reported_through_functions(tmp_path: Path) -> None:
    source = """
def train_epoch(model):
    for (x,) in train_loader:  # -> warning unsafe
        model(x).sum().backward()
        optimizer.step()
def evaluate(model):
    model.eval()
    with torch.no_grad():
        for (x,) in test_loader:
            model(x)
for epoch in range(9):
    train_epoch(net)
    evaluate(net)
"""
    check_one("ACC432", IMPORTS + MODULE + source, tmp_path)
