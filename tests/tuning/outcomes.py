"""Outcomes of trials as they may come, and how they are shown."""

from __future__ import annotations

import io
import math
from pathlib import Path

from click.testing import CliRunner
from rich.console import Console

from accel_advisor.commands.report_command import report
from accel_advisor.finding import Edit, Location, Span
from accel_advisor.tuning.applying.rewrite import Recommendation, Rewrite
from accel_advisor.tuning.probe.channel.wire import NO_WAIT, Frame, LoaderInfo, Settings
from accel_advisor.tuning.record.outcome import Outcome, Row
from accel_advisor.tuning.search.diagnosis import Diagnosis, Shares
from accel_advisor.tuning.search.statistics import Interval
from accel_advisor.tuning.search.stops import Stop
from accel_advisor.tuning.search.verification import Verification
from accel_advisor.tuning.showing.summary import print_report


def call(*args: object) -> tuple[int, str, str]:
    """What the command ``report`` gives: its status, and what it writes to stdout and stderr."""
    result = CliRunner().invoke(report, [str(one) for one in args])
    assert "Traceback" not in result.output
    return result.exit_code, result.stdout, result.stderr


GAIN = Interval(2.65, 2.58, 2.72, 5)


def outcome(root: Path, *, won: bool, verification: Verification | None = None) -> Outcome:
    script = root / "train.py"
    script.write_text("loader = DataLoader(data)\n")
    frame = Frame(str(script), "<module>", 1, 10, 1, 26)
    edit = Edit("train.py", Span(Location(24, 1, 25), Location(24, 1, 25)), ", num_workers=4")
    recommendation = Recommendation(
        Settings(4),
        Settings(),
        GAIN,
        (edit,),
        Rewrite({script: b"old"}, {script: b"new"}, "--- a/train.py\n+++ b/train.py\n@@ -1 +1 @@\n-old\n+new\n"),
        "the call of `loader` (train.py:1)",
    )
    info = LoaderInfo(0, "train", (frame,), Settings(), 16, 100, 4096, "__main__.Data", "fork")
    other = LoaderInfo(1, "other", (frame,), Settings(2), 16, 10, 4096, "__main__.Data", "fork")
    return Outcome(
        root,
        (info, other),
        "cpu",
        "2.13.0",
        Diagnosis(Shares(0.63, 0.0, 0.35, 0.02), {NO_WAIT: Interval(2.7, 2.6, 2.8, 3)}, 0.0, 0.0),
        (
            Row(Settings(), 412.0, None, 9),
            Row(Settings(4), 1093.0, GAIN, 7),
            Row(Settings(8), 900.0, Interval(2.2, 0.0, math.inf, 1), 1),
            Row(Settings(16), None, None, 0, "a worker was killed"),
        ),
        412.0,
        1093.0,
        recommendation if won else None,
        None if won else Stop.NOTHING_FASTER,
        verification=verification,
    )


def printed(found: Outcome, *, width: int = 160) -> str:
    console = Console(width=width, file=io.StringIO(), highlight=False, markup=False)
    print_report(found, console)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()
