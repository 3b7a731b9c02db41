"""What the probe costs a training loop on a GPU: ``benchmarks/overhead.py`` there, in less than a minute.

    python benchmarks/gpu/overhead.py            with a GPU: writes "gpu" of benchmarks/results/overhead.json
    python benchmarks/gpu/overhead.py --quick    small, on whatever machine: proves that it runs

There the probe records two events for each section of a step besides. A *short* step is bound by its launches: sixty
modules that compute next to nothing. A *long* one is bound by the GPU, which computes all the time with the same
modules, only larger: most of what the probe takes is hidden behind it. The loop reads its loss in every step, and the
host is awake while it waits for that, so that processor time says no more than the wall does; the shares go by the
wall. One process gives one number, and six the interval. One more runs without the probe: there is nothing to take out
then, so its two kinds of blocks must not differ ("nothing").
"""

from __future__ import annotations

import argparse
import json
import os
import queue
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from benchmarks.gpu.surroundings import RESULTS, about, find_ourselves, without_gpu

if TYPE_CHECKING:
    from benchmarks.overhead import Process
    from benchmarks.overhead_loop import Plan

PROCESSES = 6
"""The least that have an interval of 95 % by their order alone."""
FAILURES = (OSError, subprocess.SubprocessError, queue.Empty)
"""Of a process that ends before it has said anything."""
STEPS = {
    "short": "sixty small modules, their backward pass and SGD",
    "long": "the same with matrices of 2,048, so that the GPU computes all the time",
}


def plan(device: str, *, quick: bool) -> Plan:
    """What a process times."""
    from benchmarks.overhead_loop import Blocks, Plan

    if quick:
        kinds = {"short": Blocks(0.0, rounds=2, skip=2, steps=4), "long": Blocks(0.0, 2, 2, 4, width=64, rows=128)}
        return Plan(0, kinds, False, warm=20, periods=2, seen=Blocks(0.0, rounds=1, skip=1, steps=4), device=device)
    kinds = {
        "short": Blocks(0.0, rounds=6, skip=10, steps=25),
        "long": Blocks(0.0, rounds=4, skip=3, steps=5, width=2048, rows=1344),
    }
    return Plan(0, kinds, False, periods=8, seen=Blocks(0.0, rounds=2, skip=3, steps=8), device=device)


def section(alone: Process, watched: Sequence[Process]) -> dict[str, Any]:
    """All that some processes say together, one of them without the probe."""
    from benchmarks.overhead import WALL, between, costs, difference, middle, quartile

    found: dict[str, Any] = {"processes": len(watched), "kinds": {}}
    for kind, words in STEPS.items():
        each = [costs(alone, one, kind) for one in watched]
        told = [cost["wall"] + 1e3 * cost["work"] * between(one) for cost, one in zip(each, watched, strict=True)]
        costing = {"wall": [cost["wall"] for cost in each], "all told": told}
        found["kinds"][kind] = {
            "step": words,
            "milliseconds a step": round(median(cost["work"] for cost in each), 3),
            "microseconds a step": {name: middle(values, 1) for name, values in costing.items()},
            "nothing, microseconds a step": round(1e6 * difference(alone["kinds"][kind], WALL), 1),
            "overhead": {
                name: middle([one / cost["work"] / 1e3 for one, cost in zip(values, each, strict=True)], 5)
                for name, values in costing.items()
            },
        }
    events = {name: [1e6 * difference(one["events"][name], WALL) for one in watched] for name in watched[0]["events"]}
    return found | {
        "events, microseconds": {name: middle(each, 2) for name, each in events.items()},
        "end of a block, microseconds": middle([1e6 * quartile(one["ends"]) for one in watched], 0),
        "threads, microseconds a second": middle([1e6 * one["threads"] for one in watched], 0),
    }


def main() -> int:
    """Measures, prints and records."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--quick", action="store_true", help="small, for a proof; written only with --json")
    parser.add_argument("--seconds", type=float, default=60.0, help="after which no further process begins")
    parser.add_argument("--json", type=Path, metavar="FILE", help="what to write; else the recorded result")
    parser.add_argument("--page", type=Path, metavar="FILE", help="put the results into this page, too")
    options = parser.parse_args()
    import torch

    if without_gpu(quick=options.quick):
        return 2
    options.json = options.json or (None if options.quick else RESULTS / "overhead.json")
    device, began = "cuda" if torch.cuda.is_available() else "cpu", time.monotonic()
    with tempfile.TemporaryDirectory(prefix="gpu-benchmark-") as name:
        find_ourselves(Path(name))
        from accel_advisor.tuning.trial.trial_errors import TrialError
        from benchmarks.overhead import bench, costs, write_results
        from benchmarks.recording import keep

        found = about(device) | {"load before": round(os.getloadavg()[0], 1), "quick": options.quick}
        with bench(plan(device, quick=options.quick)) as one:
            try:
                alone = one.alone(0)
            except FAILURES as error:
                print(f"the loop does not run by itself: {error}", file=sys.stderr)
                return 1
            print(f"{time.monotonic() - began:.0f} s: alone", flush=True)
            watched: list[Process] = []
            for number in range(2 if options.quick else PROCESSES):
                if watched and time.monotonic() - began > options.seconds:
                    break
                try:
                    watched.append(one.watched(number))
                except (TrialError, *FAILURES) as error:
                    print(f"{time.monotonic() - began:.0f} s: failed: {error}", flush=True)
                    continue
                said = {kind: costs(alone, watched[-1], kind) for kind in STEPS}
                words = "; ".join(
                    f"{kind} step of {cost['work']:.2f} ms {cost['wall']:.1f} us" for kind, cost in said.items()
                )
                print(f"{time.monotonic() - began:.0f} s: {words}", flush=True)
                found |= section(alone, watched)
                if options.json is not None:
                    record = json.loads(options.json.read_text()) if options.json.exists() else {}
                    keep(options.json, record | {"gpu": found})
    print(json.dumps(found, indent=1))
    if options.page is not None and options.json is not None and "kinds" in found:
        write_results(options.page, json.loads(options.json.read_text()))
    return 0 if "kinds" in found else 1


if __name__ == "__main__":
    sys.exit(main())
