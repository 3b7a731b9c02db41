"""What a race of a fix came to, in words."""

from __future__ import annotations

import pytest

from accel_advisor.tuning.knobs.raced_fixes import RacedFix, RacedFixes, RaceVerdict, verdict_of_race
from accel_advisor.tuning.search.statistics import Interval
from accel_advisor.tuning.search.verification import Verification


@pytest.mark.parametrize(
    ("low", "high", "verdict", "said"),
    [
        (1.25, 1.35, RaceVerdict.PAYS, "pays here (1.25 to 1.35)"),
        (0.97, 1.02, RaceVerdict.NOTHING, "no gain measured here (0.97 to 1.02)"),
        (1.005, 1.03, RaceVerdict.NOTHING, "no gain worth having here (1.00 to 1.03)"),
        (0.9, 0.96, RaceVerdict.SLOWER, "slower here (0.90 to 0.96)"),
        (0.9, 1.3, RaceVerdict.UNDECIDED, "undecided here (0.90 to 1.30): a quiet machine or a longer --budget"),
        (1.01, 1.3, RaceVerdict.UNDECIDED, "undecided here (1.01 to 1.30): a quiet machine or a longer --budget"),
    ],
)
def test_three_outcomes_are_told_apart(low: float, high: float, verdict: RaceVerdict, said: str) -> None:
    gain = Interval((low * high) ** 0.5, low, high, 4)
    assert verdict_of_race(gain) is verdict
    assert RacedFix((), True, verdict, gain).said.startswith(said)


def test_a_refusal_says_why() -> None:
    refused = RacedFix((), False, RaceVerdict.REFUSED, refused="it changes the loss: its mean moves by +4.0 %")
    assert refused.said == "not recommended: it changes the loss: its mean moves by +4.0 %"


def test_what_pays_remains_until_it_is_written_or_refuted() -> None:
    pays, slower = RacedFix((), False, RaceVerdict.PAYS), RacedFix((), True, RaceVerdict.SLOWER)
    assert RacedFixes((slower, pays)).remaining == (pays,)
    assert RacedFixes((RacedFix((), False, RaceVerdict.PAYS, written=True),)).remaining == ()
    assert RacedFixes((pays,), verification=Verification(False, None, "no")).remaining == ()
    assert RacedFixes((pays,), verification=Verification(True, None)).remaining == (pays,)
