"""How far the settings that `tune --apply` leaves in the source stay behind an exhaustive grid, and what others choose.

    python -m benchmarks.regret run --rivals FOLDER     everything that is not recorded yet
    python -m benchmarks.regret run --only NAME --part ours --again
    python -m benchmarks.regret score --write           the tables of the README, from what is recorded

Each workload's result is written as soon as it is there, so a run that was cut short goes on where it ended.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

from accel_advisor.machine.machine import inspect_machine
from accel_advisor.tuning.probe.channel.wire import Settings

from ..recording import commit, keep, processor, today, write_scores
from .grid import Grid, neighbour, record, recorded, spelled
from .ours import ours
from .rivals import PACKAGES, RIVALS, environment
from .score import BY_NAME, OURS, choices_of, tables
from .workloads import WORKLOADS, Workload

HERE = Path(__file__).resolve().parent
RESULTS = HERE.parent / "results" / "regret.json"
PARTS = ("grid", "ours", "rivals")


def stamp() -> dict[str, Any]:
    """When and with what."""
    machine = {"cores": int(inspect_machine().cores), "cpu": processor(), "system": platform.system()}
    return {
        "machine": machine,
        "date": today(),
        "commit": commit(),
        "versions": {"python": platform.python_version(), "torch": version("torch"), "rivals": list(PACKAGES[1:])},
    }


def run_one(workload: Workload, result: dict[str, Any], options: argparse.Namespace, cores: int) -> None:
    """Adds to the result of a workload what is asked for and not there."""

    def wanted(part: str, key: str) -> bool:
        return part in options.part and (options.again or key not in result)

    def say(words: str) -> None:
        print(f"    {words}", flush=True)

    with neighbour(0.5 if workload.loaded else 0.0), Grid(workload) as grid:
        if wanted("grid", "cells") or "cells" not in result:
            grid.measure(quick=options.quick, say=say)
            result |= {"about": workload.about, "answer": workload.answer, "startup": round(grid.startup(), 2)}
            result["cells"] = record(grid)
        else:
            grid.readings = recorded(result["cells"])
        if wanted("ours", OURS):
            result[OURS] = ours(workload, result["startup"], quick=options.quick)
            say(f"{OURS}: {result[OURS]['settings']} in {result[OURS]['seconds']} s")
        for name, rival in RIVALS.items():
            if options.rivals is not None and wanted("rivals", name):
                result[name] = rival(workload, result["startup"], environment(options.rivals))
                say(f"{name}: {result[name]['settings']} in {result[name]['seconds']} s")
        chosen = list(choices_of(workload, result, cores).values())
        if result.get(OURS, {}).get("recommended"):
            chosen.append(workload.cell(Settings(**result[OURS]["recommended"])))
        for cell in dict.fromkeys(chosen):
            if cell not in grid.readings:
                grid.add(cell, quick=options.quick, say=say)
        result["cells"] = record(grid)
        say(f"best: {spelled(grid.best)}")


def run(options: argparse.Namespace) -> None:
    """Runs workloads and records each as it is done."""
    found: dict[str, Any] = json.loads(options.json.read_text()) if options.json.exists() else {"workloads": {}}
    for workload in [BY_NAME[name] for name in options.only] or WORKLOADS:
        print(workload.name, flush=True)
        began = time.monotonic()
        result = dict(found["workloads"].get(workload.name, {}))
        try:
            run_one(workload, result, options, int(inspect_machine().cores))
        except (RuntimeError, OSError, ValueError, subprocess.SubprocessError) as error:
            # The others are worth having; another run takes this one up again.
            print(f"    not complete: {error}", flush=True)
        found["workloads"][workload.name] = result
        found = stamp() | {"quick": options.quick, "workloads": found["workloads"]}
        options.json.parent.mkdir(parents=True, exist_ok=True)
        keep(options.json, found)
        print(f"    {time.monotonic() - began:.0f} s", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    commands = parser.add_subparsers(required=True, dest="command")
    running = commands.add_parser("run", help="time what is not recorded yet")
    running.add_argument("--only", action="append", default=[], choices=list(BY_NAME), metavar="NAME")
    running.add_argument("--part", action="append", choices=PARTS, help="only these parts; all of them by default")
    running.add_argument("--again", action="store_true", help="also what is recorded already")
    running.add_argument("--quick", action="store_true", help="one short reading of each cell, and a small budget")
    running.add_argument("--rivals", type=Path, metavar="FOLDER", help="their environment, made where it is not there")
    scoring = commands.add_parser("score", help="print the tables")
    scoring.add_argument("--write", action="store_true", help="put them into the README, too")
    for command in (running, scoring):
        command.add_argument("--json", type=Path, default=RESULTS)
    options = parser.parse_args()
    if options.command == "score":
        found = tables(json.loads(options.json.read_text()))
        print(found)
        if options.write:
            write_scores(HERE / "README.md", found)
        return
    options.part = options.part or list(PARTS)
    os.environ["OMP_NUM_THREADS"] = "1"
    run(options)


if __name__ == "__main__":
    main()
