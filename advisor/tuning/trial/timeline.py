"""What a run did one after the other: starts of the script and the blocks that it was served, as plain data."""

from __future__ import annotations

from dataclasses import dataclass

from accel_advisor.tuning.probe.channel.wire import Block, Settings
from accel_advisor.tuning.search.purposes import Purpose

START = "start"
"""The script starts, up to its first warm training step."""


@dataclass(frozen=True, slots=True)
class Served:
    """One stretch of a run.

    Attributes:
        what: a candidate, one of BASELINE, NO_WAIT, NO_TRANSFER, or :data:`START`.
        purpose: why it was measured. Blocks of the old and of the new source are under the script's own settings.
        began: seconds since the run began.
        seconds: of wall time, with the start of a pool and the warm-up where there were any.
        block: None where nothing was measured.
        reason: why nothing was measured, in words.
        cores: that the script and its workers kept busy meanwhile, on average; None where that is not known.
        others: of the cores that the script may run on, those that other work kept busy; None as above.
    """

    what: Settings | str
    purpose: Purpose
    began: float
    seconds: float
    block: Block | None = None
    reason: str = ""
    cores: float | None = None
    others: float | None = None
