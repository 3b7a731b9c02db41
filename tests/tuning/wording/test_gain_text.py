"""What is noted of how a gain was measured."""

from __future__ import annotations

import pytest

from accel_advisor.tuning.search.headroom import Excess
from accel_advisor.tuning.search.statistics import Interval
from accel_advisor.tuning.wording.gain_text import gain_notes


@pytest.mark.parametrize(
    ("excess", "words"),
    [
        (
            Excess(Interval(2.9, 2.1, 3.9, 6), apart=True),
            "both are right: the ceiling takes what is left of a step for the same, and that takes 2.90x (2.10-3.90) "
            "as long under the settings in the source",
        ),
        (Excess(None, apart=True), "also after it was measured again: the two disagree"),
        (Excess(None, apart=False), "reads larger than data ready at once allows, by no more than their intervals"),
    ],
)
def test_a_gain_beyond_the_ceiling_never_stands_there_by_itself(excess: Excess, words: str) -> None:
    (note,) = gain_notes(excess, 0.0, 60.0)
    assert words in note


def test_time_beyond_the_budget_is_named() -> None:
    (note,) = gain_notes(None, 4.26, 60.0)
    assert note.endswith("the comparison took 4.3 s more than the budget of 60 s")


def test_an_ordinary_gain_is_not_commented() -> None:
    assert gain_notes(None, 0.0, 60.0) == []
