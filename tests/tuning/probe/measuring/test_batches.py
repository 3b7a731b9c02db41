"""Batches of a ceiling: what is handed out is theirs alone, and what was kept stays as it was."""

from __future__ import annotations

from typing import Any

import pytest

from accel_advisor.tuning.probe.measuring.batches import Cached

torch = pytest.importorskip("torch")


class Graph:
    """As torch_geometric's Data: it moves itself, and returns itself."""

    def __init__(self) -> None:
        self.x = torch.arange(3.0)

    def to(self, device: str) -> Graph:
        self.x = self.x.to(device)
        return self


def test_what_moves_itself_stays_on_the_host_for_the_other_ceiling() -> None:
    kept = Graph()
    there: Any = Cached([kept], "meta").hand_out()
    assert there[0].x.device.type == "meta"
    assert kept.x.device.type == "cpu"
    here: Any = Cached([kept], None).hand_out()
    assert here[0].x.tolist() == [0, 1, 2]
    here[0].x += 1
    assert kept.x.tolist() == [0, 1, 2]


def test_what_the_loop_wrote_over_is_brought_back() -> None:
    cached = Cached({"x": torch.zeros(2), "name": "a"}, None)
    assert not cached.spoiled
    batch: Any = cached.hand_out()
    batch["x"].add_(1)
    del batch["name"]
    assert cached.spoiled
    cached.restore()
    assert not cached.spoiled
    again: Any = cached.hand_out()
    assert (again["x"].tolist(), again["name"]) == ([0, 0], "a")
