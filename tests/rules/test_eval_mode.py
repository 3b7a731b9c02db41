"""ACC432, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from .marked import fixed
from .programs import IMPORTS
from .single import check_one

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
NET = BEGIN.format(layer="nn.BatchNorm1d(8)")
TEST = """
with torch.no_grad():
    for (x,) in test_loader:
        net(x)
"""

TRAINING_SILENT = {
    "evaluation mode": NET + "learn()\nnet.eval()" + TEST,
    "evaluation mode by train": NET + "learn()\nnet.train(False)" + TEST,
    "switched elsewhere": NET + "def prepare(m):\n    m.eval()\nlearn()" + TEST,
    "no such layer": BEGIN.format(layer="nn.GroupNorm(2, 8)") + TEST,
    "an argument decides": BEGIN.format(layer="nn.Dropout(dropout)") + TEST,
    "a condition decides": BEGIN.format(layer="nn.Dropout(0.5) if torch.cuda.is_available() else nn.Identity()") + TEST,
    "no dropout": BEGIN.format(layer="nn.Dropout(0.0)") + TEST,
    "with gradients": NET + TEST.replace("torch.no_grad()", "torch.enable_grad()"),
    "several passes": NET + TEST.replace("        net(x)", "        for i in range(9):\n            net(x)"),
    "Monte Carlo": NET + "def mc_dropout():" + TEST.replace("\n", "\n    ") + "\nmc_dropout()",
    "batch norm is calibrated": NET + "def update_bn():" + TEST.replace("\n", "\n    ") + "\nupdate_bn()",
    "two optimizers": NET + "other = torch.optim.SGD(net.parameters(), lr=0.1)" + TEST,
    "a framework": NET + "from accelerate import Accelerator\na = Accelerator()" + TEST,
    "a model that is not known": NET + "import conf\nnet = conf.net" + TEST,
    "a teacher in a step of training": (
        NET + "for (x,) in train_loader:\n    with torch.no_grad():\n        net(x)\n    net(x).sum().backward()\n"
    ),
}


@pytest.mark.parametrize("source", TRAINING_SILENT.values(), ids=TRAINING_SILENT.keys())
def test_training_mode_silent(source: str, tmp_path: Path) -> None:
    check_one("ACC432", IMPORTS + source + "\n", tmp_path)


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
    check_one("ACC432", IMPORTS + NET + source + test, tmp_path)


def test_the_fix_goes_back_to_training(tmp_path: Path) -> None:
    source = (
        NET
        + "@torch.no_grad()\ndef test():\n    for (x,) in test_loader:\n        net(x)\n    return 1\nlearn()\ntest()\n"
    )
    text = fixed(IMPORTS + source, tmp_path, "ACC432")
    assert "    net.eval()\n    for (x,) in test_loader:\n        net(x)\n    net.train()\n    return 1\n" in text


EPOCHS = """
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
    return EPOCHS.format(before=before, after=EVALUATE.format(mode=mode) + more, mark=mark)


EVALUATION_SILENT = {
    "back before training": NET + epochs("    net.train()"),
    "back after evaluation": NET + epochs(more="    net.train()"),
    "back to what it was": NET + epochs(more="    net.train(mode=epoch > 3)"),
    "back in a function": NET + "def back(m):\n    m.train()\n" + epochs("    back(net)"),
    "back somewhere unknown": NET + "import conf\n" + epochs("    conf.prepare(net)"),
    "frozen for training": NET + epochs("    net.eval()"),
    "another model": NET + "other = Net()\n" + epochs(mode="other.eval()"),
    "no such layer": BEGIN.format(layer="nn.ReLU()") + epochs(),
    "evaluation after all epochs": NET + "for epoch in range(9):\n    learn()\nnet.eval()" + TEST,
}


@pytest.mark.parametrize("source", EVALUATION_SILENT.values(), ids=EVALUATION_SILENT.keys())
def test_evaluation_mode_silent(source: str, tmp_path: Path) -> None:
    check_one("ACC432", IMPORTS + source + "\n", tmp_path)


def test_evaluation_mode_reported(tmp_path: Path) -> None:
    (found,) = check_one("ACC432", IMPORTS + NET + "net.train()" + epochs(mark="  # -> warning unsafe"), tmp_path)
    assert len(found.related) == 1
    text = fixed(IMPORTS + NET + "net.train()" + epochs(), tmp_path, "ACC432")
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
    check_one("ACC432", IMPORTS + NET + source, tmp_path)
