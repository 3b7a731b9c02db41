"""What a run did one after the other: starts of the script and the blocks that it was served, as plain data."""

from __future__ import annotations

from dataclasses import dataclass

from .probe.wire import Block, Settings

START = "start"
"""The script starts, up to its first warm training step."""


@dataclass(frozen=True, slots=True)
class Served:
    """One stretch of a run.

    Attributes:
        what: a candidate, one of BASELINE, NO_WAIT, NO_TRANSFER, or :data:`START`.
        purpose: why it was measured, in words.
        began: seconds since the run began.
        seconds: of wall time, with the start of a pool and the warm-up where there were any.
        block: None where nothing was measured.
        reason: why nothing was measured, in words.
    """

    what: Settings | str
    purpose: str
    began: float
    seconds: float
    block: Block | None = None
    reason: str = ""


_PHASES = {
    "ceilings": "ceilings",
    "finalists": "finalists",
    "old against new": "old against new",
    "the old source": "verification",
    "the new source": "verification",
}


def phase(what: str, purpose: str) -> str:
    """The part of the run that a stretch belongs to, in words."""
    return "start-up" if what == START else _PHASES.get(purpose, "search")
