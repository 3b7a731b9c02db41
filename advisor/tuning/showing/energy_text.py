"""What a sample takes of energy, in words."""

from __future__ import annotations

from accel_advisor.tuning.record.device_schema import EnergyRecord
from accel_advisor.tuning.record.turns_schema import Ratio
from accel_advisor.tuning.wording.figures import joules_text, percent


def energy_text(found: EnergyRecord) -> str:
    """Before and after, whether they differ, and whose counter says so."""
    card = "the whole card" if found.cards == 1 else f"{found.cards} whole cards"
    counted = f"as the driver counts it for {card}"
    now = f"{joules_text(found.now)} per sample now"
    if found.recommended is None:
        return f"{now}, {counted}"
    differs = f" ({_difference(found.ratio)})" if found.ratio is not None else ""
    return f"{now}, {joules_text(found.recommended)} with the recommended settings{differs}, {counted}"


def _difference(found: Ratio) -> str:
    """``26 % less, between 24 and 28``."""
    if found.low is None or found.high is None or found.low <= 1 <= found.high:
        return "no difference beyond doubt"
    least, most = sorted(100 * abs(1 - end) for end in (found.low, found.high))
    word = "less" if found.ratio < 1 else "more"
    return f"{percent(abs(1 - found.ratio))} {word}, between {least:.0f} and {most:.0f}"
