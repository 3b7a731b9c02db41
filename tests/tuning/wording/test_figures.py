"""Figures in words."""

import math

from accel_advisor.tuning.search.statistics import Interval
from accel_advisor.tuning.wording.figures import interval_text, visible

from ..outcomes import GAIN


def test_intervals_that_say_nothing_are_left_out() -> None:
    assert interval_text(Interval(2.0, 0.0, math.inf, 1)) == "about 2x"
    assert interval_text(Interval(1.2, 0.1, 14.0, 2)) == "about 1.2x"
    assert interval_text(GAIN) == "2.65x (2.58-2.72)"


def test_what_is_unseen_is_spelled_out() -> None:
    assert visible("a\tb\nc é 日本 😀") == "a\tb\nc é 日本 😀"
    assert visible("\x1b[31m\u202e\ud800") == "\\x1b[31m\\u202e\\ud800"
