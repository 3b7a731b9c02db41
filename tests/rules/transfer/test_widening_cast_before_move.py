"""ACC213 widening-cast-before-move, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..checks import Pair, check, check_one, check_pair, fixed
from ..programs import REGRESSION

SILENT = {
    "unknown dtype": "import conf\nx = conf.x.float().cuda()",
}


@pytest.mark.parametrize("source", SILENT.values(), ids=SILENT.keys())
def test_silent(source: str, tmp_path: Path) -> None:
    check_one("ACC213", REGRESSION + "import conf\n" + source + "\n", tmp_path)


LOADED = REGRESSION + "import conf\n"
PAIRS: dict[str, tuple[str, ...]] = {
    "unknown dtype": ("x = conf.x\nx = x.float().cuda()", "conf.x", "torch.zeros(8, dtype=torch.uint8)"),
    "default": ("x = torch.zeros(8)\ny = x.float().cuda()", ")\ny", ", dtype=torch.uint8)\ny"),
    "smaller": ("x = torch.zeros(8, dtype=torch.float64)\ny = x.float().cuda()", "float64", "uint8"),
    "a half": (
        "x = torch.zeros(8, dtype=torch.float32)\ny = x.half().cuda()",
        "torch.float32)\ny = x.half",
        "torch.uint8)\ny = x.float",
    ),
    "the same width": ("x = torch.zeros(8, dtype=torch.int32)\ny = x.float().cuda()", "int32", "int16"),
    "on the GPU": ("x = torch.zeros(8, dtype=torch.uint8, device='cuda')\ny = x.float().cuda()", ", device='cuda'"),
    "to host": ("x = torch.zeros(8, dtype=torch.uint8)\ny = x.float().to('cpu')", "'cpu'", "'cuda'"),
    "no CUDA": ("x = torch.zeros(8, dtype=torch.uint8)\ny = x.float().to(conf.d)", "conf.d", "'cuda'"),
    "cast by the move": (
        "x = torch.zeros(8, dtype=torch.uint8)\ny = x.to('cuda', torch.float32)",
        "x.to('cuda', torch.float32)",
        "x.float().to('cuda')",
    ),
    "cast afterwards": (
        "x = torch.zeros(8, dtype=torch.uint8)\ny = x.cuda().float()",
        "cuda().float()",
        "float().cuda()",
    ),
    "a comparison": ("x = torch.zeros(8) > 0\ny = x.float().cuda()", ") > 0", ", dtype=torch.bool)"),
}


@pytest.mark.parametrize("case", PAIRS)
def test_silent_for_one_reason(case: str, tmp_path: Path) -> None:
    source, *change = PAIRS[case]
    check_pair("ACC213", Pair(LOADED + source, *change), tmp_path)


def test_reported(tmp_path: Path) -> None:
    source = """
small = torch.zeros(8, dtype=torch.uint8)
large = small.float().to("cuda")  # -> ACC213 info unsafe
"""
    check(REGRESSION + source, tmp_path)
    assert 'large = small.to("cuda").float()  #' in fixed("ACC213", REGRESSION + source, tmp_path)
