"""Shares and ceilings in words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accel_advisor.tuning.probe.channel.wire import BASELINE, NO_TRANSFER, NO_WAIT, Block, Settings
from accel_advisor.tuning.search.diagnosis import diagnose
from accel_advisor.tuning.search.readings import Loop, Readings
from accel_advisor.tuning.wording.diagnosis_text import diagnosis_text
from accel_advisor.tuning.wording.figures import times


def block(what: str, seconds: float, wait: float = 0.0, transfer: float = 0.0, pool: float = 0.0) -> Block:
    return Block(what, 10, 320, seconds, wait, transfer, 0.8 * (seconds - wait - transfer), 0.0, 0.0, pool)


def read(loop: Loop, *rounds: dict[str, Block]) -> Readings:
    readings = Readings(loop)
    for one in rounds:
        for what, measured in one.items():
            readings.add(what, measured)
        readings.rounds.append(dict(one))
    return readings


def test_a_baseline_that_was_not_measured_has_no_diagnosis() -> None:
    with pytest.raises(ValueError, match="not measured"):
        diagnose(Readings(Loop(Settings(), None)))


def test_data_that_is_ready_is_said_to_be() -> None:
    one = {BASELINE: block(BASELINE, 1.0, 0.008), NO_WAIT: block(NO_WAIT, 0.99)}
    found = diagnose(read(Loop(Settings(), None), one, one))
    assert diagnosis_text(found) == (
        "under 1 % of each step waits for data; "
        "with data ready at once this script would run no faster that could be measured."
    )


def test_a_neighbour_that_slows_the_blocks_does_not_make_a_ceiling() -> None:
    """The share and the ceiling come from the same blocks, however those with data at once differ from them."""
    rounds = [
        {BASELINE: block(BASELINE, seconds, wait * seconds), NO_WAIT: block(NO_WAIT, ready)}
        for seconds, wait, ready in ((1.0, 0.02, 0.4), (1.6, 0.018, 1.1), (1.0, 0.022, 0.5), (2.0, 0.02, 1.2))
    ]
    found = diagnose(read(Loop(Settings(), None), *rounds))
    assert found.ceilings[NO_WAIT].ratio == pytest.approx(1 / 0.98, abs=0.002)
    assert found.ceilings[NO_WAIT].half_width < 0.01
    assert diagnosis_text(found) == (
        "2 % of each step waits for data; "
        "with data ready at once this script would run no faster that could be measured."
    )


@given(st.lists(st.tuples(st.floats(0.5, 5.0), st.floats(0.0, 0.98)), min_size=2, max_size=8))
def test_the_ceiling_is_what_the_share_of_waiting_allows(blocks: list[tuple[float, float]]) -> None:
    """However the blocks of a noisy machine differ: 91 % of waiting allows 11 times as fast, and no 21."""
    rounds = [{BASELINE: block(BASELINE, seconds, wait * seconds)} for seconds, wait in blocks]
    found = diagnose(read(Loop(Settings(), None), *rounds))
    ceiling = found.ceilings[NO_WAIT]
    assert ceiling.ratio == pytest.approx(1 / (1 - found.shares.wait))
    assert ceiling.low <= ceiling.ratio <= ceiling.high


@pytest.mark.parametrize(("ready", "crowded"), [((0.46, 0.47), False), ((0.057, 0.056), True)])
def test_workers_that_slow_the_step_are_told_apart_from_waiting(ready: tuple[float, float], crowded: bool) -> None:
    """43 % of waiting allows 1.8; that all is ten times as fast without the workers is another thing."""
    rounds = [{BASELINE: block(BASELINE, 1.0, 0.43), NO_WAIT: block(NO_WAIT, seconds)} for seconds in ready]
    found = diagnose(read(Loop(Settings(1), None), *rounds))
    assert (found.crowding is not None) == crowded
    text = diagnosis_text(found)
    assert text.startswith("43 % of each step waits for data; with data ready at once this script would run 1.8 times")
    assert ("What is left of a step takes 10 times as long beside the loader's workers as without them" in text) == (
        crowded
    )


def test_without_workers_nobody_is_in_the_way() -> None:
    one = {BASELINE: block(BASELINE, 1.0, 0.43), NO_WAIT: block(NO_WAIT, 0.05)}
    assert diagnose(read(Loop(Settings(), None), one, one)).crowding is None


def test_waiting_comes_first_with_its_ceiling() -> None:
    one = {BASELINE: block(BASELINE, 2.7, 1.7), NO_WAIT: block(NO_WAIT, 1.0)}
    found = diagnose(read(Loop(Settings(), None), one, one))
    assert diagnosis_text(found) == (
        "63 % of each step waits for data; with data ready at once this script would run 2.7 times as fast."
    )
    assert found.shares.wait == pytest.approx(1.7 / 2.7)
    assert found.epoch_share == 0.0


def test_the_start_of_short_epochs_is_reported() -> None:
    one = {BASELINE: block(BASELINE, 1.0, pool=0.6), NO_WAIT: block(NO_WAIT, 0.98)}
    found = diagnose(read(Loop(Settings(4), 10), one, one))
    assert "Each epoch begins with 0.6 s of waiting for its workers, 38 % of its time." in diagnosis_text(found)
    assert found.ceilings[NO_WAIT].ratio == pytest.approx(1.6)


def test_transfers_are_reported_where_they_matter() -> None:
    one = {
        BASELINE: block(BASELINE, 1.0, 0.01, 0.4),
        NO_WAIT: block(NO_WAIT, 0.98, 0.0, 0.4),
        NO_TRANSFER: block(NO_TRANSFER, 0.6),
    }
    found = diagnose(read(Loop(Settings(), None, accelerator=True), one, one))
    assert diagnosis_text(found).endswith("With the data already on the device it would run 1.7 times as fast.")


@pytest.mark.parametrize(("ratio", "text"), [(1.04, "1.04 times"), (2.71, "2.7 times"), (12.4, "12 times")])
def test_ratios_are_rounded_for_people(ratio: float, text: str) -> None:
    assert times(ratio) == text
