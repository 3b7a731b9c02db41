"""ACC301 gpu-detected-but-unused, silent cases first."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from accel_advisor.analysis.project import analyze
from accel_advisor.rule import registry
from accel_advisor.source.document import Document

from ..checks import Pair, check, check_one, check_pair
from ..programs import IMPORTS

TRAIN = """
from conf import batch
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(3):
    model(batch()).sum().backward()
    optimizer.step()
"""
DEVICE = 'device = torch.device("cuda" if torch.cuda.is_available() else "cpu")'
SILENT = {
    "read": f"{DEVICE}\nmodel = nn.Linear(8, 2).to(device)\n",
    "formatted for a device": f"{DEVICE}\nmodel = nn.Linear(8, 2)\nplace(model, f'{{device}}:0')\n",
    "handed on": f"{DEVICE}\nimport conf\nmodel = nn.Linear(8, 2)\nconf.set(device=device)\n",
    "something else is placed": f"{DEVICE}\nmodel = nn.Linear(8, 2).cuda()\n",
    "default device": f"{DEVICE}\ntorch.set_default_device('cuda')\nmodel = nn.Linear(8, 2)\n",
    "read by text": f"{DEVICE}\nmodel = nn.Linear(8, 2)\nprint(globals())\n",
    "a framework": f"{DEVICE}\nfrom accelerate import Accelerator\na = Accelerator()\nmodel = a.prepare(nn.Linear(8, 2))\n",
    "cpu only": "device = torch.device('cpu')\nmodel = nn.Linear(8, 2)\n",
}


@pytest.mark.parametrize("source", SILENT.values(), ids=SILENT.keys())
def test_silent(source: str, tmp_path: Path) -> None:
    check(IMPORTS + source + TRAIN, tmp_path)


def test_silent_where_nothing_trains(tmp_path: Path) -> None:
    check(IMPORTS + DEVICE + "\nmodel = nn.Linear(8, 2)\n", tmp_path)


SILENT_PROGRAMS = {
    "exported via __all__": """
__all__ = ["device", "train"]
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
from conf import batch
def train():
    model = nn.Linear(8, 2)
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    for i in range(3):
        model(batch()).sum().backward()
        opt.step()
""",
}


@pytest.mark.parametrize("case", SILENT_PROGRAMS)
def test_silent_programs(case: str, tmp_path: Path) -> None:
    check_one("ACC301", IMPORTS + SILENT_PROGRAMS[case], tmp_path)


PAIR_DEVICE = 'device = torch.device("cuda" if torch.cuda.is_available() else "cpu")\n'
CHOSEN = IMPORTS + PAIR_DEVICE + "model = nn.Linear(8, 2)\n"


def unused(condition: str, instead: str = "", others: dict[str, str] | None = None) -> Pair:
    """A program that trains and has chosen a device."""
    return Pair(CHOSEN + condition + TRAIN, condition, instead, others or {})


PAIRS = {
    "read": unused("print(device.type)\nmodel.to(device)\n"),
    "given to a call": unused("import conf\nconf.place(device)\n"),
    "kept on an object": Pair(
        IMPORTS
        + PAIR_DEVICE
        + "class Run:\n    def __init__(self):\n        self.device = device\nrun = Run()\nmodel = nn.Linear(8, 2)\n"
        + TRAIN,
        "self.device = device",
        "self.other = None",
    ),
    "returned": Pair(
        f"{IMPORTS}def choose():\n    {PAIR_DEVICE}    return device\nchoose()\nmodel = nn.Linear(8, 2)\n{TRAIN}",
        "    return device\n",
        "    return None\n",
    ),
    "exported": unused("__all__ = ['device', 'model']\n", "__all__ = ['model']\n"),
    "imported by another file": Pair(
        CHOSEN + TRAIN, "device =", "unread =", {"other.py": "from train import device\nprint(device.type)\n"}
    ),
    "read as an attribute by another file": Pair(
        CHOSEN + TRAIN, "device =", "unread =", {"other.py": "import train\nprint(train.device.type)\n"}
    ),
    "the default device": unused("torch.set_default_device('cuda')\n"),
    "something else is placed": unused("model.cuda()\n"),
    "placed by its device map": unused(
        "from transformers import AutoModel\nother = AutoModel.from_pretrained('x', device_map='auto')\n",
        "from transformers import AutoModel\nother = AutoModel.from_pretrained('x')\n",
    ),
    "made there": unused("x = torch.zeros(8, device='cuda')\n"),
    "built there": unused("with torch.device('cuda'):\n    other = nn.Linear(8, 2)\n"),
    "read by its text": unused("print(globals())\n"),
}


@pytest.mark.parametrize("case", PAIRS)
def test_silent_for_one_reason(case: str, tmp_path: Path) -> None:
    check_pair("ACC301", PAIRS[case], tmp_path)


def test_a_device_that_a_magic_of_a_notebook_reads(tmp_path: Path) -> None:
    for last, severities in (("%time model.to(device)", []), ("%time model.eval()", ["warning"])):
        path = tmp_path / "train.ipynb"
        sources = [CHOSEN, TRAIN, last]
        cells = [{"cell_type": "code", "metadata": {}, "outputs": [], "source": one} for one in sources]
        path.write_text(json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))
        facts = analyze([Document.read(path)], tmp_path).facts[str(path)]
        assert [str(one.severity) for one in registry()["ACC301"].check(facts)] == severities


@pytest.mark.parametrize("device", [DEVICE, "device = 'cuda' if torch.cuda.is_available() else 'cpu'"])
def test_reported(device: str, tmp_path: Path) -> None:
    check(IMPORTS + device + "  # -> ACC301 warning none\nmodel = nn.Linear(8, 2)\n" + TRAIN, tmp_path)


REPORTED_PROGRAMS = {
    "in f-string only": """
device = "cuda" if torch.cuda.is_available() else "cpu"  # -> info none
print(f"Using {device} device")
from conf import batch
model = nn.Linear(8, 2)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for i in range(3):
    model(batch()).sum().backward()
    opt.step()
""",
    "printed only": """
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")  # -> info none
print("device:", device)
from conf import batch
model = nn.Linear(8, 2)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for i in range(3):
    model(batch()).sum().backward()
    opt.step()
""",
}


@pytest.mark.parametrize("case", REPORTED_PROGRAMS)
def test_reported_programs(case: str, tmp_path: Path) -> None:
    check_one("ACC301", IMPORTS + REPORTED_PROGRAMS[case], tmp_path)
