"""Energy in words."""

from __future__ import annotations

import pytest

from accel_advisor.tuning.record.device_schema import EnergyRecord
from accel_advisor.tuning.record.turns_schema import Ratio
from accel_advisor.tuning.showing.energy_text import energy_text

CARD = "as the driver counts it for the whole card"


def test_one_number_where_nothing_is_recommended() -> None:
    assert energy_text(EnergyRecord(0.42)) == f"0.42 J per sample now, {CARD}"


@pytest.mark.parametrize(
    ("ratio", "said"),
    [
        (None, ""),
        (Ratio(0.738, 0.72, 0.757), " (26 % less, between 24 and 28)"),
        (Ratio(1.1, 1.05, 1.152), " (10 % more, between 5 and 15)"),
        (Ratio(0.97, 0.9, 1.04), " (no difference beyond doubt)"),
        (Ratio(0.738, None, None), " (no difference beyond doubt)"),
    ],
)
def test_a_difference_is_stated_where_it_is_beyond_doubt(ratio: Ratio | None, said: str) -> None:
    found = energy_text(EnergyRecord(0.42, 0.31, ratio, 8))
    assert found == f"0.42 J per sample now, 0.31 J with the recommended settings{said}, {CARD}"


def test_small_amounts_and_several_cards() -> None:
    found = energy_text(EnergyRecord(0.0123, 0.00098, cards=4))
    said = "12.3 mJ per sample now, 0.98 mJ with the recommended settings, as the driver counts it for 4 whole cards"
    assert found == said
