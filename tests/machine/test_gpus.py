"""What the driver says of GPUs."""

from __future__ import annotations

import pytest

from accel_advisor.machine.gpus import driver, gpus, handle_of, metered, sample

from .some_cards import library


def test_a_driver_that_is_not_there_is_none() -> None:
    with driver() as library:
        if library is not None:
            assert handle_of(library, "") is None
            assert handle_of(library, "GPU-0") is None
            return
    assert gpus() == ()


@pytest.mark.parametrize(
    ("counters", "cards", "energy"),
    [
        ({"a": 1500}, ["a"], 1.5),
        ({"a": 1500, "b": 2000, "c": 9000}, ["a", "b"], 3.5),
        ({}, ["a"], None),
        ({"a": 1500}, ["a", "b"], None),
        ({"a": 1500}, [], None),
    ],
)
def test_energy_is_that_of_all_cards_or_of_none(
    counters: dict[str, int], cards: list[str], energy: float | None
) -> None:
    found = sample(library(counters), "a", 7.0, cards)
    assert (found.at, found.energy, found.power) == (7.0, energy, None)


def test_a_card_that_is_missing_or_divided_has_no_counter() -> None:
    whole = library({"a": 1, "b": 1}, {"a": [0, 1]})
    assert metered(whole, ["a", "b"]) == ("a", "b")
    assert metered(whole, ["a", None]) == ()
    assert metered(library({"a": 1, "b": 1}, {"b": [1, 1]}), ["a", "b"]) == ()
