"""Whether the shares of a step that a trial reports are the ones that were put into it.

Every case is a real trial of ``loop.py``, whose parts take as long as they are set to. What the shares must be follows
from that by arithmetic. The same cases run on the host and on an accelerator: the one that there is, else a pretended
one (``devices.py``), whose clock stands in for the device's while hooks, meter and spans are the real ones.

    python benchmarks/attribution/attribution.py --json benchmarks/results/attribution.json

Exits with 1 where a share is further than 3 points from what was put in, or a case could not be measured.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import tempfile
import time
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import torch
from loop import Plan

from accel_advisor.tuning.probe.channel.wire import BASELINE, Measure
from accel_advisor.tuning.search.diagnosis import Shares, diagnose
from accel_advisor.tuning.search.readings import Loop, Readings
from accel_advisor.tuning.target.command import Command
from accel_advisor.tuning.trial.trial import Trial
from accel_advisor.tuning.trial.trial_errors import TrialError
from benchmarks.recording import keep, machine

POINTS = 3.0
BLOCKS = 2
SECONDS = 1.2
"""Of a block, at least."""
STEP = Plan(forward=0.04, backward=0.04, optimizer=0.016, host=0.024)
"""A step of 120 ms: what the loop costs by itself and taking a batch over from a worker, a millisecond or two, must not
show."""


def expected(plan: Plan) -> Shares:
    """The shares that were put in."""
    on_device = plan.device in ("cuda", "pretended")
    compute = plan.forward + plan.backward + plan.optimizer + (plan.functional if on_device else 0)
    host = plan.host + (0 if on_device else plan.functional)
    transfer = plan.transfer
    if plan.sync or not on_device:
        step = compute + host + transfer
        wait = max(0.0, plan.fetch / plan.workers - step) if plan.workers else plan.fetch
    else:
        # The host goes on while the device works: first the script's own part of the step, then the next fetch.
        hidden = compute + (transfer if plan.non_blocking else 0)
        late = plan.fetch / plan.workers - (transfer + compute - hidden) if plan.workers else host + plan.fetch
        wait = max(0.0, late - max(hidden, host))
        host = max(0.0, host - hidden)
    whole = wait + transfer + compute + host
    return Shares(wait / whole, transfer / whole, compute / whole, host / whole)


def reported(plan: Plan) -> Shares:
    """The shares that a trial finds."""
    with tempfile.TemporaryDirectory() as name:
        command = Command(
            Path(__file__).with_name("loop.py"), None, (json.dumps(asdict(plan)),), Path(name), sys.executable
        )
        with Trial(command, deadline=time.monotonic() + 180) as trial:
            ready = trial.start()
            readings = Readings(Loop(ready.loaders[0].settings, ready.loaders[0].length, ready.device != "cpu"))
            for _ in range(BLOCKS):
                # A batch more or less that lies ready at the ends of a block must not show either.
                least = 12 if plan.workers else 6
                readings.add(BASELINE, trial.measure(Measure(BASELINE, min_batches=least, min_seconds=SECONDS)))
            trial.stop()
    return diagnose(readings).shares


def starved(step: Plan, share: float, workers: int) -> Plan:
    """``step`` with a fetch that makes the loop wait for ``share`` of its time, without overlap on a device."""
    seconds = step.forward + step.backward + step.optimizer + step.host + step.transfer + step.functional
    waits = seconds * share / (1 - share)
    if workers and not share:
        return replace(step, workers=workers, fetch=seconds)
    return replace(step, workers=workers, fetch=workers * (waits + seconds) if workers else waits)


def cases(accelerator: str) -> dict[str, Plan]:
    """What is tried, by name."""
    found = {
        f"wait {share:.0%}, {workers} workers": starved(STEP, share, workers)
        for workers in (0, 2)
        for share in (0, 0.2, 0.5, 0.9)
    }
    some = starved(STEP, 0.3, 0)
    found |= {
        "computing in earnest": replace(some, device="busy"),
        "computing in earnest, 2 workers": replace(starved(STEP, 0.3, 2), device="busy"),
        "gradient accumulation": replace(some, accumulate=4),
        "evaluation between epochs": replace(some, epoch=10, evaluate=0.2),
        "evaluation between epochs, 2 workers": replace(starved(STEP, 0.3, 2), epoch=10, evaluate=0.2),
        "nested modules": replace(some, depth=5),
        "work outside of modules": replace(some, functional=0.06),
        "mostly the script's own": replace(some, host=0.24),
        "an optimizer that takes long": replace(some, optimizer=0.24),
        "backward alone": replace(some, forward=0.0, optimizer=0.0, host=0.0, backward=0.12),
    }
    moving = replace(STEP, device=accelerator, transfer=0.048)
    found |= {
        f"{accelerator}: wait {share:.0%}, {workers} workers": starved(moving, share, workers)
        for workers in (0, 2)
        for share in (0, 0.2, 0.5, 0.9)
    }
    some, late = starved(moving, 0.3, 0), replace(moving, sync=False)
    found |= {
        f"{accelerator}: mostly transfers": replace(some, transfer=0.3),
        f"{accelerator}: gradient accumulation": replace(some, accumulate=4),
        f"{accelerator}: evaluation between epochs": replace(some, epoch=10, evaluate=0.2),
        f"{accelerator}: moved by the model": replace(some, moved_inside=True),
        f"{accelerator}: work outside of modules": replace(some, functional=0.08),
        f"{accelerator}: launched ahead, fetch hidden": replace(late, fetch=0.04),
        f"{accelerator}: launched ahead, fetch shows": replace(late, fetch=0.2),
        f"{accelerator}: launched ahead, script shows": replace(late, fetch=0.02, host=0.2),
        f"{accelerator}: launched ahead, work outside of modules": replace(late, fetch=0.04, functional=0.08),
        f"{accelerator}: copies that do not block": replace(late, non_blocking=True, fetch=0.04),
        f"{accelerator}: copies that do not block, fetch shows": replace(late, non_blocking=True, fetch=0.32),
        f"{accelerator}: launched ahead, 2 workers": replace(late, workers=2, fetch=0.48),
    }
    return found


def points(shares: Shares) -> dict[str, float]:
    """Shares in per cent of the step."""
    return {name: round(100 * share, 2) for name, share in asdict(shares).items()}


def main() -> int:
    """Runs, prints and records."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--only", action="append", default=[], help="cases whose names contain this, or another of them"
    )
    parser.add_argument("--seconds", type=float, default=math.inf, help="after which no further case begins")
    parser.add_argument("--json", type=Path, help="where to record the result")
    options = parser.parse_args()
    accelerator = torch.cuda.get_device_name() if torch.cuda.is_available() else None
    about = {"machine": machine() | {"accelerator": accelerator}, "limit": POINTS}
    found: list[dict[str, Any]] = []
    worst, began = 0.0, time.monotonic()
    for name, plan in cases("cuda" if torch.cuda.is_available() else "pretended").items():
        if options.only and not any(part in name for part in options.only):
            continue
        if time.monotonic() - began > options.seconds:
            print(f"left out, as {options.seconds:.0f} s are over: {name}", flush=True)
            continue
        put_in = points(expected(plan))
        try:
            seen = points(reported(plan))
        except TrialError as error:
            found.append({"case": name, "put_in": put_in, "failed": str(error)})
            worst = math.inf
            print(f"failed: {name}: {error}", flush=True)
        else:
            off = round(max(abs(put_in[part] - seen[part]) for part in put_in), 2)
            found.append({"case": name, "put_in": put_in, "reported": seen, "off": off})
            worst = max(worst, off)
            print(f"{off:5.2f} points  {name}: put in {put_in}, reported {seen}", flush=True)
        keep(options.json, about | {"worst": worst if math.isfinite(worst) else None, "cases": found})
    print(f"worst of {len(found)} cases: {worst} points")
    return int(worst > POINTS)


if __name__ == "__main__":
    raise SystemExit(main())
