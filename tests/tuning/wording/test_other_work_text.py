"""Other work on the machine, where it is the reason of an answer and where it is none."""

from __future__ import annotations

import pytest

from accel_advisor.tuning.search.statistics import Interval
from accel_advisor.tuning.search.stops import CutShort, Kept, NoGain, NoSettings, Stop, verdict_of
from accel_advisor.tuning.wording.kept_text import kept_text, verdict_text
from accel_advisor.tuning.wording.other_work_text import in_sentence, kept_beside, other_work_text


def said(kept: Kept, taken: float | None) -> str:
    return verdict_text(verdict_of(kept), kept_beside(kept, kept_text(kept), other_work_text(taken, 2.0)))


@pytest.mark.parametrize(
    ("kept", "words"),
    [
        (
            Stop.NOTHING_FASTER,
            "Nothing to gain: no other settings are faster than those in the source while other work on the machine "
            "takes 1.4 of the 2 cores; on a free one there may be.",
        ),
        (
            NoGain(Interval(1.0, 0.97, 1.03, 6)),
            "Nothing to gain: the best settings found run between 0.97 and 1.03 times as fast while other work on the "
            "machine takes 1.4 of the 2 cores; on a free one there may be.",
        ),
        (CutShort(), "its end (other work on the machine takes 1.4 of the 2 cores)."),
        (NoGain(Interval(1.2, 0.9, 1.6, 6)), "a quiet machine would (other work on the machine takes 1.4 of the 2"),
    ],
)
def test_the_sentence_names_other_work_as_the_reason(kept: Kept, words: str) -> None:
    assert words in said(kept, 1.4)
    assert in_sentence(kept)


@pytest.mark.parametrize("taken", [None, 0.0, 0.24])
def test_next_to_nothing_is_no_reason(taken: float | None) -> None:
    assert said(Stop.NOTHING_FASTER, taken) == said(Stop.NOTHING_FASTER, 0.0)
    assert "other work" not in said(Stop.NOTHING_FASTER, taken)


@pytest.mark.parametrize("kept", [Stop.NO_HEADROOM, NoSettings(Interval(1.5, 1.4, 1.6, 4)), NoSettings(None), None])
def test_where_cores_decide_nothing_it_is_no_part_of_the_sentence(kept: Kept | None) -> None:
    """Data that is ready nearly always needs no worker, and so no core; a note says it all the same."""
    assert not in_sentence(kept)
    if kept is not None:
        assert "other work" not in said(kept, 1.4)


def test_on_many_cores_it_takes_more_to_be_worth_a_word() -> None:
    assert other_work_text(1.4, 64.0) == ""
    assert other_work_text(7.0, 64.0) == "other work on the machine takes 7.0 of the 64 cores"
