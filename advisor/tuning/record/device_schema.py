"""What a record holds of the device that trains, as its driver reports it; ``docs/json.md`` explains the keys."""

from __future__ import annotations

from dataclasses import dataclass

from accel_advisor.tuning.record.turns_schema import Ratio


@dataclass(frozen=True, slots=True)
class DeviceUse:
    """What the device did in some blocks: mean share of the time in which a kernel ran, most memory in bytes by
    whomever, mean watts and megahertz, and ``joules`` a sample by the counters of all cards that train; None where
    the driver does not report it."""

    busy: float | None = None
    memory: int | None = None
    power: float | None = None
    clock: float | None = None
    joules: float | None = None

    @property
    def sentence(self) -> str:
        """What it did in a few words; empty where nothing is known. Energy has a line of its own."""
        parts = []
        if self.busy is not None:
            parts.append(f"{self.busy:.0%} busy".replace("%", " %"))
        if self.memory is not None:
            parts.append(f"{self.memory / (1 << 30):.1f} GiB in use")
        if self.power is not None:
            parts.append(f"{self.power:.0f} W")
        if self.clock is not None:
            parts.append(f"{self.clock:,.0f} MHz")
        return ", ".join(parts)


@dataclass(frozen=True, slots=True)
class EnergyRecord:
    """Joules that a sample takes of the ``cards`` that train: ``now`` with the settings in the source, and under those
    that are ``recommended``. ``ratio`` is the second by the first, from ``pairs`` of neighbouring blocks; None where
    these are fewer than two."""

    now: float
    recommended: float | None = None
    ratio: Ratio | None = None
    pairs: int | None = None
    cards: int = 1
