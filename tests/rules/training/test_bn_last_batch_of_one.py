"""ACC425 bn-last-batch-of-one, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..checks import check_one
from ..programs import IMPORTS

TRAIN = """
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for (x,) in loader:
    net(x).sum().backward()
    optimizer.step()
"""
MLP = "net = nn.Sequential(nn.Linear(8, 8), nn.BatchNorm1d(8))\n"
SILENT = {
    "dropped": MLP + "loader = DataLoader(TensorDataset(torch.load('x')), batch_size=16, drop_last=True)",
    "perhaps dropped": "import conf\n" + MLP + "loader = DataLoader(TensorDataset(torch.load('x')), 16, **conf.kw)",
    "an even number": MLP + "loader = DataLoader(TensorDataset(torch.zeros(64, 8)), batch_size=16)",
    "two remain": MLP + "loader = DataLoader(TensorDataset(torch.zeros(66, 8)), batch_size=16)",
    "a data set whose length is known": (
        "from torchvision.datasets import MNIST\n" + MLP + "loader = DataLoader(MNIST('d'), batch_size=64)"
    ),
    "images": (
        "net = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8))\n"
        "loader = DataLoader(TensorDataset(torch.load('x')), batch_size=16)"
    ),
    "no batch norm": "net = nn.Linear(8, 8)\nloader = DataLoader(TensorDataset(torch.load('x')), batch_size=16)",
    "another model's": (
        MLP + "other, net = net, nn.Linear(8, 8)\nloader = DataLoader(TensorDataset(torch.load('x')), batch_size=16)"
    ),
}


@pytest.mark.parametrize("source", SILENT.values(), ids=SILENT.keys())
def test_silent(source: str, tmp_path: Path) -> None:
    check_one("ACC425", IMPORTS + source + TRAIN, tmp_path)


def test_silent_in_evaluation(tmp_path: Path) -> None:
    source = "loader = DataLoader(TensorDataset(torch.load('x')), batch_size=16)\nnet.eval()\nfor (x,) in loader:\n    net(x)\n"
    check_one("ACC425", IMPORTS + MLP + source, tmp_path)


@pytest.mark.parametrize("data", ["torch.load('x')", "torch.zeros(65, 8)"])
def test_reported(data: str, tmp_path: Path) -> None:
    source = f"loader = DataLoader(TensorDataset({data}), batch_size=16)  # -> info none"
    check_one("ACC425", IMPORTS + MLP + source + TRAIN, tmp_path)
    inside = f"class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.m = {MLP[6:]}"
    inside += "    def forward(self, x):\n        return self.m(x)\nnet = Net()\n"
    check_one("ACC425", IMPORTS + inside + source + TRAIN, tmp_path)
