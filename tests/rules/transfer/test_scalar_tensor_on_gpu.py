"""ACC219 scalar-tensor-on-gpu, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from accel_advisor.rule import registry

from ..checks import Pair, check, check_pair, fixed
from ..programs import REGRESSION

LOADED = REGRESSION + "import conf\n"
PAIRS: dict[str, tuple[str, ...]] = {
    "in __init__": (
        (
            "class A(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
            "        for i in range(3):\n            x = torch.tensor(1.0, device='cuda')"
        ),
        "__init__(self)",
        "forward(self)",
    ),
    "once": ("x = torch.tensor(1.0, device='cuda')", "x =", "for i in range(3): x ="),
    "on the host": ("for i in range(3):\n    x = torch.tensor(1.0, device='cpu')", "'cpu'", "'cuda'"),
    "no device": ("for i in range(3):\n    x = torch.tensor(1.0)", "1.0", "1.0, device='cuda'"),
    "list": ("for i in range(3):\n    x = torch.tensor([1.0], device='cuda')", "[1.0]", "1.0"),
    "unknown value": ("for i in range(3):\n    x = torch.tensor(conf.x, device='cuda')", "conf.x", "1.0"),
    "unknown device": ("for i in range(3):\n    x = torch.tensor(1.0, device=conf.d)", "conf.d", "'cuda'"),
    "partial": (
        ("import functools\nhalf = functools.partial(torch.tensor, 0.5, device='cuda')\nfor x in loader:\n    half()"),
        ("half = functools.partial(torch.tensor, 0.5, device='cuda')\nfor x in loader:\n    half("),
        "for x in loader:\n    torch.tensor(0.5, device='cuda'",
    ),
}


@pytest.mark.parametrize("case", PAIRS)
def test_silent_for_one_reason(case: str, tmp_path: Path) -> None:
    source, *change = PAIRS[case]
    check_pair("ACC219", Pair(LOADED + source, *change), tmp_path)


def test_reported(tmp_path: Path) -> None:
    source = """
for x, y in loader:
    x = model(x.cuda(non_blocking=True))
    half = torch.tensor(0.5, device="cuda")  # -> ACC219 info safe
"""
    check(REGRESSION + source, tmp_path)
    assert 'half = torch.full((), 0.5, device="cuda")  #' in fixed("ACC219", REGRESSION + source, tmp_path)


def test_off_unless_asked_for() -> None:
    assert not registry()["ACC219"].enabled
