"""ACC507 ddp-static-graph, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..checks import Pair, check_one, check_pair, severities
from ..programs import RANKS
from .programs import RANKS_OF_TWO_LAYERS

CHECKPOINT = "from torch.utils.checkpoint import checkpoint\ncheckpoint(Net(), 1, use_reentrant=False)\n"


@pytest.mark.parametrize("source", ["DDP(Net())", CHECKPOINT + "DDP(Net(), static_graph=True)"])
def test_silent(source: str, tmp_path: Path) -> None:
    check_one("ACC507", RANKS + source, tmp_path)


PAIR_CHECKPOINT = "from torch.utils.checkpoint import checkpoint\n"
CHECKED = RANKS_OF_TWO_LAYERS.replace("self.b(self.a(x))", "self.b(checkpoint(self.a, x, use_reentrant=False))")
PAIRS = {
    "given": Pair(PAIR_CHECKPOINT + CHECKED + "DDP(Net(), static_graph=False)\n", ", static_graph=False"),
    "a graph that changes": Pair(
        PAIR_CHECKPOINT
        + CHECKED.replace("return self.b(", "x = x if x.sum() > 0 else self.a(x)\n        return self.b(")
        + "DDP(Net())\n",
        "x = x if x.sum() > 0 else self.a(x)",
        "x = self.a(x)",
    ),
    "unused parameters": Pair(
        PAIR_CHECKPOINT + CHECKED + "DDP(Net(), find_unused_parameters=True)\n", ", find_unused_parameters=True"
    ),
    "no checkpoint": Pair(
        PAIR_CHECKPOINT + RANKS_OF_TWO_LAYERS + "DDP(Net())\n",
        "self.b(self.a(x))",
        "self.b(checkpoint(self.a, x, use_reentrant=False))",
    ),
}


@pytest.mark.parametrize("case", PAIRS)
def test_silent_for_one_reason(case: str, tmp_path: Path) -> None:
    check_pair("ACC507", PAIRS[case], tmp_path)


def test_reported(tmp_path: Path) -> None:
    assert severities("ACC507", RANKS + CHECKPOINT + "DDP(Net())", tmp_path) == ["info"]
