"""What a run did one after the other: starts of the script and the blocks that it was served, as plain data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from accel_advisor.tune.probe.channel.wire import Block, Settings
from accel_advisor.tune.record.schema import BlockRecord

START = "start"
"""The script starts, up to its first warm training step."""
OLD_SOURCE, NEW_SOURCE = "the old source", "the new source"
"""Purposes of blocks under the script's own settings while the one source is run against the other."""


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
        cores: that the script and its workers kept busy meanwhile, on average; None where that is not known.
    """

    what: Settings | str
    purpose: str
    began: float
    seconds: float
    block: Block | None = None
    reason: str = ""
    cores: float | None = None


_PHASES = {
    "ceilings": "ceilings",
    "finalists": "finalists",
    "old against new": "old against new",
    OLD_SOURCE: "verification",
    NEW_SOURCE: "verification",
}


@dataclass(frozen=True, slots=True)
class Phase:
    """A part of the run, in words, and its ends in seconds since the run began."""

    name: str
    began: float
    end: float


def phases(blocks: Sequence[BlockRecord]) -> tuple[Phase, ...]:
    """The parts of a run. A script that is started again is started for what comes next, the first start is a part."""
    found: list[Phase] = []
    for number, block in enumerate(blocks):
        end = block.began + block.seconds
        of = next((one for one in blocks[number:] if one.what != START), block) if found else block
        name = "start-up" if of.what == START else _PHASES.get(of.purpose, "search")
        if found and found[-1].name == name:
            found[-1] = Phase(name, found[-1].began, end)
        else:
            found.append(Phase(name, block.began, end))
    return tuple(found)
