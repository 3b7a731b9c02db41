"""How often `tune --apply` finds a gain that is there, on a quiet machine and beside a busy neighbour.

    python -m benchmarks.power run --runs 20       so many runs of each workload under each load, those recorded counted
    python -m benchmarks.power retime --only NAME --load LOAD   the grid of one of them anew, with many readings
    python -m benchmarks.power score --write       the table of the README, from what is recorded

The truth of a workload under a load is an interleaved grid (`benchmarks/regret`), timed beside the same neighbour
before the first run. Each run is recorded as soon as it ended, in turns of the workloads and loads, so that a run of
this program that was cut short goes on where it ended.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from accel_advisor.tuning.probe.channel.wire import Settings
from benchmarks.recording import keep, machine, write_scores
from benchmarks.regret.grid import Grid, neighbour, record, recorded
from benchmarks.regret.ours import ours
from benchmarks.regret.workloads import WORKLOADS, Workload

from .score import LOADS, NAMES, table

HERE = Path(__file__).resolve().parent
RESULTS = HERE.parent / "results" / "power.json"


def say(words: str) -> None:
    """One line of progress."""
    print(f"    {words}", flush=True)


def truth(
    workload: Workload, load: str, *, quick: bool, rounds: int = 0, more: Iterable[Settings] = ()
) -> dict[str, Any]:
    """The workload's grid beside the neighbour, and no runs yet."""
    with neighbour(LOADS[load].busy), Grid(workload) as grid:
        grid.measure(quick=quick, say=say, rounds=rounds, more=more)
        return {"startup": round(grid.startup(), 2), "cells": record(grid), "runs": []}


def retime(options: argparse.Namespace) -> None:
    """Times the grid of one workload under one load anew, in many rounds, and keeps the recorded runs of it. The
    readings before are kept beside it, and count for nothing."""
    found: dict[str, Any] = json.loads(options.json.read_text())
    key = f"{options.only}, {options.load}"
    before = found["results"][key]
    workload = next(one for one in WORKLOADS if one.name == options.only)
    known = recorded(before["cells"])
    anew = truth(workload, options.load, quick=options.quick, rounds=options.rounds, more=known)
    kept = {"startup": before["startup"], "runs": before["runs"], "first_cells": before["cells"]}
    found["results"][key] = anew | kept | {"retimed": machine()}
    keep(options.json, found)


def one_run(workload: Workload, load: str, result: dict[str, Any], *, quick: bool) -> None:
    """One more run of `tune --apply` beside a neighbour whose bursts are its own; settings that it left and that are no
    cell yet are timed beside the best one."""
    number = len(result["runs"])
    with neighbour(LOADS[load].busy, seed=number + 1):
        before = os.getloadavg()[0]
        ran = ours(workload, result["startup"], quick=quick)
    kept = ("settings", "seconds", "words", "refused", "predicted", "verified", "verification", "failed")
    cell = workload.cell(Settings(**ran["settings"]))
    with neighbour(LOADS[load].busy), Grid(workload, recorded(result["cells"])) as grid:
        if cell not in grid.readings:
            grid.add(cell, quick=quick, say=say)
            result["cells"] = record(grid)
    result["runs"].append({"load_before": round(before, 2)} | {key: ran[key] for key in kept if key in ran})
    say(f"{ran['settings']} in {ran['seconds']} s: {ran['words']}")


def run(options: argparse.Namespace) -> None:
    """Adds what is missing to the record, in turns, and writes it after each run."""
    by_name = {workload.name: workload for workload in WORKLOADS}
    found: dict[str, Any] = json.loads(options.json.read_text()) if options.json.exists() else {"results": {}}
    limit = time.monotonic() + 60 * options.minutes
    pairs = [(name, load) for name in options.only or NAMES for load in LOADS]
    for turn in range(options.runs + 1):
        for name, load in pairs:
            key = f"{name}, {load}"
            result = dict(found["results"].get(key, {}))
            if (turn > len(result["runs"])) if result else (turn == 0):
                if time.monotonic() > limit:
                    return
                print(f"{key}, run {turn}" if turn else f"{key}, grid", flush=True)
                try:
                    if turn:
                        one_run(by_name[name], load, result, quick=options.quick)
                    else:
                        result = truth(by_name[name], load, quick=options.quick)
                except (RuntimeError, OSError, ValueError, subprocess.SubprocessError) as error:
                    # The others are worth having; another run of this program takes this one up again.
                    say(f"not complete: {error}")
                    continue
                found["results"][key] = result
                found = {"machine": machine(), "quick": options.quick, "results": found["results"]}
                options.json.parent.mkdir(parents=True, exist_ok=True)
                keep(options.json, found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    commands = parser.add_subparsers(required=True, dest="command")
    running = commands.add_parser("run", help="measure what is not recorded yet")
    running.add_argument("--runs", type=int, default=20, help="of each workload under each load")
    running.add_argument("--only", action="append", default=[], choices=NAMES, metavar="NAME")
    running.add_argument("--minutes", type=float, default=6 * 60.0, help="begin nothing new after so long")
    running.add_argument("--quick", action="store_true", help="one short reading of each cell, and a small budget")
    again = commands.add_parser("retime", help="time the grid of one workload under one load anew")
    again.add_argument("--only", required=True, choices=NAMES)
    again.add_argument("--load", required=True, choices=LOADS)
    again.add_argument("--rounds", type=int, default=16, help="readings of every cell")
    again.add_argument("--quick", action="store_true", help="one short reading of each cell")
    scoring = commands.add_parser("score", help="print the table")
    scoring.add_argument("--write", action="store_true", help="put it into the README, too")
    for command in (running, again, scoring):
        command.add_argument("--json", type=Path, default=RESULTS)
    options = parser.parse_args()
    if options.command != "score":
        os.environ["OMP_NUM_THREADS"] = "1"
        signal.signal(signal.SIGTERM, signal.default_int_handler)  # or the neighbour would go on
        (run if options.command == "run" else retime)(options)
        return
    found = table(json.loads(options.json.read_text()))
    print(found)
    if options.write:
        write_scores(HERE / "README.md", found)


if __name__ == "__main__":
    main()
