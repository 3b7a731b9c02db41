"""Why settings are kept, in words: settled, or with what would settle it."""

from __future__ import annotations

import pytest

from accel_advisor.tuning.probe.channel.wire import Settings
from accel_advisor.tuning.search.statistics import Interval
from accel_advisor.tuning.search.stops import (
    CutShort,
    Kept,
    NoGain,
    NoneRan,
    OpenHeadroom,
    Stop,
    TooShort,
    Unexplored,
    verdict_of,
)
from accel_advisor.tuning.wording.kept_text import kept_text, verdict_text


def said(kept: Kept) -> str:
    return verdict_text(verdict_of(kept), kept_text(kept))


@pytest.mark.parametrize(
    ("kept", "words"),
    [
        (Stop.NO_HEADROOM, "Nothing to gain: data is ready nearly always."),
        (Stop.NOTHING_FASTER, "Nothing to gain: no other settings are faster than those in the source."),
        (
            NoGain(Interval(1.0, 0.97, 1.03, 6)),
            "Nothing to gain: the best settings found run between 0.97 and 1.03 times as fast.",
        ),
        (
            NoGain(Interval(0.9, 0.85, 0.95, 6)),
            "Nothing to gain: other settings are slower: the best of them run between 0.85 and 0.95 times as fast.",
        ),
    ],
)
def test_what_is_settled(kept: Kept, words: str) -> None:
    assert said(kept) == words


@pytest.mark.parametrize(
    ("kept", "remedy"),
    [
        (NoGain(Interval(1.26, 1.01, 1.58, 6), 90), "between 1.01 and 1.58 times as fast: try --budget 90, or a quiet"),
        (NoGain(Interval(1.26, 0.8, 1.98, 6)), "differ too much for a longer --budget to settle it, a quiet machine"),
        (TooShort(20, 4.2, 60), "since one comparison takes about 4.2 s: try --budget 60."),
        (Unexplored(20, (Settings(8),), 40), "a budget of 20 s was too short to try more than num_workers=8: try"),
        (Unexplored(20, (), 40), "too short to try anything else: try --budget 40."),
        (OpenHeadroom(Interval(1.0, 0.9, 1.13, 6)), "between 0.90 and 1.13 times as fast: a quiet machine or a longer"),
        (NoneRan(Settings(2), "killed"), "no other settings could be measured; num_workers=2: killed."),
        (CutShort(), "interrupted before the last comparison: run it again to its end."),
        (CutShort("", (Settings(4), 1.6)), "; num_workers=4 had read 1.6 times as fast by then: run it again"),
        (CutShort("the script ended"), "the script ended: run it again to its end."),
    ],
)
def test_what_is_open_says_what_would_settle_it(kept: Kept, remedy: str) -> None:
    assert said(kept).startswith("Undecided: ")
    assert remedy in said(kept)


def test_where_nothing_was_looked_for_there_is_no_verdict() -> None:
    assert said(Stop.NO_KNOB) == "The settings stay as they are: no knob of the loader was to be turned."
