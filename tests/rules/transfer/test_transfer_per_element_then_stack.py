"""ACC210 transfer-per-element-then-stack, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..checks import Pair, check, check_one, check_pair, fixed
from ..programs import REGRESSION

SILENT = {
    "unknown": "import conf\ny = torch.stack([x.to('cuda') for x in conf.xs])",
}


@pytest.mark.parametrize("source", SILENT.values(), ids=SILENT.keys())
def test_silent(source: str, tmp_path: Path) -> None:
    check_one("ACC210", REGRESSION + "import conf\n" + source + "\n", tmp_path)


LOADED = REGRESSION + "import conf\n"
PAIRS: dict[str, tuple[str, ...]] = {
    "on the GPU already": (
        "xs = [torch.zeros(8, device='cuda')]\ny = torch.stack([x.to('cuda') for x in xs])",
        ", device='cuda'",
    ),
    "a list on the GPU": (
        ("xs = [torch.zeros(8).cuda() for i in range(3)]\ny = torch.stack([x.to('cuda') for x in xs])"),
        ".cuda() ",
        " ",
    ),
    "unknown": ("xs = conf.xs\ny = torch.stack([x.to('cuda') for x in xs])", "conf.xs", "[torch.zeros(8)]"),
    "joined first": (
        "xs = [torch.zeros(8)]\ny = torch.stack(xs).to('cuda')",
        "xs).to('cuda'",
        "[x.to('cuda') for x in xs]",
    ),
    "to the host": ("xs = [torch.zeros(8)]\ny = torch.stack([x.to('cpu') for x in xs])", "'cpu'", "'cuda'"),
    "unknown device": ("xs = [torch.zeros(8)]\ny = torch.stack([x.to(conf.d) for x in xs])", "conf.d", "'cuda'"),
    "only a cast": ("xs = [torch.zeros(8)]\ny = torch.cat([x.to('cuda', torch.half) for x in xs])", ", torch.half"),
    "another function": (
        "xs = [torch.zeros(8)]\ny = conf.stack([x.to('cuda') for x in xs])",
        "conf.stack",
        "torch.stack",
    ),
}


@pytest.mark.parametrize("case", PAIRS)
def test_silent_for_one_reason(case: str, tmp_path: Path) -> None:
    source, *change = PAIRS[case]
    check_pair("ACC210", Pair(LOADED + source, *change), tmp_path)


def test_reported(tmp_path: Path) -> None:
    source = """
tensors = [torch.zeros(8) for _ in range(9)]
batch = torch.cat([t.to("cuda") for t in tensors])  # -> ACC210 warning unsafe
"""
    check(REGRESSION + source, tmp_path)
    assert 'torch.cat([t for t in tensors]).to("cuda")  #' in fixed("ACC210", REGRESSION + source, tmp_path)
