"""How often ``tune`` recommends something where there is nothing to gain, in real runs of real loops (``loop.py``).

Kinds of loops take turns; every run has a seed of its own. ``--load`` puts a neighbour beside them that burns every
core in bursts. ``--truth`` runs each kind by itself, without a trial, under several numbers of workers: what that
shows is the reason to call a recommendation a false win. Each run is recorded when it is done, and a record that is
there already is gone on with.

    python benchmarks/null/false_wins.py --truth --runs 60 --json benchmarks/results/false_wins.json
    python benchmarks/null/false_wins.py --truth --load --runs 60 --json benchmarks/results/false_wins.json

``--fixes`` races the loops against themselves instead, as fixes of lint are: one side has a comment more.

    python benchmarks/null/false_wins.py --fixes --runs 24 --json benchmarks/results/false_wins.json

Exits with 1 where a quiet run was a false win, or more than one in twenty of those under load.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from accel_advisor.machine.machine import inspect_machine
from accel_advisor.tuning.knobs.raced_fixes import RaceVerdict, verdict_of_race
from accel_advisor.tuning.knobs.whole_runs import AS_IT_IS, WholeRuns
from accel_advisor.tuning.search.statistics import WORTH
from accel_advisor.tuning.target.command import Command
from accel_advisor.tuning.trial.session import Session
from accel_advisor.tuning.trial.timeline import START
from accel_advisor.tuning.tuner import Options, tune
from accel_advisor.tuning.wording.kept_text import kept_text
from benchmarks.recording import keep, machine

KINDS: tuple[tuple[str, int], ...] = (
    ("serial", 0),
    ("bandwidth", 1),
    ("noisy", 0),
    ("bandwidth", 0),
    ("drifting", 0),
    ("healthy", 0),
)
"""Kinds of loops, and the workers that their source has."""
TRUTH_WORKERS = (0, 1, 2, 4, 8)
TRUTH_BATCHES = 200
LOADED_WINS = 20
"""Beside a neighbour one run in so many may be a false win."""

BURNER = """
import os, random, sys, time
pace, parent = random.Random(int(sys.argv[1])), os.getppid()
while os.getppid() == parent:
    until = time.monotonic() + pace.expovariate(1.0)
    while time.monotonic() < until:
        pass
    time.sleep(pace.expovariate(1.0))
"""


@contextlib.contextmanager
def neighbour(seed: int) -> Iterator[None]:
    """Burns as many processors as there are, each in bursts and pauses of a second in the mean."""
    burners = [
        subprocess.Popen([sys.executable, "-c", BURNER, str(seed * 1000 + number)])
        for number in range(max(1, round(inspect_machine().cores)))
    ]
    try:
        yield
    finally:
        for burner in burners:
            burner.kill()
            burner.wait()


@contextlib.contextmanager
def project() -> Iterator[Path]:
    """A folder with the script alone."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        shutil.copyfile(Path(__file__).with_name("loop.py"), folder / "loop.py")
        (folder / "storage.lock").touch()
        (folder / "pyproject.toml").write_text("[project]\nname = 'null'\nversion = '1'\n")
        yield folder


def one_run(number: int, budget: float) -> dict[str, Any]:
    """What a trial makes of a loop with nothing to gain."""
    kind, workers = KINDS[number % len(KINDS)]
    with project() as folder:
        arguments = (kind, "--workers", str(workers), "--seed", str(number))
        outcome = tune(
            Command(folder / "loop.py", None, arguments, folder), Options(budget=budget, seed=number), root=folder
        )
    found = outcome.recommendation
    ceiling = outcome.diagnosis.ceilings.get("no-wait") if outcome.diagnosis else None
    return {
        "kind": kind,
        "workers": workers,
        "seed": number,
        "seconds": round(outcome.seconds, 1),
        "no_wait": round(ceiling.ratio, 3) if ceiling else None,
        "tried": len(outcome.rows) - 1,
        "recommended": asdict(found.settings) if found else None,
        "gain": {key: round(value, 4) for key, value in asdict(found.gain).items()} if found else None,
        "kept": kept_text(outcome.kept) if outcome.kept is not None else "",
    }


def one_race(number: int, block: float) -> dict[str, Any]:
    """What a race makes of a loop against itself."""
    kind, workers = KINDS[number % len(KINDS)]
    began = time.monotonic()
    with project() as folder:
        script = folder / "loop.py"
        source = script.read_bytes()
        command = Command(script, None, (kind, "--workers", str(workers), "--seed", str(number)), folder)
        with Session(command, deadline=math.inf, start_timeout=120.0, restarts=1) as session:
            gain, moved, _ = WholeRuns(session, memory=inspect_machine().memory_total, block=block).race(
                AS_IT_IS,
                alike=True,
                before={script: source},
                after={script: source + b"\n# Nothing else.\n"},
                worth=WORTH,
                beside=True,
            )
            starts = sum(one.what == START for one in session.timeline)
    verdict = verdict_of_race(gain)
    return {
        "kind": kind,
        "workers": workers,
        "seed": number,
        "seconds": round(time.monotonic() - began, 1),
        "starts": starts,
        "recommended": verdict if verdict is RaceVerdict.PAYS else None,
        "gain": {key: round(value, 4) for key, value in asdict(gain).items()},
        "kept": moved.reason or verdict,
    }


def truth(kind: str) -> dict[str, float]:
    """Seconds a batch by the number of workers, in long runs without a trial."""
    seconds = {}
    with project() as folder:
        for workers in TRUTH_WORKERS:
            arguments = [kind, "--workers", str(workers), "--batches", str(TRUTH_BATCHES)]
            done = subprocess.run(
                [sys.executable, "loop.py", *arguments], cwd=folder, capture_output=True, text=True, check=True
            )
            seconds[str(workers)] = round(float(done.stdout), 5)
    return seconds


def main() -> int:
    """Runs, prints and records."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=60)
    parser.add_argument("--budget", type=float, default=10.0, help="seconds of each search")
    parser.add_argument("--load", action="store_true", help="beside a neighbour that burns every core in bursts")
    parser.add_argument("--fixes", action="store_true", help="race each loop against itself, as a fix is")
    parser.add_argument("--block", type=float, default=0.5, help="seconds of a block of such a race")
    parser.add_argument("--truth", action="store_true", help="run each kind by itself first")
    parser.add_argument("--json", type=Path, help="where to record the result, and to go on with it")
    options = parser.parse_args()
    record: dict[str, Any] = json.loads(options.json.read_text()) if options.json and options.json.exists() else {}

    name = "loaded" if options.load else "quiet"
    part = record.setdefault(f"fixes {name}" if options.fixes else name, {"runs": []})
    if options.truth:
        known = part.setdefault("seconds_a_batch_by_workers", {})
        for kind in dict(KINDS):
            # What drifts is ``serial`` at a speed that changes with the hour, in which no two runs begin at once.
            if kind not in known and kind != "drifting":
                with neighbour(0) if options.load else contextlib.nullcontext():
                    known[kind] = truth(kind)
                print(f"truth: {kind} {known[kind]}", flush=True)
                keep(options.json, record)
    done = {run["seed"] for run in part["runs"]}
    for number in range(options.runs):
        if number in done:
            continue
        began = time.monotonic()
        with neighbour(number) if options.load else contextlib.nullcontext():
            run = one_race(number, options.block) if options.fixes else one_run(number, options.budget)
        part["runs"].append(run)
        part.update(
            machine=machine(),
            **({"block": options.block} if options.fixes else {"budget": options.budget}),
            false_wins=sum(run["recommended"] is not None for run in part["runs"]),
            seconds=round(part.get("seconds", 0.0) + time.monotonic() - began, 1),
        )
        keep(options.json, record)
        said = f"FALSE WIN {run['recommended']} {run['gain']}" if run["recommended"] else run["kept"]
        print(f"{number}: {run['kind']} from {run['workers']} workers, {run['seconds']} s: {said}", flush=True)
    allowed = len(part["runs"]) // LOADED_WINS if options.load else 0
    print(f"{part.get('false_wins', 0)} false wins in {len(part['runs'])} runs, {allowed} allowed")
    return int(part.get("false_wins", 0) > allowed)


if __name__ == "__main__":
    raise SystemExit(main())
