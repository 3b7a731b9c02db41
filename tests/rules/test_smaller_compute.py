"""ACC408, ACC416, ACC426 and ACC427, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from .marked import fixed
from .programs import IMPORTS, MODEL
from .single import check_one

TRAIN = """
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for i in range(3):
    net(torch.zeros(2, 3, 64).cuda()).sum().backward()
    optimizer.step()
"""
NET = "net = nn.TransformerEncoderLayer(64, 8)\n"

TF32_SILENT = {
    "the old setting": NET + "torch.backends.cuda.matmul.allow_tf32 = True\nnet.cuda()",
    "the new setting": NET + "torch.backends.fp32_precision = 'tf32'\nnet.cuda()",
    "the function": NET + "torch.set_float32_matmul_precision('highest')\nnet.cuda()",
    "mixed precision": NET + "net.cuda()\nwith torch.autocast('cuda'):\n    pass",
    "bfloat16": NET + "net.cuda().bfloat16()",
    "float64": NET + "net.cuda().double()",
    "deterministic": NET + "torch.use_deterministic_algorithms(True)\nnet.cuda()",
    "on the host": NET + "net.to('cpu')",
    "convolutions": "net = nn.Conv2d(3, 3, 3)\nnet.cuda()",
    "a framework": NET + "from accelerate import Accelerator\na = Accelerator()\nnet.cuda()",
}


@pytest.mark.parametrize("source", TF32_SILENT.values(), ids=TF32_SILENT.keys())
def test_tf32_silent(source: str, tmp_path: Path) -> None:
    check_one("ACC408", IMPORTS + source + "\n" + TRAIN, tmp_path)


def test_tf32_silent_where_nothing_trains(tmp_path: Path) -> None:
    check_one("ACC408", IMPORTS + NET + "net.cuda()\n", tmp_path)


def test_tf32_reported_once(tmp_path: Path) -> None:
    source = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention = nn.MultiheadAttention(64, 8)
net = Net().cuda()  # -> info unsafe
other = nn.Linear(8, 2).cuda()
"""
    check_one("ACC408", IMPORTS + source + TRAIN, tmp_path)
    assert '\ntorch.set_float32_matmul_precision("high")\nnet = Net()' in fixed(
        IMPORTS + source + TRAIN, tmp_path, "ACC408"
    )


FOREACH_SILENT = {
    "default": "o = torch.optim.Adam(model.parameters())",
    "true": "o = torch.optim.Adam(model.parameters(), foreach=True)",
    "fused": "o = torch.optim.Adam(model.parameters(), foreach=False, fused=True)",
    "an option": "import conf\no = torch.optim.Adam(model.parameters(), foreach=conf.foreach)",
    "somebody else's": "import lion\no = lion.Lion(model.parameters(), foreach=False)",
}


@pytest.mark.parametrize("source", FOREACH_SILENT.values(), ids=FOREACH_SILENT.keys())
def test_foreach_silent(source: str, tmp_path: Path) -> None:
    check_one("ACC416", IMPORTS + MODEL + source + "\n", tmp_path)


def test_foreach_silent_on_the_host(tmp_path: Path) -> None:
    source = "o = torch.optim.Adam(nn.Linear(8, 2).parameters(), foreach=False)\n"
    check_one("ACC416", IMPORTS + source, tmp_path)


def test_foreach_reported(tmp_path: Path) -> None:
    source = "o = torch.optim.Adam(model.parameters(), foreach=False, lr=1e-3)  # -> info unsafe\n"
    check_one("ACC416", IMPORTS + MODEL + source, tmp_path)
    assert "Adam(model.parameters(), lr=1e-3)" in fixed(IMPORTS + MODEL + source, tmp_path, "ACC416")


LOAD_SILENT = {
    "given": "model.load_state_dict(torch.load('m.pt', map_location='cpu'))",
    "given by position": "model.load_state_dict(torch.load('m.pt', 'cpu'))",
    "not a checkpoint": "data = torch.load('data.pt')",
    "perhaps given": "import conf\nmodel.load_state_dict(torch.load('m.pt', **conf.kw))",
    "safetensors": "from safetensors.torch import load_file\nmodel.load_state_dict(load_file('m'))",
}


@pytest.mark.parametrize("source", LOAD_SILENT.values(), ids=LOAD_SILENT.keys())
def test_load_silent(source: str, tmp_path: Path) -> None:
    check_one("ACC426", IMPORTS + MODEL + source + "\n", tmp_path)


def test_load_silent_on_the_host(tmp_path: Path) -> None:
    check_one("ACC426", IMPORTS + "m = nn.Linear(8, 2)\nm.load_state_dict(torch.load('m.pt'))\n", tmp_path)


def test_load_reported(tmp_path: Path) -> None:
    source = "model.load_state_dict(torch.load('m.pt', weights_only=True), strict=False)  # -> info unsafe\n"
    source += "other = nn.Linear(8, 2)\nother.load_state_dict(torch.load('n.pt'))\n"
    found = check_one("ACC426", IMPORTS + MODEL + source, tmp_path)
    assert len(found[0].related) == 1
    assert fixed(IMPORTS + MODEL + source, tmp_path, "ACC426").count('map_location="cpu"') == 2


SAVE_SILENT = {
    "after the epoch": "for e in range(3):\n    for (x,) in loader:\n        step(x, x)\n    torch.save(model, 'm')",
    "on a condition": "for i, (x,) in enumerate(loader):\n    step(x, x)\n    if i % 9 == 0:\n        torch.save(model, 'm')",
    "before a condition leaves": (
        "for i, (x,) in enumerate(loader):\n    step(x, x)\n    if i % 9:\n        continue\n    torch.save(model, 'm')"
    ),
    "no training": "for i, (x,) in enumerate(loader):\n    torch.save(model(x), f'{i}.pt')",
    "a few numbers": "for i in range(3):\n    step(1, 2)\n    torch.save(model, 'm')",
    "of one batch": "for (x,) in loader:\n    step(x, x)\n    torch.save(model, 'm')\n    break",
    "of one batch in a function": (
        "def once():\n    for (x,) in loader:\n        step(x, x)\n        torch.save(model, 'm')\n        return x\nonce()"
    ),
}
LOADER = "loader = DataLoader(TensorDataset(torch.zeros(8, 8)))\n"


@pytest.mark.parametrize("source", SAVE_SILENT.values(), ids=SAVE_SILENT.keys())
def test_save_silent(source: str, tmp_path: Path) -> None:
    check_one("ACC427", IMPORTS + MODEL + LOADER + source + "\n", tmp_path)


SAVED = (
    "for i, (x,) in enumerate(loader):\n    step(x, x)\n    torch.save(model.state_dict(), 'm')  # -> warning none\n"
)
SAVE_REPORTED = {
    "alone": SAVED,
    "until a condition": SAVED + "    if i > 9:\n        break",
    "before the rest of the pass": SAVED + "    if i < 9:\n        continue\n    break",
    "after a loop that ends at once": SAVED + "    for _ in x:\n        break",
}


@pytest.mark.parametrize("source", SAVE_REPORTED.values(), ids=SAVE_REPORTED.keys())
def test_save_reported(source: str, tmp_path: Path) -> None:
    check_one("ACC427", IMPORTS + MODEL + LOADER + source + "\n", tmp_path)


def test_the_setting_goes_before_the_statement_of_a_call_that_was_followed(tmp_path: Path) -> None:
    others = {"nets.py": "from torch import nn\ndef build():\n    return nn.TransformerEncoderLayer(64, 8)\n"}
    source = "from nets import build\nnet = build().cuda()  # -> info unsafe\n"
    found = check_one("ACC408", IMPORTS + source + TRAIN, tmp_path, others)
    assert found[0].fix is not None
    assert found[0].fix.edits[0].span.start.row == found[0].span.start.row
