"""ACC607 accelerate-raw-backward, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..checks import Pair, check_one, check_pair, fixed
from ..programs import IMPORTS
from .programs import ACCELERATE

SILENT = (
    "a = Accelerator()\nmodel, loader = a.prepare(model, loader)\nfor (x,) in loader:\n    a.backward(model(x).sum())",
    "a = Accelerator()\nfor (x,) in loader:\n    model(x).sum().backward()",
    "for (x,) in loader:\n    model(x).sum().backward()\na = Accelerator()\nmodel, fed = a.prepare(model, loader)",
    "a = Accelerator()\nfor (x,) in a.prepare(loader):\n    a.backward(model(x).sum())\n    other(x).backward()",
)


@pytest.mark.parametrize("source", SILENT)
def test_silent(source: str, tmp_path: Path) -> None:
    check_one("ACC607", ACCELERATE + source + "\n", tmp_path)


SILENT_PROGRAMS = {
    "second model not prepared": """
from accelerate import Accelerator
acc = Accelerator()
model = nn.Linear(2, 2)
other = nn.Linear(2, 2)
loader = DataLoader(TensorDataset(torch.zeros(8, 2)))
model, loader = acc.prepare(model, loader)
for (x,) in loader:
    other(x).sum().backward()
""",
    "right": """
from accelerate import Accelerator
acc = Accelerator()
model, loader = acc.prepare(nn.Linear(2, 2), DataLoader(TensorDataset(torch.zeros(8, 2))))
for (x,) in loader:
    acc.backward(model(x).sum())
""",
}


@pytest.mark.parametrize("case", SILENT_PROGRAMS)
def test_silent_programs(case: str, tmp_path: Path) -> None:
    check_one("ACC607", IMPORTS + SILENT_PROGRAMS[case], tmp_path)


PAIR_ACCELERATE = IMPORTS + "import conf\nfrom accelerate import Accelerator, DataLoaderConfiguration\n"
LOADER = "model = nn.Linear(8, 2)\nloader = DataLoader(TensorDataset(torch.zeros(64, 8)), pin_memory=True)\n"


def accelerate(body: str, condition: str, instead: str = "") -> Pair:
    return Pair(PAIR_ACCELERATE + LOADER + body, condition, instead)


PREPARE = "model, loader = a.prepare(model, loader)\n"
RAW = "for (x,) in loader:\n    model(x).sum().backward()\n"
PAIRS = {
    "its own": accelerate(
        "a = Accelerator()\n" + PREPARE + "for (x,) in loader:\n    a.backward(model(x).sum())\n",
        "a.backward(model(x).sum())",
        "model(x).sum().backward()",
    ),
    "no loader is prepared": accelerate("a = Accelerator()\nprint(a)\n" + RAW, "print(a)\n", PREPARE),
    "a second model": accelerate(
        "a = Accelerator()\nother = nn.Linear(8, 2)\nmodel, loader = a.prepare(model, loader)\nfor (x,) in loader:\n    other(x).sum().backward()\n",
        "other(x)",
        "model(x)",
    ),
    "in the same loop": accelerate(
        "a = Accelerator()\n" + PREPARE + RAW + "    a.backward(conf.loss(x))\n", "    a.backward(conf.loss(x))\n"
    ),
}


@pytest.mark.parametrize("case", PAIRS)
def test_silent_for_one_reason(case: str, tmp_path: Path) -> None:
    check_pair("ACC607", PAIRS[case], tmp_path)


def test_reported(tmp_path: Path) -> None:
    source = """
acc = Accelerator()
model, loader = acc.prepare(model, loader)
for (x,) in loader:
    loss = model(x).sum() / 4
    loss.backward()  # -> error unsafe
"""
    check_one("ACC607", ACCELERATE + source, tmp_path)
    assert "    acc.backward(loss)  #" in fixed("ACC607", ACCELERATE + source, tmp_path)


REPORTED_PROGRAMS = {
    "raw": """
from accelerate import Accelerator
acc = Accelerator()
model, loader = acc.prepare(nn.Linear(2, 2), DataLoader(TensorDataset(torch.zeros(8, 2))))
for (x,) in loader:
    loss = model(x).sum()
    loss.backward()  # -> error unsafe
""",
    "one of two models": """
import conf
from accelerate import Accelerator
acc = Accelerator()
model = nn.Linear(2, 2) if conf.wide else nn.Linear(2, 2, bias=False)
model, loader = acc.prepare(model, DataLoader(TensorDataset(torch.zeros(8, 2))))
for (x,) in loader:
    loss = model(x).sum()
    loss.backward()  # -> error unsafe
""",
    "a model that its use shows": """
import conf
from accelerate import Accelerator
acc = Accelerator()
model, loader = acc.prepare(conf.build(), DataLoader(TensorDataset(torch.zeros(8, 2))))
model.train()
for (x,) in loader:
    loss = model(x).sum()
    loss.backward()  # -> error unsafe
""",
}


@pytest.mark.parametrize("case", REPORTED_PROGRAMS)
def test_reported_programs(case: str, tmp_path: Path) -> None:
    check_one("ACC607", IMPORTS + REPORTED_PROGRAMS[case], tmp_path)
