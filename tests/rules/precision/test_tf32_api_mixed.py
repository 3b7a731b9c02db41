"""ACC409 tf32-api-mixed, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from accel_advisor.analysis.project import analyze
from accel_advisor.project.target import Target, Versions
from accel_advisor.rule import registry
from accel_advisor.source.document import Document

from ..checks import Pair, check_one, check_pair
from ..programs import IMPORTS

NEW = "torch.backends.cuda.matmul.fp32_precision = 'tf32'\n"
SILENT = {
    "only the new": NEW + "print(torch.backends.cuda.matmul.fp32_precision)",
    "only the old function": "torch.set_float32_matmul_precision('high')\nprint(torch.get_float32_matmul_precision())",
    "read before": "print(torch.backends.cuda.matmul.allow_tf32)\n" + NEW,
    "on a condition": (
        "if hasattr(torch.backends.cuda.matmul, 'fp32_precision'):\n    " + NEW + "else:\n"
        "    print(torch.backends.cuda.matmul.allow_tf32)"
    ),
    "elsewhere": (
        "def a():\n    torch.backends.fp32_precision = 'tf32'\ndef b():\n    print(torch.backends.cudnn.allow_tf32)"
    ),
}


@pytest.mark.parametrize("source", SILENT.values(), ids=SILENT.keys())
def test_silent(source: str, tmp_path: Path) -> None:
    check_one("ACC409", IMPORTS + source + "\n", tmp_path)


OLD = "print(torch.backends.cuda.matmul.allow_tf32)\n"
PAIRS = {
    "one family": Pair(
        IMPORTS + "torch.backends.cuda.matmul.allow_tf32 = True\n" + OLD,
        "torch.backends.cuda.matmul.allow_tf32 = True\n",
        NEW,
    ),
    "one family by its function": Pair(
        IMPORTS + "torch.set_float32_matmul_precision('high')\n" + OLD,
        "torch.set_float32_matmul_precision('high')\n",
        NEW,
    ),
    "written back": Pair(
        IMPORTS + NEW + "torch.backends.cuda.matmul.allow_tf32 = True\n" + OLD,
        "torch.backends.cuda.matmul.allow_tf32 = True\n",
    ),
    "written back by the function": Pair(
        IMPORTS + NEW + "torch.set_float32_matmul_precision('high')\nprint(torch.get_float32_matmul_precision())\n",
        "torch.set_float32_matmul_precision('high')\n",
    ),
    "written on a condition": Pair(IMPORTS + "import conf\nif conf.new:\n    " + NEW + OLD, "if conf.new:\n    "),
}


@pytest.mark.parametrize("pair", PAIRS.values(), ids=PAIRS.keys())
def test_silent_for_one_reason(pair: Pair, tmp_path: Path) -> None:
    check_pair("ACC409", pair, tmp_path)


def test_reported(tmp_path: Path) -> None:
    source = """
torch.backends.cudnn.conv.fp32_precision = "tf32"
def show():
    print(torch.get_float32_matmul_precision())  # -> error none
print(torch.backends.cudnn.allow_tf32)  # -> error none
show()
"""
    check_one("ACC409", IMPORTS + source, tmp_path)


def test_reported_for_an_older_torch(tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    path.write_text("import torch\n" + NEW)
    facts = analyze([Document.read(path)], tmp_path).facts[str(path)]
    rule = registry()["ACC409"]
    assert not list(rule.check(facts))
    facts.target = Target(torch=Versions((2, 4)))
    assert [one.span.start.row for one in rule.check(facts)] == [2]


def test_the_precision_that_is_recommended_exists() -> None:
    torch = pytest.importorskip("torch")
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("high")
    torch.set_float32_matmul_precision(before)
