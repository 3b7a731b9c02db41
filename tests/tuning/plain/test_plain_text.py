"""What is said of loops without a loader, from readings that are written here."""

from __future__ import annotations

import pytest

from accel_advisor.finding import Price
from accel_advisor.tuning.plain.plain_measure import PlainReadings
from accel_advisor.tuning.plain.plain_text import DISAGREE, sentence
from accel_advisor.tuning.probe.channel.wire import BASELINE, NO_WAIT, Block
from accel_advisor.tuning.record.plain_record import PlainRecord
from accel_advisor.tuning.search.statistics import Interval
from accel_advisor.tuning.search.stops import NoSettings, Verdict, verdict_of
from accel_advisor.tuning.wording.kept_text import kept_text


def loop(share: float, *, function: str | None = "get_batch", unreplayed: str | None = None) -> PlainRecord:
    fetch = Price(share, share * 0.9, share * 1.1)
    return PlainRecord("AdamW", 0.1, function, "train.py", 116, 1, {"fetch": fetch}, fetch, unreplayed)


def block(what: str, seconds: float, wait: float = 0.0) -> Block:
    return Block(what, 10, 10, seconds, wait, 0.0, seconds - wait, 0.0, 0.0)


def test_the_function_and_the_ceiling() -> None:
    said = sentence(loop(0.31), Interval(1.4, 1.3, 1.5, 6))
    assert said == (
        "`get_batch`, train.py:116, takes 31 % (28-34) of each step; with data ready at once the loop would run "
        "1.4 times as fast."
    )


def test_nothing_is_promised_that_is_not_settled() -> None:
    assert "is not settled" in sentence(loop(0.31), Interval(1.4, 0.8, 2.5, 6))
    assert "no faster that could be measured" in sentence(loop(0.003), Interval(1.003, 1.0, 1.01, 6))


def test_what_was_not_measured_is_bounded_by_its_share() -> None:
    said = sentence(loop(0.5, unreplayed="it is a generator"), None)
    assert (
        "could not be measured: it is a generator. By its share the loop would run at most 2.2 times as fast." in said
    )


@pytest.mark.parametrize(
    ("kept", "verdict", "words"),
    [
        (NoSettings(Interval(1.4, 1.3, 1.5, 6)), Verdict.BY_HAND, "1.4 times as fast (between 1.30 and 1.50)"),
        (NoSettings(Interval(1.01, 1.0, 1.02, 6)), Verdict.NOTHING, "nothing worth having"),
        (NoSettings(Interval(1.2, 0.9, 1.5, 6)), Verdict.UNDECIDED, "a quiet machine or a longer --budget"),
        (NoSettings(None, 1.4), Verdict.UNDECIDED, "at most 1.4 times"),
        (NoSettings(None, 1.01), Verdict.NOTHING, "nothing worth having"),
        (NoSettings(None), Verdict.UNDECIDED, "was not measured"),
    ],
)
def test_three_outcomes(kept: NoSettings, verdict: Verdict, words: str) -> None:
    assert verdict_of(kept) is verdict
    assert words in kept_text(kept)


def test_of_two_ceilings_the_more_exact_one_and_none_where_they_disagree() -> None:
    own = [block(BASELINE, seconds, 0.5 * seconds) for seconds in (1.0, 1.2, 0.9, 1.1)]
    noisy = PlainReadings(
        own, [(old, block(NO_WAIT, old.seconds / 2 * f)) for old, f in zip(own, (1, 1.5, 0.7, 1), strict=True)]
    )
    assert noisy.ceiling == noisy.unwaited
    assert not noisy.disagree
    other = PlainReadings(own, [(old, block(NO_WAIT, old.seconds / 4)) for old in own])
    assert other.disagree
    assert other.ceiling is None
    assert not other.settled
    quiet = PlainReadings(own, [(old, block(NO_WAIT, old.seconds / 2)) for old in own])
    assert not quiet.disagree
    assert quiet.settled


def test_figures_that_disagree_are_not_said_as_if_they_agreed() -> None:
    said = sentence(loop(0.01, unreplayed=DISAGREE), None)
    assert "disagree" in said
    assert "times as fast" not in said


def test_beside_an_accelerator_only_what_was_replayed_is_a_gain() -> None:
    """A device that is idle while the host fetches may be kept so by something else."""
    own = [block(BASELINE, seconds, 0.5 * seconds) for seconds in (1.0, 1.2, 0.9, 1.1)]
    ready = [(old, block(NO_WAIT, old.seconds * f)) for old, f in zip(own, (0.98, 1.0, 1.02, 1.0), strict=True)]
    on_device = PlainReadings(own, ready, overlaps=True)
    assert on_device.ceiling == on_device.replayed
    assert not on_device.disagree
    assert PlainReadings(own, ready).disagree


def test_beside_an_accelerator_the_share_is_of_its_idle_time() -> None:
    said = sentence(loop(0.15), Interval(1.01, 0.99, 1.03, 8), overlaps=True)
    assert said == (
        "`get_batch`, train.py:116, leaves the device idle for 15 % (14-16) of each step; with data ready at once the "
        "loop would run no faster that could be measured."
    )
    assert "costs nothing that could be measured" in sentence(loop(0.003), Interval(1.0, 0.99, 1.01, 8), overlaps=True)
