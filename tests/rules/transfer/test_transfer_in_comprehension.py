"""ACC211 transfer-in-comprehension, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from accel_advisor.rule import registry

from ..checks import Pair, check, check_one, check_pair
from ..programs import REGRESSION

SILENT = {
    "unknown": "import conf\ny = [x.to('cuda') for x in conf.xs]",
}


@pytest.mark.parametrize("source", SILENT.values(), ids=SILENT.keys())
def test_silent(source: str, tmp_path: Path) -> None:
    check_one("ACC211", REGRESSION + "import conf\n" + source + "\n", tmp_path)


LOADED = REGRESSION + "import conf\n"
PAIRS: dict[str, tuple[str, ...]] = {
    "async": ("xs = [torch.zeros(8)]\ny = [x.to('cuda', non_blocking=True) for x in xs]", ", non_blocking=True"),
    "unknown": ("xs = conf.xs\ny = [x.to('cuda') for x in xs]", "conf.xs", "[torch.zeros(8)]"),
    "on the GPU already": ("xs = [torch.zeros(8).cuda()]\ny = [x.to('cuda') for x in xs]", ".cuda()]", "]"),
    "to the host": ("xs = [torch.zeros(8)]\ny = [x.to('cpu') for x in xs]", "'cpu'", "'cuda'"),
    "loop": (
        "xs = [torch.zeros(8)]\nfor x in xs:\n    x.to('cuda')",
        "for x in xs:\n    x.to('cuda')",
        "y = [x.to('cuda') for x in xs]",
    ),
    "targets": (
        (
            "for images, targets in DataLoader(conf.coco, collate_fn=conf.c):\n"
            "    t = [{k: v.to('cuda') for k, v in t.items()} for t in targets]"
        ),
        ("DataLoader(conf.coco, collate_fn=conf.c):\n    t = [{k: v.to('cuda') for k, v in t.items()} for t"),
        "loader:\n    t = [v.to('cuda') for v",
    ),
}


@pytest.mark.parametrize("case", PAIRS)
def test_silent_for_one_reason(case: str, tmp_path: Path) -> None:
    source, *change = PAIRS[case]
    check_pair("ACC211", Pair(LOADED + source, *change), tmp_path)


def test_reported(tmp_path: Path) -> None:
    source = """
tensors = [torch.zeros(8) for _ in range(9)]
batch = torch.cat([t.to("cuda") for t in tensors])  # -> ACC210 warning unsafe, ACC211 info none
moved = [t.to("cuda") for t in tensors]  # -> ACC211 info none
"""
    check(REGRESSION + source, tmp_path)


def test_off_unless_asked_for() -> None:
    assert not registry()["ACC211"].enabled
