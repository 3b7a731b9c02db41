"""Ticks of an axis."""

from __future__ import annotations

from accel_advisor.tuning.page.scale import Scale


def test_ticks_are_round_and_within() -> None:
    assert [tick.text for tick in Scale(53).ticks(lambda value: f"{value:g}")] == ["0", "20", "40"]
    assert Scale(0).ticks(str)[0].at == 0
    assert Scale(0).at(5) == 0
    assert Scale(10).at(50) == 100
