"""Scores what `tune` chooses on a GPU against a grid, beside rules of thumb.

    python benchmarks/gpu/run.py                  with a GPU: under ten minutes, writes benchmarks/results/gpu.json
    python benchmarks/gpu/run.py --minutes 5      the workloads alone, with fewer readings
    python benchmarks/gpu/run.py --only images    adds to what is recorded
    python benchmarks/gpu/run.py --quick          small, on whatever machine: proves that it runs, and records nothing

It needs torch, Pillow and what accel-advisor depends on, and no network. Where accel-advisor is not installed, it is
found beside this file.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from benchmarks.gpu.surroundings import RESULTS, about, find_ourselves, keep, without_gpu

MINUTES = 8.5
"""For everything, so that ten are not reached."""
WORKLOADS = ("images", "text", "tabular", "large", "compute")
OTHERS = {"fixes": 60.0, "fetches": 100.0}
"""What else is measured, with the seconds that it takes: after the workloads, where there is time, or where it is
named."""
BUDGET, SHORT_BUDGET, QUICK_BUDGET = 25.0, 12.0, 8.0
"""Seconds of search that `tune` is given; the second where a workload has less than `AMPLE` seconds."""
LEAST_BUDGET = 5.0
"""What `tune` takes."""
LEAST, AMPLE = 60.0, 80.0
"""Seconds of a workload, with 16 cores, for the choice and the cells of rules of thumb; and for all of it."""
PATIENCE = 40.0
"""Seconds that a part may take beyond its share of them; then whatever it started is ended."""
SAID = 200
"""Characters of a failure that are recorded."""


def overdue(*_: object) -> None:
    """Something hangs: ends it.

    Raises:
        TimeoutError: always.
    """
    import psutil

    for child in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.NoSuchProcess):
            child.kill()
    raise TimeoutError("it took too long, and was ended")


def run(options: argparse.Namespace, found: dict[str, Any], folder: Path) -> bool:
    """Everything, within the time; what there is of it is written after each part. Whether nothing failed."""
    import torch

    from accel_advisor.machine.bandwidth import measure
    from accel_advisor.machine.machine import inspect_machine
    from accel_advisor.tuning.trial.trial_errors import TrialError
    from benchmarks.gpu import fetches, races
    from benchmarks.gpu.scoring import score
    from benchmarks.gpu.workloads import make_data, trainings

    began = time.monotonic()
    deadline = began + 60 * options.minutes
    device = torch.accelerator.current_accelerator() if torch.accelerator.is_available() else None
    here = about(device.type if device is not None else "cpu")
    known = isinstance(found.get("copies"), str) and found.get("machine") == here["machine"]
    found |= here | {"quick": options.quick}
    failed = list[str]()
    wanted = [name for name in WORKLOADS if not options.only or name in options.only]
    others = [name for name in OTHERS if not options.only or name in options.only]

    def say(words: str) -> None:
        print(f"{time.monotonic() - began:6.1f} s  {words}", flush=True)

    def part(name: str, until: float, work: Callable[[dict[str, Any]], None]) -> None:
        """One part with its own date; the others are worth having where it fails."""
        say(name)
        start, result = time.monotonic(), dict[str, Any](here)
        signal.signal(signal.SIGALRM, overdue)
        signal.setitimer(signal.ITIMER_REAL, max(0.0, until - start) + PATIENCE)
        try:
            work(result)
        except (TrialError, RuntimeError, OSError, ValueError, subprocess.SubprocessError) as error:
            said = error.reason if isinstance(error, TrialError) else str(error)
            result["failed"] = said[:SAID] or type(error).__name__
            say(f"{name} failed: {result['failed']}")
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0.0)
        result["seconds"] = round(time.monotonic() - start, 1)
        where = found if name in OTHERS else found["workloads"]
        if "failed" in result:
            failed.append(name)
        if "failed" not in result or "failed" in where.get(name, {"failed": ""}):  # what was measured before stays
            where[name] = result
        keep(options.json, found)

    if not known:
        copies = measure()
        found["copies"] = copies if isinstance(copies, str) else copies.sentence
    say(found["copies"])
    photos, documents = (48, 100) if options.quick else (512, 2000)
    make_data(folder, photos=photos * ("images" in wanted), documents=documents * ("text" in wanted))
    say("data are made")
    kept = sum(OTHERS[name] for name in others)
    if not options.only and deadline - time.monotonic() - kept < LEAST * len(wanted):
        kept = 0.0
    workloads = {one.name: one for one in trainings(folder, int(inspect_machine().cores), quick=options.quick)}
    for number, name in enumerate(wanted):
        start = time.monotonic()
        share = max(0.0, deadline - kept - start) / (len(wanted) - number)
        budget = options.budget or (QUICK_BUDGET if options.quick else BUDGET if share > AMPLE else SHORT_BUDGET)
        until = start + share
        part(name, until, partial(score, workloads[name], until=until, budget=budget, quick=options.quick))
    measured: dict[str, Callable[..., dict[str, Any]]] = {races.NAME: races.race, fetches.NAME: fetches.fetches}
    for number, name in enumerate(others):
        if not options.only and time.monotonic() + OTHERS[name] > deadline:
            say(f"{name}: no time is left; --only {name} measures it alone")
            continue
        work = partial(measured[name], folder / name, quick=options.quick)
        until = deadline - sum(OTHERS[later] for later in others[number + 1 :])
        part(name, max(until, time.monotonic() + OTHERS[name]), partial(_into, work))
    say("ends")
    return not failed


def _into(work: Callable[[], dict[str, Any]], result: dict[str, Any]) -> None:
    result |= work()


def earlier(path: Path | None, options: argparse.Namespace) -> dict[str, Any]:
    """What the parts of this call are added to: what the file has, where only some parts are to be measured.

    Raises:
        ValueError: the file holds something else.
    """
    if not options.only or path is None or not path.exists():
        return {"workloads": {}}
    try:
        found = json.loads(path.read_text())
    except ValueError as error:
        raise ValueError(f"{path} holds no record to add to ({error}): name another file with --json") from error
    if not isinstance(found, dict) or not isinstance(found.get("workloads"), dict):
        raise ValueError(f"{path} holds no record of this benchmark to add to: name another file with --json")
    if found.get("quick") is not options.quick:
        kind = "a real measurement" if options.quick else "a quick proof"
        raise ValueError(f"{path} holds {kind}, and this is none: name another file with --json")
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--quick", action="store_true", help="small, for a proof; written only with --json")
    parser.add_argument("--json", type=Path, metavar="FILE", help="what to write; else the recorded result")
    parser.add_argument(
        "--only",
        action="append",
        default=[],
        choices=(*WORKLOADS, *OTHERS),
        help="only this part, which is added to what the file has; may be given several times",
    )
    parser.add_argument("--minutes", type=float, default=MINUTES, help="for everything")
    parser.add_argument("--budget", type=float, metavar="SECONDS", help="of `tune`; else what the time allows")
    options = parser.parse_args()
    if options.budget is not None and options.budget < LEAST_BUDGET:
        parser.error(f"--budget {options.budget:g} is too short: a search takes at least {LEAST_BUDGET:g} seconds")
    for name in ("torch", "PIL"):
        if find_spec(name) is None:
            print(f"{name} is missing here, and the scripts that are timed need it", file=sys.stderr)
            return 2
    if without_gpu(quick=options.quick, any_accelerator=True):
        return 2
    options.json = options.json or (None if options.quick else RESULTS / "gpu.json")
    try:
        found = earlier(options.json, options)
    except (ValueError, OSError) as error:
        print(error, file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory(prefix="gpu-benchmark-") as name:
        find_ourselves(Path(name))
        from benchmarks.gpu.scoring import tables

        right = run(options, found, Path(name) / "data")
        print(f"\n{tables(found)}")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
