"""Measures until somebody kills it, and says so: ``killed_parent.py FOLDER SCRIPT``."""

import sys
import time
from pathlib import Path

from accel_advisor.tuning.probe.channel.wire import BASELINE, Measure, Settings
from accel_advisor.tuning.target.command import Command
from accel_advisor.tuning.trial.trial import Trial

with Trial(Command(Path(sys.argv[2]), None, (), Path(sys.argv[1])), deadline=time.monotonic() + 300) as trial:
    trial.start()
    while True:
        trial.measure(Measure(Settings(2, 2), min_batches=8, min_seconds=0.1))
        print("measuring", flush=True)
        trial.measure(Measure(BASELINE, min_batches=8, min_seconds=0.1))
