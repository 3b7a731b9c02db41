"""ACC506 ddp-gradient-as-bucket-view, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..checks import Pair, check_one, check_pair, severities
from ..programs import RANKS
from .programs import RANKS_OF_TWO_LAYERS


@pytest.mark.parametrize(
    "source", ["DDP(Net(), gradient_as_bucket_view=True)", "p = torch.zeros(1)\np.detach_()\nDDP(Net())"]
)
def test_silent(source: str, tmp_path: Path) -> None:
    check_one("ACC506", RANKS + source, tmp_path)


def pair(source: str, condition: str, instead: str = "", others: dict[str, str] | None = None) -> Pair:
    return Pair(RANKS_OF_TWO_LAYERS + source, condition, instead, others or {})


PAIRS = {
    "detached in place": pair(
        "DDP(Net())\nfor p in conf.parameters():\n    p.grad.detach_()\n", "p.grad.detach_()", "print(p)"
    ),
    "given": pair("DDP(Net(), gradient_as_bucket_view=False)\n", ", gradient_as_bucket_view=False"),
    "arguments unseen": pair("DDP(Net(), **conf.kw)\n", ", **conf.kw"),
}


@pytest.mark.parametrize("case", PAIRS)
def test_silent_for_one_reason(case: str, tmp_path: Path) -> None:
    check_pair("ACC506", PAIRS[case], tmp_path)


def test_reported(tmp_path: Path) -> None:
    assert severities("ACC506", RANKS + "DDP(Net())", tmp_path) == ["info"]
