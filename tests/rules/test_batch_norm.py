"""ACC424 and ACC425, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from .marked import fixed
from .programs import IMPORTS
from .single import check_one

FORWARD = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = {conv}
        self.norm = {norm}
    def forward(self, x):
        {body}
"""


def net(body: str, conv: str = "nn.Conv2d(3, 8, 3)", norm: str = "nn.BatchNorm2d(8)") -> str:
    return FORWARD.format(conv=conv, norm=norm, body=body)


BIAS_SILENT = {
    "no bias": "nn.Sequential(nn.Conv2d(3, 8, 3, bias=False), nn.BatchNorm2d(8))",
    "no bias, by position": "nn.Sequential(nn.Conv2d(3, 8, 3, 1, 0, 1, 1, False), nn.BatchNorm2d(8))",
    "an option": "import conf\nnn.Sequential(nn.Conv2d(3, 8, 3, bias=conf.bias), nn.BatchNorm2d(8))",
    "group norm": "nn.Sequential(nn.Conv2d(3, 8, 3), nn.GroupNorm(2, 8))",
    "an activation between": "nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.BatchNorm2d(8))",
    "another number of dimensions": "nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm1d(8))",
    "shared": "c = nn.Conv2d(3, 8, 3)\nnn.Sequential(c, nn.BatchNorm2d(8))",
    "the other order": "nn.Sequential(nn.BatchNorm2d(3), nn.Conv2d(3, 8, 3))",
    "other arguments": "import conf\nnn.Sequential(nn.Conv2d(**conf.kw), nn.BatchNorm2d(8))",
    "used elsewhere too": net("return self.norm(self.conv(x)) + self.conv(x)"),
    "called on a name": net("y = self.conv(x)\n        return self.norm(y)"),
    "another norm": net("return self.norm(self.conv(x))", norm="nn.InstanceNorm2d(8)"),
}


@pytest.mark.parametrize("source", BIAS_SILENT.values(), ids=BIAS_SILENT.keys())
def test_bias_silent(source: str, tmp_path: Path) -> None:
    check_one("ACC424", IMPORTS + source + "\n", tmp_path)


REPORTED = (
    "m = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8))  # -> info unsafe",
    "m = nn.Sequential(nn.ReLU(), nn.ConvTranspose3d(3, 8, 3), nn.BatchNorm3d(8))  # -> info unsafe",
    net("return self.norm(self.conv(x)).relu()", conv="nn.Conv2d(3, 8, 3)  # -> info unsafe"),
)


@pytest.mark.parametrize("source", REPORTED)
def test_bias_reported(source: str, tmp_path: Path) -> None:
    check_one("ACC424", IMPORTS + source + "\n", tmp_path)
    assert "d(3, 8, 3, bias=False)" in fixed(f"{IMPORTS}{source}\n# ACC424\n", tmp_path, "ACC424")


def test_bias_has_no_fix_where_biases_are_read(tmp_path: Path) -> None:
    source = "m = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8))  # -> info none\nm[0].bias.data.zero_()\n"
    check_one("ACC424", IMPORTS + source, tmp_path)


def test_bias_has_no_fix_where_weights_are_loaded(tmp_path: Path) -> None:
    source = (
        "m = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8))  # -> info none\nm.load_state_dict(torch.load('m'))\n"
    )
    check_one("ACC424", IMPORTS + source, tmp_path)


TRAIN = """
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for (x,) in loader:
    net(x).sum().backward()
    optimizer.step()
"""
MLP = "net = nn.Sequential(nn.Linear(8, 8), nn.BatchNorm1d(8))\n"
ONE_SILENT = {
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


@pytest.mark.parametrize("source", ONE_SILENT.values(), ids=ONE_SILENT.keys())
def test_batch_of_one_silent(source: str, tmp_path: Path) -> None:
    check_one("ACC425", IMPORTS + source + TRAIN, tmp_path)


def test_batch_of_one_silent_in_evaluation(tmp_path: Path) -> None:
    source = "loader = DataLoader(TensorDataset(torch.load('x')), batch_size=16)\nnet.eval()\nfor (x,) in loader:\n    net(x)\n"
    check_one("ACC425", IMPORTS + MLP + source, tmp_path)


@pytest.mark.parametrize("data", ["torch.load('x')", "torch.zeros(65, 8)"])
def test_batch_of_one_reported(data: str, tmp_path: Path) -> None:
    source = f"loader = DataLoader(TensorDataset({data}), batch_size=16)  # -> info none"
    check_one("ACC425", IMPORTS + MLP + source + TRAIN, tmp_path)
    inside = f"class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.m = {MLP[6:]}"
    inside += "    def forward(self, x):\n        return self.m(x)\nnet = Net()\n"
    check_one("ACC425", IMPORTS + inside + source + TRAIN, tmp_path)
