"""The parts of a run, from the blocks of its record."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from accel_advisor.tuning.record.schema import BlockRecord
from accel_advisor.tuning.search.purposes import Purpose
from accel_advisor.tuning.trial.timeline import START

_PHASES: dict[str, str] = {
    Purpose.CEILINGS: "ceilings",
    Purpose.FINALISTS: "finalists",
    Purpose.OLD_AGAINST_NEW: "old against new",
    Purpose.OVERTIME: "old against new",
    Purpose.OLD_SOURCE: "verification",
    Purpose.NEW_SOURCE: "verification",
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
        name = "startup" if of.what == START else _PHASES.get(of.purpose, "search")
        if found and found[-1].name == name:
            found[-1] = Phase(name, found[-1].began, end)
        else:
            found.append(Phase(name, block.began, end))
    return tuple(found)
