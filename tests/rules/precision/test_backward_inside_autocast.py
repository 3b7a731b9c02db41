"""ACC407 backward-inside-autocast, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..checks import Pair, check_one, check_pair
from ..programs import IMPORTS, MODEL
from .programs import CLIPPING

HEAD = IMPORTS + MODEL + "from torch.nn import functional as F\nz = torch.zeros(4).cuda()\ny = torch.ones(4).cuda()\n"
SILENT = {
    "outside": "with torch.autocast('cuda'):\n    loss = model(z)\nloss.sum().backward()",
    "off": "with torch.autocast('cuda', enabled=False):\n    model(z).sum().backward()",
    "double backward": "with torch.autocast('cuda'):\n    model(z).sum().backward(create_graph=True)",
    "a penalty": (
        "with torch.autocast('cuda'):\n    g = torch.autograd.grad(model(z).sum(), z)\n    model(z).sum().backward()"
    ),
    "perhaps another manager": (
        "import conf, contextlib\nctx = torch.autocast('cuda') if conf.amp else contextlib.nullcontext()\n"
        "with ctx:\n    model(z).sum().backward()"
    ),
}


@pytest.mark.parametrize("source", SILENT.values(), ids=SILENT.keys())
def test_silent(source: str, tmp_path: Path) -> None:
    check_one("ACC407", HEAD + source + "\n", tmp_path)


SILENT_PROGRAMS = {
    "outside": """
model = nn.Linear(3, 3).cuda()
with torch.autocast("cuda"):
    loss = model(torch.zeros(3, device="cuda")).sum()
loss.backward()
""",
}


@pytest.mark.parametrize("case", SILENT_PROGRAMS)
def test_silent_programs(case: str, tmp_path: Path) -> None:
    check_one("ACC407", IMPORTS + SILENT_PROGRAMS[case], tmp_path)


CUSTOM = """
class Mine(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x
    @staticmethod
    def backward(ctx, g):
        return g @ g
"""


def backward(condition: str, instead: str, body: str = "model(x).sum().backward()", before: str = "") -> Pair:
    return Pair(f"{CLIPPING}{before}with torch.autocast('cuda'):\n    {body}\n", condition, instead)


PAIRS = {
    "a custom backward": backward(CUSTOM, "", before=CUSTOM),
    "a custom backward under another name": backward(
        "(F)", "", before="from torch.autograd import Function as F\nclass Mine(F):\n    pass\n"
    ),
    "a custom backward of an inner class": backward(
        "(autograd.function.Function)",
        "",
        before="from torch import autograd\ndef made():\n    class Mine(autograd.function.Function):\n        pass\n",
    ),
    "one that is mentioned": backward(
        "class Mine(torch.autograd.Function):\n    pass\n",
        "# torch.autograd.Function is not for us\n",
        before="class Mine(torch.autograd.Function):\n    pass\n",
    ),
    "create_graph": backward("create_graph=True", "", "model(x).sum().backward(create_graph=True)"),
    "autograd.grad": backward(
        "torch.autograd.grad(model(x).sum(), x)\n", "\n", before="torch.autograd.grad(model(x).sum(), x)\n"
    ),
    "a Hessian": backward(
        "torch.autograd.functional.hessian(model, x)\n", "\n", before="torch.autograd.functional.hessian(model, x)\n"
    ),
    "torch.func": backward("torch.func.grad(model)(x)\n", "\n", before="torch.func.grad(model)(x)\n"),
    "off": backward(
        "with torch.autocast('cuda', enabled=False): ",
        "",
        "with torch.autocast('cuda', enabled=False): model(x).sum().backward()",
    ),
    "off by position": Pair(
        f"{CLIPPING}with torch.autocast('cuda', torch.float16, False):\n    model(x).sum().backward()\n", ", False", ""
    ),
    "off under the old name": Pair(
        f"{CLIPPING}with torch.cuda.amp.autocast(False):\n    model(x).sum().backward()\n", "False", ""
    ),
    "off in the branch for it": Pair(
        f"import conf\n{CLIPPING}with torch.autocast('cuda', enabled=conf.amp):\n    if conf.amp:\n        model(x)\n"
        "    else:\n        model(x).sum().backward()\n",
        "if conf.amp:",
        "if conf.small:",
    ),
    "off where it is not asked for": Pair(
        f"import conf\n{CLIPPING}with torch.autocast('cuda', enabled=conf.amp):\n    if not conf.amp:\n"
        "        model(x).sum().backward()\n",
        "if not conf.amp:",
        "if conf.amp:",
    ),
    "outside": backward("loss = model(x).sum()\nloss.", "model(x).sum().", "loss = model(x).sum()\nloss.backward()"),
}


@pytest.mark.parametrize("pair", PAIRS.values(), ids=PAIRS.keys())
def test_silent_for_one_reason(pair: Pair, tmp_path: Path) -> None:
    check_pair("ACC407", pair, tmp_path)


def test_reported(tmp_path: Path) -> None:
    source = """
scaler = torch.amp.GradScaler("cuda")
for i in range(3):
    with torch.autocast("cuda"):
        loss = model(z).sum()
        scaler.scale(loss).backward()  # -> info none
        scaler.step(optimizer)
        scaler.update()
"""
    check_one("ACC407", HEAD + source, tmp_path)


REPORTED_PROGRAMS = {
    "optimizer step outside": """
model = nn.Linear(3, 3).cuda()
with torch.autocast("cuda"):
    loss = model(torch.zeros(3, device="cuda")).sum()
    loss.backward()  # -> info none
""",
}


@pytest.mark.parametrize("case", REPORTED_PROGRAMS)
def test_reported_programs(case: str, tmp_path: Path) -> None:
    check_one("ACC407", IMPORTS + REPORTED_PROGRAMS[case], tmp_path)
