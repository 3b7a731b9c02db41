"""A course in one line of text."""

from __future__ import annotations

from accel_advisor.tuning.showing.sparkline import sparkline


def test_a_sparkline_shows_what_was_lost() -> None:
    assert sparkline([100, 100, 75, 50, 10]) == "██▄▁▁" or sparkline([100, 100, 75, 50, 10]) == "██▅▁▁"
    assert sparkline([]) == ""
