"""ACC218 torch-tensor-of-tensor, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..checks import Pair, check, check_one, check_pair
from ..programs import REGRESSION, REGRESSION_STEP

SILENT = {
    "a list": "x = torch.tensor([1.0])",
    "unknown": "import conf\nx = torch.tensor(conf.x)",
    "a number": REGRESSION_STEP + "    x = torch.tensor(loss.item())",
}


@pytest.mark.parametrize("source", SILENT.values(), ids=SILENT.keys())
def test_silent(source: str, tmp_path: Path) -> None:
    check_one("ACC218", REGRESSION + "import conf\n" + source + "\n", tmp_path)


LOADED = REGRESSION + "import conf\n"
PAIRS: dict[str, tuple[str, ...]] = {
    "list": ("t = torch.zeros(1)\nx = torch.tensor([1.0])", "[1.0]", "t"),
    "list of tensors": ("t = torch.zeros(1)\nx = torch.tensor([t, t])", "[t, t]", "t"),
    "array": ("import numpy as np\nx = torch.tensor(np.zeros(3))", "np.zeros(3)", "torch.zeros(3)"),
    "tensor numpy": ("t = torch.zeros(1)\nx = torch.tensor(t.numpy())", ".numpy()"),
    "unknown": ("x = torch.tensor(conf.x)", "conf.x", "torch.zeros(3)"),
    "number": ("t = torch.zeros(1)\nx = torch.tensor(t.item())", ".item()"),
    "only its size": ("t = torch.zeros(1)\nx = torch.tensor(t.shape)", ".shape"),
    "made by as_tensor": ("t = torch.zeros(1)\nx = torch.as_tensor(t)", "as_tensor", "tensor"),
    "custom batch": (
        "for b, c in DataLoader(data, collate_fn=conf.c):\n    x = torch.tensor(b)",
        ", collate_fn=conf.c",
    ),
    "tensor tolist": ("t = torch.zeros(1)\nx = torch.tensor(t.tolist())", ".tolist()"),
}


@pytest.mark.parametrize("case", PAIRS)
def test_silent_for_one_reason(case: str, tmp_path: Path) -> None:
    source, *change = PAIRS[case]
    check_pair("ACC218", Pair(LOADED + source, *change), tmp_path)


def test_reported(tmp_path: Path) -> None:
    source = """
w = torch.zeros(8)
copied = torch.tensor(w)  # -> ACC218 info safe
"""
    check(REGRESSION + source, tmp_path)
