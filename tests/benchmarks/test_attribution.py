"""Shares of a step that were put into a real loop come out of a real trial, on the host and on a pretended device.

``benchmarks/attribution`` measures how exactly. Here sleeps dominate and the bounds are wide: a part that is taken for
another, or that counts twice, is far outside.
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from accel_advisor.tuning.probe.channel.wire import BASELINE, Measure
from accel_advisor.tuning.search.diagnosis import Shares, diagnose
from accel_advisor.tuning.search.readings import Loop, Readings
from accel_advisor.tuning.target.command import Command
from accel_advisor.tuning.trial.trial import Trial

pytest.importorskip("torch")

LOOP = Path(__file__).parents[2] / "benchmarks" / "attribution" / "loop.py"


@pytest.mark.parametrize(
    ("plan", "put_in"),
    [
        (
            {"fetch": 0.04, "forward": 0.02, "backward": 0.01, "optimizer": 0.01, "functional": 0.02, "host": 0.02},
            Shares(wait=1 / 3, transfer=0.0, compute=1 / 3, host=1 / 3),
        ),
        (
            {"device": "pretended", "moved_inside": True, "transfer": 0.04, "depth": 2}
            | {"fetch": 0.04, "forward": 0.02, "functional": 0.02, "backward": 0.02, "host": 0.02},
            Shares(wait=0.25, transfer=0.25, compute=0.375, host=0.125),
        ),
        (
            {"workers": 2, "epoch": 10, "evaluate": 0.4, "fetch": 0.13, "forward": 0.045},
            Shares(wait=0.3, transfer=0.0, compute=0.7, host=0.0),
        ),
    ],
    ids=["host", "device", "workers that go on while the loop evaluates"],
)
def test_what_was_put_in_comes_out(plan: dict[str, Any], put_in: Shares, tmp_path: Path) -> None:
    command = Command(LOOP, None, (json.dumps(plan),), tmp_path)
    with Trial(command, deadline=time.monotonic() + 300) as trial:
        ready = trial.start()
        assert ready.device == ("cuda" if plan.get("device") else "cpu")
        readings = Readings(Loop(ready.loaders[0].settings, ready.loaders[0].length))
        # One late worker among few batches looks like waiting.
        least = 24 if plan.get("workers") else 8
        readings.add(BASELINE, trial.measure(Measure(BASELINE, min_batches=least, min_seconds=0.5)))
        trial.stop()
    found = diagnose(readings).shares
    for part in ("wait", "transfer", "compute", "host"):
        assert getattr(found, part) == pytest.approx(getattr(put_in, part), abs=0.12), found
