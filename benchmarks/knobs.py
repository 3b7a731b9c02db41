"""Tries each knob of the training on a workload on which it must pay, and on one on which it must be refused.

Every workload is a script that knows nothing of this. A knob whose device is missing here must be refused for that.

    python benchmarks/knobs.py [WORKLOAD...] --json benchmarks/results/knobs.json
    python benchmarks/knobs.py --gpu --seconds 150 --json benchmarks/results/knobs.json

With WORKLOADs, or knobs, these alone are run, and take the place of their like in the file. All of them take about a
quarter of an hour on two cores with nothing else to do. With --gpu those for a GPU alone are run, the most telling
first; where the device is missing they are left out, unless their knob is for that device alone. --quick only has each
script train under the probe for a moment. Exits with 1 where an answer is wrong.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from unittest.mock import patch

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import torch

from accel_advisor.machine.gpus import gpus
from accel_advisor.machine.machine import inspect_machine
from accel_advisor.tuning.knobs.knob_trials import KnobTrials, try_knobs
from accel_advisor.tuning.knobs.whole_runs import AS_IT_IS, NOTHING, WholeRuns
from accel_advisor.tuning.target.command import Command
from accel_advisor.tuning.trial.session import Session
from accel_advisor.tuning.trial.trial_errors import TrialError
from benchmarks.knob_workloads import Workload
from benchmarks.knob_workloads_on_gpu import ALL, ON_GPU
from benchmarks.recording import commit, keep


@contextmanager
def _surroundings(workload: Workload) -> Iterator[None]:
    """Scripts that are started within have a workload's threads, and see no accelerator but the one that it is for."""
    wanted = {} if workload.device == "cuda" else {"CUDA_VISIBLE_DEVICES": ""}
    if workload.threads is not None:
        wanted["OMP_NUM_THREADS"] = str(workload.threads)
    with patch.dict(os.environ, wanted):
        yield


@contextmanager
def _session(workload: Workload) -> Iterator[Session]:
    """Trials of a workload's script."""
    with tempfile.TemporaryDirectory() as folder, _surroundings(workload):
        script = Path(folder).resolve() / "train.py"
        script.write_text(workload.source)
        command = Command(script, None, (), script.parent)
        with Session(command, deadline=math.inf, start_timeout=300, restarts=1) as session:
            yield session


def trains(workload: Workload) -> dict[str, Any]:
    """Whether a workload's script can be measured as it is: nothing is turned, and nothing said of its speed.

    Raises:
        TrialError: it cannot.
    """
    with _session(workload) as session:
        ran = WholeRuns(session, memory=inspect_machine().memory_total, block=0.02).run(AS_IT_IS, NOTHING)
    return {"knob": workload.knob, "device": ran.device, "losses": len(ran.turned.losses), "wrong": ""}


def run(workload: Workload) -> dict[str, Any]:
    """Tries a workload's knob on it."""
    began = time.monotonic()
    memory = min((one.memory for one in gpus() if one.memory), default=None) if workload.device else None
    with _session(workload) as session:
        command, machine = session.command, inspect_machine()
        trials = KnobTrials(session, command, machine, root=command.cwd, block=workload.block, memory=memory)
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
    machine = inspect_machine()
    devices = [torch.cuda.get_device_name(one) for one in range(torch.cuda.device_count())]
    return {
        "date": _now(),
        "commit": commit(),
        "machine": f"{platform.system()} {platform.machine()}, {machine.processor}, {machine.cores:g} cores",
        "accelerators": devices,
        "torch": torch.__version__,
    }


def main() -> int:
    """Runs the workloads; 1 where an answer is wrong."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("workloads", nargs="*", metavar="WORKLOAD", help="name of one, or of a knob")
    parser.add_argument("--gpu", action="store_true", help="only those for a GPU, the most telling first")
    parser.add_argument("--seconds", type=float, default=math.inf, help="after which no further workload begins")
    parser.add_argument("--quick", action="store_true", help="only see that the scripts train; nothing is recorded")
    parser.add_argument("--json", type=Path, metavar="FILE")
    options = parser.parse_args()
    began, workloads = time.monotonic(), ON_GPU if options.gpu else ALL
    known = {*workloads, *(one.knob for one in workloads.values())}
    for name in options.workloads:
        if name not in known:
            parser.error(f"no workload is called {name!r}: there are {'; '.join(sorted(known))}")
    chosen = [
        name
        for name, one in workloads.items()
        if not options.workloads or name in options.workloads or one.knob in options.workloads
    ]
    before = json.loads(options.json.read_text())["workloads"] if options.json and options.json.exists() else {}
    results: dict[str, Any] = {name: before[name] for name in ALL if name in before}
    about, done = _about(), []
    for name in chosen:
        if time.monotonic() - began > options.seconds:
            print(f"{name}: left out, as {options.seconds:.0f} s are over", flush=True)
            continue
        if ALL[name].elsewhere and not options.quick:
            print(f"{name}: left out, as there is no {ALL[name].device} here", flush=True)
            continue
        try:
            result = trains(ALL[name]) if options.quick else run(ALL[name])
        except (TrialError, OSError, RuntimeError, ValueError) as error:
            result = {
                "knob": ALL[name].knob,
                "wrong": f"failed: {error}",
                "seconds": 0.0,
            }  # the others are worth having
        results[name] = result | about | {"date": _now()}
        done.append(name)
        print(f"{time.monotonic() - began:.0f} s, {name}: {result}", flush=True)
        if not options.quick:
            ordered = {one: results[one] for one in ALL if one in results}
            keep(options.json, {"workloads": ordered})
    wrong = [name for name in done if results[name]["wrong"]]
    took = time.monotonic() - began
    print(f"{len(done)} workloads in {took / 60:.1f} minutes; wrong: {'; '.join(wrong) or 'none'}")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
