"""ACC301, ACC302 and ACC303, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from .marked import check, fixed
from .programs import IMPORTS

DEVICE = 'device = torch.device("cuda" if torch.cuda.is_available() else "cpu")'
TRAIN = """
from conf import batch
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(3):
    model(batch()).sum().backward()
    optimizer.step()
"""

UNUSED_SILENT = {
    "read": f"{DEVICE}\nmodel = nn.Linear(8, 2).to(device)\n",
    "formatted for a device": f"{DEVICE}\nmodel = nn.Linear(8, 2)\nplace(model, f'{{device}}:0')\n",
    "handed on": f"{DEVICE}\nimport conf\nmodel = nn.Linear(8, 2)\nconf.set(device=device)\n",
    "something else is placed": f"{DEVICE}\nmodel = nn.Linear(8, 2).cuda()\n",
    "default device": f"{DEVICE}\ntorch.set_default_device('cuda')\nmodel = nn.Linear(8, 2)\n",
    "read by text": f"{DEVICE}\nmodel = nn.Linear(8, 2)\nprint(globals())\n",
    "a framework": f"{DEVICE}\nfrom accelerate import Accelerator\na = Accelerator()\nmodel = a.prepare(nn.Linear(8, 2))\n",
    "cpu only": "device = torch.device('cpu')\nmodel = nn.Linear(8, 2)\n",
}


@pytest.mark.parametrize("source", UNUSED_SILENT.values(), ids=UNUSED_SILENT.keys())
def test_unused_device_is_silent(source: str, tmp_path: Path) -> None:
    check(IMPORTS + source + TRAIN, tmp_path)


def test_unused_device_is_silent_where_nothing_trains(tmp_path: Path) -> None:
    check(IMPORTS + DEVICE + "\nmodel = nn.Linear(8, 2)\n", tmp_path)


@pytest.mark.parametrize("device", [DEVICE, "device = 'cuda' if torch.cuda.is_available() else 'cpu'"])
def test_unused_device(device: str, tmp_path: Path) -> None:
    check(IMPORTS + device + "  # -> ACC301 warning none\nmodel = nn.Linear(8, 2)\n" + TRAIN, tmp_path)


LOADER = "loader = DataLoader(TensorDataset(torch.zeros(8, 8), torch.zeros(8)), pin_memory=True)\n"

PLACED_SILENT = {
    "both moved": "model = nn.Linear(8, 2).cuda()\nfor x, y in loader:\n    model(x.cuda(non_blocking=True))",
    "neither": "model = nn.Linear(8, 2)\nfor x, y in loader:\n    model(x)",
    "moved by a helper": (
        "import mystery\nmodel = nn.Linear(8, 2).cuda()\nfor batch in loader:\n    x, y = mystery.move(batch)\n    model(x)"
    ),
    "moved by forward": (
        "class Net(nn.Module):\n    def forward(self, x):\n        return x.to(next(self.parameters()).device)\n"
        "model = Net().cuda()\nfor x, y in loader:\n    model(x)"
    ),
    "moved on some paths": (
        "model = nn.Linear(8, 2)\nif torch.cuda.is_available():\n    model.cuda()\nfor x, y in loader:\n    model(x)"
    ),
    "both on the same path": (
        "gpu = torch.cuda.is_available()\nmodel = nn.Linear(8, 2)\nif gpu:\n    model.cuda()\nfor x, y in loader:\n"
        "    if gpu:\n        x = x.cuda(non_blocking=True)\n    model(x)"
    ),
    "data parallel": "model = nn.DataParallel(nn.Linear(8, 2), [0]).cuda()\nfor x, y in loader:\n    model(x)",
    "distributed": (
        "from torch.nn.parallel import DistributedDataParallel as DDP\nmodel = DDP(nn.Linear(8, 2).cuda(), device_ids=[0])\n"
        "for x, y in loader:\n    model(x)"
    ),
    "prepared": (
        "from accelerate import Accelerator, DataLoaderConfiguration as Conf\n"
        "a = Accelerator(dataloader_config=Conf(non_blocking=True))\nmodel, loader = a.prepare(nn.Linear(8, 2).cuda(), loader)\n"
        "for x, y in loader:\n    model(x)"
    ),
    "model handed away": (
        "import mystery\nmodel = nn.Linear(8, 2)\nmystery.place(model)\nfor x, y in loader:\n"
        "    model(x.cuda(non_blocking=True))"
    ),
    "model from a factory": (
        "import mystery\nmodel = mystery.make()\nfor x, y in loader:\n    model(x.cuda(non_blocking=True))"
    ),
    "part of a moved model": (
        "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.inner = nn.Linear(8, 2)\n"
        "    def run(self, x):\n        return self.inner(x)\nmodel = Net().cuda()\nfor x, y in loader:\n"
        "    model.run(x.cuda(non_blocking=True))"
    ),
    "built on the device": (
        "with torch.device('cuda'):\n    model = nn.Linear(8, 2)\nfor x, y in loader:\n    model(x.cuda(non_blocking=True))"
    ),
    "a loss without weights": (
        "model = nn.Linear(8, 2).cuda()\nloss = nn.MSELoss()\nfor x, y in loader:\n"
        "    loss(model(x.cuda(non_blocking=True)), y.cuda(non_blocking=True))"
    ),
    "moved later in the program": ("model = nn.Linear(8, 2)\nfor x, y in loader:\n    model(x)\nmodel.cuda()"),
}


@pytest.mark.parametrize("source", PLACED_SILENT.values(), ids=PLACED_SILENT.keys())
def test_places_are_silent_where_not_both_are_proven(source: str, tmp_path: Path) -> None:
    check(IMPORTS + LOADER + source + "\n", tmp_path)


def test_batch_on_the_host_and_model_on_the_gpu(tmp_path: Path) -> None:
    source = "model = nn.Linear(8, 2).to('cuda')\nfor x, y in loader:\n    model(x)  # -> ACC302 error none\n"
    check(IMPORTS + LOADER + source, tmp_path)


def test_model_moved_in_place_by_a_method(tmp_path: Path) -> None:
    source = (
        f"{DEVICE}\nmodel = nn.Linear(8, 2)\nmodel.to(device)\nfor x, y in loader:\n    model(x)  # -> ACC302 error\n"
    )
    check(IMPORTS + LOADER + source, tmp_path)


def test_target_on_the_host(tmp_path: Path) -> None:
    source = """
import torch.nn.functional as F
model = nn.Linear(8, 2).cuda()
for x, y in loader:
    out = model(x.cuda(non_blocking=True))
    F.cross_entropy(out, y).backward()  # -> ACC302 error
"""
    check(IMPORTS + LOADER + source, tmp_path)


def test_model_that_was_not_moved(tmp_path: Path) -> None:
    source = f"{DEVICE}\nmodel = nn.Linear(8, 2)  # -> ACC303 error unsafe\nfor x, y in loader:\n    model(x.to(device, non_blocking=True))\n"
    check(IMPORTS + LOADER + source, tmp_path)
    assert "model = nn.Linear(8, 2).to(device)" in fixed(IMPORTS + LOADER + source, tmp_path, "ACC303")


def test_model_that_was_not_moved_across_functions(tmp_path: Path) -> None:
    source = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(8, 2)
    def forward(self, x):
        return self.layer(x)
def train(model, loader, device):
    for x, y in loader:
        model(x.to(device, non_blocking=True)).sum().backward()
def main():
    train(Net(), loader, torch.device("cuda"))  # -> ACC303 error none
main()
"""
    check(IMPORTS + LOADER + source, tmp_path)
