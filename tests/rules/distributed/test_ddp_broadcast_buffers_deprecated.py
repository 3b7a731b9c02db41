"""ACC505 ddp-broadcast-buffers-deprecated, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..checks import Pair, check_one, check_pair, severities
from ..programs import RANKS
from .programs import RANKS_OF_TWO_LAYERS


def pair(source: str, condition: str, instead: str = "", others: dict[str, str] | None = None) -> Pair:
    return Pair(RANKS_OF_TWO_LAYERS + source, condition, instead, others or {})


NEW = {"requirements.txt": "torch>=2.13\n"}
PAIRS = {
    "not known": pair("DDP(Net(), broadcast_buffers=conf.b)\n", "conf.b", "False", NEW),
    "the new name": pair("DDP(Net(), forward_sync_buffers=False)\n", "forward_sync_buffers", "broadcast_buffers", NEW),
}


@pytest.mark.parametrize("case", PAIRS)
def test_silent_for_one_reason(case: str, tmp_path: Path) -> None:
    check_pair("ACC505", PAIRS[case], tmp_path)


def test_reports_deprecated_buffers_where_torch_knows_the_new_name(tmp_path: Path) -> None:
    old = {"requirements.txt": "torch>=2.4\n"}
    check_one("ACC505", RANKS + "DDP(Net(), broadcast_buffers=False)", tmp_path, old)
    new = {"requirements.txt": "torch>=2.13\n"}
    check_one("ACC505", RANKS + "DDP(Net())", tmp_path, new)
    check_one("ACC505", RANKS + "DDP(Net(), broadcast_buffers=conf.b)", tmp_path, new)
    check_one("ACC505", RANKS + "DDP(Net(), forward_sync_buffers=False)", tmp_path, new)
    assert severities("ACC505", RANKS + "DDP(Net(), broadcast_buffers=False)", tmp_path, new) == ["info"]
    assert severities("ACC505", RANKS + "DDP(Net(), broadcast_buffers=True)", tmp_path, new) == ["info"]
