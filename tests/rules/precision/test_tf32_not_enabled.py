"""ACC408 tf32-not-enabled, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..checks import Pair, check_one, check_pair, check_since, fixed
from ..programs import IMPORTS

TRAIN = """
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for i in range(3):
    net(torch.zeros(2, 3, 64).cuda()).sum().backward()
    optimizer.step()
"""
NETWORK = "net = nn.TransformerEncoderLayer(64, 8)\n"
SILENT = {
    "the old setting": NETWORK + "torch.backends.cuda.matmul.allow_tf32 = True\nnet.cuda()",
    "the new setting": NETWORK + "torch.backends.fp32_precision = 'tf32'\nnet.cuda()",
    "the function": NETWORK + "torch.set_float32_matmul_precision('highest')\nnet.cuda()",
    "mixed precision": NETWORK + "net.cuda()\nwith torch.autocast('cuda'):\n    pass",
    "bfloat16": NETWORK + "net.cuda().bfloat16()",
    "float64": NETWORK + "net.cuda().double()",
    "deterministic": NETWORK + "torch.use_deterministic_algorithms(True)\nnet.cuda()",
    "on the host": NETWORK + "net.to('cpu')",
    "convolutions": "net = nn.Conv2d(3, 3, 3)\nnet.cuda()",
    "a framework": NETWORK + "from accelerate import Accelerator\na = Accelerator()\nnet.cuda()",
}


@pytest.mark.parametrize("source", SILENT.values(), ids=SILENT.keys())
def test_silent(source: str, tmp_path: Path) -> None:
    check_one("ACC408", IMPORTS + source + "\n" + TRAIN, tmp_path)


def test_silent_where_nothing_trains(tmp_path: Path) -> None:
    check_one("ACC408", IMPORTS + NETWORK + "net.cuda()\n", tmp_path)


def attention(line: str, others: dict[str, str] | None = None) -> Pair:
    """A transformer that is trained on CUDA, with one more line."""
    source = f"{IMPORTS}import conf\nnet = nn.TransformerEncoderLayer(64, 8)\n{line}net.cuda()\n{TRAIN}"
    return Pair(source, line, "", others or {})


PAIRS = {
    "TF32 is not wanted": attention("torch.backends.cuda.matmul.allow_tf32 = False\n"),
    "an option": attention("torch.backends.cuda.matmul.allow_tf32 = conf.tf32\n"),
    "the setting of convolutions": attention("torch.backends.cudnn.conv.fp32_precision = 'tf32'\n"),
    "the highest precision": attention("torch.set_float32_matmul_precision('highest')\n"),
    "half": attention("net.half()\n"),
    "float64": attention("net.double()\n"),
    "float64 by default": attention("torch.set_default_dtype(torch.float64)\n"),
    "autocast of a forward": attention("@torch.autocast('cuda')\ndef forward(x):\n    return x\n"),
    "set through transformers": attention(
        "from transformers import TrainingArguments\na = TrainingArguments('o', tf32=True)\n"
    ),
    "Lightning": attention("import lightning as L\ntrainer = L.Trainer(precision=32)\n"),
    "deterministic algorithms": attention("torch.use_deterministic_algorithms(True)\n"),
    "linear algebra": attention("torch.linalg.eigh(torch.zeros(2, 2))\n"),
    "Gaussian processes": attention("import gpytorch\nkernel = gpytorch.kernels.RBFKernel()\n"),
    "a gradient check": attention("torch.autograd.gradcheck(net, conf.x)\n"),
    "physics": attention("def solve_pde(x):\n    return torch.ones_like(x)\nsolve_pde(conf.x)\n"),
    "physics in another file": attention(
        "from physics import gravity\ngravity(conf.x)\n",
        {"physics.py": "import torch\ndef gravity(x):\n    return torch.ones_like(x)\n"},
    ),
}


@pytest.mark.parametrize("pair", PAIRS.values(), ids=PAIRS.keys())
def test_silent_for_one_reason(pair: Pair, tmp_path: Path) -> None:
    check_pair("ACC408", pair, tmp_path)


def test_silent_where_an_older_torch_is_supported(tmp_path: Path) -> None:
    source = attention("\n").source
    check_since("ACC408", source, (1, 12), tmp_path)


def test_reported_once(tmp_path: Path) -> None:
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
        "ACC408", IMPORTS + source + TRAIN, tmp_path
    )


def test_the_setting_goes_before_the_statement_of_a_call_that_was_followed(tmp_path: Path) -> None:
    others = {"nets.py": "from torch import nn\ndef build():\n    return nn.TransformerEncoderLayer(64, 8)\n"}
    source = "from nets import build\nnet = build().cuda()  # -> info unsafe\n"
    found = check_one("ACC408", IMPORTS + source + TRAIN, tmp_path, others)
    assert found[0].fix is not None
    assert found[0].fix.edits[0].span.start.row == found[0].span.start.row
