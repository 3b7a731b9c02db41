"""What to do next, where a run leaves something to do."""

from __future__ import annotations

import shlex

from accel_advisor.tuning.probe.knobs.training_knobs import TRAINING_KNOBS
from accel_advisor.tuning.record.schema import Record
from accel_advisor.tuning.search.settings import ALL
from accel_advisor.tuning.search.stops import Verdict

COMPUTES = 0.6
"""The share of computing in a step from which on it is named as what is left."""
_LAUNCHER = "torchrun "


def next_step(record: Record) -> str:
    """What costs most with the settings that were found, or what may make the computing itself faster where no loader
    can; empty where that is not known, or was tried. Knobs of the training are tried in one process alone."""
    if record.explained and record.explained[-1].next:
        return record.explained[-1].next
    computing = record.shares.compute or 0.0
    one_process = not record.script.startswith(_LAUNCHER) and not record.nodes
    if record.verdict != Verdict.NOTHING or computing < COMPUTES or record.turns is not None or not one_process:
        return ""
    knobs = (knob for knob in TRAINING_KNOBS if not knob.only_by_name and not knob.makes_room_for)
    names = ", ".join(knob.name for knob in knobs if knob.device in ("", record.device))
    again = command(record, "--knobs", ALL)
    share = f"{100 * computing:.0f} % of each step is computing, which no loader makes shorter"
    return f"{share}: `{again}` tries what may ({names})"


def command(record: Record, *options: str) -> str:
    """The command that makes a run again with more options."""
    arguments = ["--", *record.args] if record.args else []
    words = record.script.removeprefix(_LAUNCHER).split(" ")
    return shlex.join(["accel-advisor", "tune", *words, *options, *arguments])
