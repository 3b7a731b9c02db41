"""What a record holds of sources and knobs that were run in turns; ``docs/json.md`` says what each key means."""

from __future__ import annotations

from dataclasses import dataclass

from accel_advisor.source.program_lines import named_line


@dataclass(frozen=True, slots=True)
class Ratio:
    """How many times as fast; without ends where they are open."""

    ratio: float
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class VerificationRecord:
    """Old source against new."""

    holds: bool
    gain: Ratio | None
    reason: str


@dataclass(frozen=True, slots=True)
class TurnRecord:
    """A knob of the training; what was not measured is None. ``loss`` is the change of the mean loss as a share of it,
    ``warm_up`` seconds."""

    name: str
    setting: str
    gain: Ratio | None
    loss: float | None
    warm_up: float | None
    refused: str | None
    diff: str = ""
    remedy: str | None = None
    caution: str | None = None


@dataclass(frozen=True, slots=True)
class TurnsRecord:
    """The knobs of the training that were named, and what those that pay make of the source together."""

    tried: tuple[TurnRecord, ...]
    diff: str
    changed: tuple[str, ...]
    written: bool
    verification: VerificationRecord | None = None


@dataclass(frozen=True, slots=True)
class FixPlace:
    """A finding whose fix was raced."""

    code: str
    name: str
    filename: str
    row: int
    title: str
    cell: int | None = None


@dataclass(frozen=True, slots=True)
class FixRecord:
    """Fixes that were made together; what was not measured is None. ``verdict`` is ``pays``, ``nothing``, ``slower``,
    ``undecided`` or ``refused``, ``said`` the same in words with the interval."""

    places: tuple[FixPlace, ...]
    safe: bool
    verdict: str
    said: str
    gain: Ratio | None
    loss: float | None
    warm_up: float | None
    written: bool
    diff: str = ""

    @property
    def where(self) -> str:
        """What was raced, in words: ``ACC201 train.py:40``."""
        return ", ".join(
            dict.fromkeys(f"{one.code} {one.filename}:{named_line(one.cell, one.row)}" for one in self.places)
        )


@dataclass(frozen=True, slots=True)
class FixesRecord:
    """Every fix that was raced, and what those that pay make of the source together."""

    raced: tuple[FixRecord, ...]
    diff: str
    changed: tuple[str, ...]
    written: bool
    verification: VerificationRecord | None = None
    elsewhere: int = 0
    left_out: tuple[str, ...] = ()
