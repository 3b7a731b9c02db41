"""Whether a change moved the training, from the losses alone."""

import math
from random import Random

import pytest

from accel_advisor.tuning.knobs.losses import LEAST, TOLERANCE, compare

OLD = [1 / (1 + step / 20) for step in range(64)]


def noisy(seed: int, by: float) -> list[float]:
    random = Random(seed)
    return [loss * random.gauss(1, by) for loss in OLD]


def test_too_few_losses_say_nothing() -> None:
    moved = compare(OLD[: LEAST - 1], OLD, OLD)
    assert moved.share is None
    assert "only 15 losses" in moved.reason


def test_the_same_losses_have_not_moved() -> None:
    moved = compare(OLD, OLD, OLD)
    assert (moved.share, moved.reason) == (0.0, "")


@pytest.mark.parametrize("seed", range(20))
def test_other_draws_of_a_dropout_are_no_change(seed: int) -> None:
    assert not compare(noisy(seed, 0.1), noisy(seed + 100, 0.1), noisy(seed + 200, 0.1)).reason


@pytest.mark.parametrize("factor", [1 - 2 * TOLERANCE, 1 + 2 * TOLERANCE])
def test_a_loss_that_lies_elsewhere_has_moved(factor: float) -> None:
    moved = compare(OLD, OLD, [factor * loss for loss in OLD])
    assert moved.share == pytest.approx(factor - 1)
    assert "changes the loss" in moved.reason


def test_a_run_that_diverges_late_has_moved() -> None:
    assert "changes the loss" in compare(OLD, OLD, [*OLD[:48], *(2 * loss for loss in OLD[48:])]).reason


def test_what_the_script_itself_does_not_repeat_is_not_held_against_a_change() -> None:
    assert not compare(OLD, [1.1 * loss for loss in OLD], [0.95 * loss for loss in OLD]).reason


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_a_loss_that_is_no_number_is_named(bad: float) -> None:
    assert compare(OLD, OLD, [*OLD[:32], bad, *OLD[33:]]).reason == "the loss is no longer a finite number"
    assert "the script's own loss" in compare([*OLD[:32], bad, *OLD[33:]], OLD, OLD).reason


def test_a_loss_of_nothing_cannot_move_by_a_share() -> None:
    zeros = [0.0] * 32
    assert compare(zeros, zeros, zeros).share == 0.0
    assert compare(zeros, zeros, [1.0] * 32).reason
