"""Tries each knob of the training on a workload on which it must pay, and on one on which it must be refused.

Every workload is a script that knows nothing of this. A knob whose device is missing here must be refused for that.

    python benchmarks/knobs.py [WORKLOAD...] --json benchmarks/results/knobs.json

With WORKLOADs, or knobs, these alone are run, and take the place of their like in the file. All of them take about a
quarter of an hour on two cores with nothing else to do. Exits with 1 where an answer is wrong.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import torch

from accel_advisor.editing.fixer import write_atomically
from accel_advisor.machine.machine import inspect_machine
from accel_advisor.tuning.knobs.knob_trials import KnobTrials, try_knobs
from accel_advisor.tuning.target.command import Command
from accel_advisor.tuning.trial.session import Session
from benchmarks.knob_workloads import WORKLOADS, Workload


@contextmanager
def _surroundings(workload: Workload) -> Iterator[None]:
    """Scripts that are started within have a workload's threads, and see no accelerator but the one that it is for."""
    wanted = {} if workload.device == "cuda" else {"CUDA_VISIBLE_DEVICES": ""}
    if workload.threads is not None:
        wanted["OMP_NUM_THREADS"] = str(workload.threads)
    before = dict(os.environ)
    os.environ.update(wanted)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def run(workload: Workload) -> dict[str, Any]:
    """Tries a workload's knob on it."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder, _surroundings(workload):
        script = Path(folder).resolve() / "train.py"
        script.write_text(workload.source)
        command = Command(script, None, (), script.parent)
        with Session(command, deadline=math.inf, start_timeout=300, restarts=1) as session:
            trials = KnobTrials(session, command, inspect_machine(), root=script.parent, block=workload.block)
            tried = try_knobs(trials, workload.with_ | {workload.knob}, write=False).tried
    turn = next(turn for turn in tried if turn.name == workload.knob)
    gain = turn.gain
    return {
        "knob": turn.name,
        "expected": "pays" if workload.pays else "is refused",
        "setting": turn.setting,
        "gain": [round(one, 4) for one in (gain.ratio, gain.low, gain.high)] if gain else None,
        "loss": None if turn.loss is None else round(turn.loss, 6),
        "warm_up": None if turn.warm_up is None else round(turn.warm_up, 2),
        "refused": turn.refused,
        "patch": [line for line in turn.diff.splitlines() if line[:1] in "+-" and line[:3] not in ("+++", "---")],
        "by_hand": turn.remedy,
        "wrong": workload.wrong(turn),
        "seconds": round(time.monotonic() - began, 1),
        "load": round(os.getloadavg()[0], 1),
    }


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _about() -> dict[str, Any]:
    commit = subprocess.run(
        ["git", "rev-parse", "HEAD"], capture_output=True, text=True, cwd=Path(__file__).parent, check=False
    ).stdout.strip()
    machine = inspect_machine()
    devices = [torch.cuda.get_device_name(one) for one in range(torch.cuda.device_count())]
    return {
        "date": _now(),
        "commit": commit,
        "machine": f"{platform.system()} {platform.machine()}, {machine.processor}, {machine.cores:g} cores",
        "accelerators": devices,
        "torch": torch.__version__,
    }


def main() -> int:
    """Runs the workloads; 1 where an answer is wrong."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("workloads", nargs="*", metavar="WORKLOAD", help="name of one, or of a knob")
    parser.add_argument("--json", type=Path, metavar="FILE")
    options = parser.parse_args()
    known = {*WORKLOADS, *(one.knob for one in WORKLOADS.values())}
    for name in options.workloads:
        if name not in known:
            parser.error(f"no workload is called {name!r}: there are {'; '.join(sorted(known))}")
    chosen = [
        name
        for name, one in WORKLOADS.items()
        if not options.workloads or name in options.workloads or one.knob in options.workloads
    ]
    before = json.loads(options.json.read_text())["workloads"] if options.json and options.json.exists() else {}
    results: dict[str, Any] = {name: before[name] for name in WORKLOADS if name in before}
    about = _about()
    for name in chosen:
        results[name] = {**run(WORKLOADS[name]), "date": _now(), "commit": about["commit"]}
        print(f"{name}: {results[name]}", flush=True)
        if options.json:
            ordered = {one: results[one] for one in WORKLOADS if one in results}
            text = json.dumps({**about, "workloads": ordered}, indent=1)
            write_atomically(options.json, (text + "\n").encode())
    wrong = [name for name in chosen if results[name]["wrong"]]
    took = math.fsum(results[name]["seconds"] for name in chosen)
    print(f"{len(chosen)} workloads in {took / 60:.1f} minutes; wrong: {'; '.join(wrong) or 'none'}")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
