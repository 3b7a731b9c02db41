"""What habits of training code cost on a GPU: each step with the habit beside the same step without it, in turns.

    python benchmarks/gpu/habits.py            with a GPU: 80 s, writes benchmarks/results/habits.json
    python benchmarks/gpu/habits.py --quick    small, on whatever machine: proves that it runs

``benchmarks/gpu/costs_page.py`` makes docs/costs.md of the record.

All steps run in one process on data that is on the device already. A block is at least a tenth of a second of steps,
with the device synchronised at both ends; in each round every kind of step has a block, in an order that is drawn. A
cost is the ratio of neighbouring blocks, with an interval of 95 % over the rounds. With ``--only`` the other groups of
the record stay.
"""

from __future__ import annotations

import argparse
import gc
import json
import math
import sys
import tempfile
import time
from pathlib import Path
from random import Random
from statistics import median
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from benchmarks.gpu.surroundings import RESULTS, about, find_ourselves, keep, provenance, without_gpu

ROUNDS, LEAST_ROUNDS = 9, 3
SETTLING = 2
"""Steps at the start of a block that are not timed."""
SECONDS = 80.0


def measured(group: Any, synchronize: Any, *, quick: bool, until: float) -> dict[str, Any]:
    """The steps of a group, and what each habit adds; at least three rounds, and more before ``until`` (on
    :func:`time.monotonic`)."""
    from accel_advisor.tuning.search.statistics import gain

    variants = {one.name: one for one in group.build()}
    counts, peaks = {}, {}
    for name, one in variants.items():
        one.prepare()
        for _ in range(1 if quick else 5):
            one.step()
        synchronize()
        peaks[name] = _peak(one)
        took = _seconds(one, 3, synchronize)
        counts[name] = 3 if quick else max(3, math.ceil(group.block / took))
    times: dict[str, list[float]] = {name: [] for name in variants}
    random = Random(group.name)
    for number in range(2 if quick else ROUNDS):
        if number >= LEAST_ROUNDS and time.monotonic() > until:
            break
        order = list(variants)
        random.shuffle(order)
        for name in order:
            variants[name].prepare()
            times[name].append(_seconds(variants[name], counts[name], synchronize))
    habits = []
    for name, one in variants.items():
        if not one.code:
            continue
        plain, found = times[one.against], gain(times[name], times[one.against])
        habits.append(
            {
                "code": one.code,
                "habit": one.words,
                "without": 1e3 * median(plain),
                "with": 1e3 * median(times[name]),
                "microseconds": 1e6 * median(bad - good for bad, good in zip(times[name], plain, strict=True)),
                "ratio": found.ratio,
                "low": found.low,
                "high": found.high,
                "rounds": found.pairs,
                "mebibytes": round((peaks[name] - peaks[one.against]) / (1 << 20), 1),
            }
        )
    return {"about": group.about, "launch": 1e3 * _launch(next(iter(variants.values())), synchronize), "habits": habits}


def _seconds(variant: Any, steps: int, synchronize: Any) -> float:
    """Seconds of a step, over so many."""
    for _ in range(SETTLING):
        variant.step()
    synchronize()
    began = time.perf_counter()
    for _ in range(steps):
        variant.step()
    synchronize()
    return (time.perf_counter() - began) / steps


def _peak(variant: Any) -> int:
    """The most bytes that tensors take on the device during a step."""
    import torch

    if not torch.cuda.is_available():
        return 0
    torch.cuda.reset_peak_memory_stats()
    variant.step()
    return torch.cuda.max_memory_allocated()


def _launch(variant: Any, synchronize: Any) -> float:
    """Seconds until the host has queued a step that finds the device idle."""
    taken = []
    variant.prepare()
    for _ in range(5):
        synchronize()
        began = time.perf_counter()
        variant.step()
        taken.append(time.perf_counter() - began)
        synchronize()
    return median(taken)


def table(found: dict[str, Any]) -> str:
    """The record as Markdown."""
    lines = [f"{provenance(found)}.", ""]
    for name, group in found["groups"].items():
        lines += [f"### {name[0].upper()}{name[1:]}", "", f"{group['about']}.", ""]
        if "failed" in group:
            lines += [f"Failed: {group['failed']}", ""]
            continue
        lines += [
            "| rule | habit | step without | it adds | times as long (95 % interval) | memory |",
            "|---|---|--:|--:|--:|--:|",
        ]
        lines += [
            f"| {one['code']} | {one['habit']} | {one['without']:.2f} ms | {_added(one)} "
            f"| {one['ratio']:.2f} ({one['low']:.2f} to {one['high']:.2f}) | {_memory(one)} |"
            for one in group["habits"]
        ]
        lines.append("")
    return "\n".join(lines[:-1])


def _added(one: dict[str, Any]) -> str:
    """Time that the habit adds, where its interval excludes none."""
    if one["low"] <= 1.0 <= one["high"]:
        return "nothing seen"
    added = one["microseconds"]
    return f"{added:,.0f} µs" if abs(added) < 10_000 else f"{added / 1000:,.1f} ms"


def _memory(one: dict[str, Any]) -> str:
    """What the habit adds to the most that is in use at once; nothing below a hundredth of a gibibyte."""
    more = one.get("mebibytes", 0.0) / 1024
    return f"{more:+.2f} GiB" if abs(more) >= 0.01 else ""


def main() -> int:
    """Measures all groups; 1 where one failed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--quick", action="store_true", help="small, for a proof; written only with --json")
    parser.add_argument("--json", type=Path, metavar="FILE", help="what to write; else the recorded result")
    parser.add_argument("--only", action="append", default=[], metavar="GROUP")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="for everything, as near as whole rounds come")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="gpu-benchmark-") as folder:
        find_ourselves(Path(folder))
        import torch

        from benchmarks.gpu.habit_groups import groups
        from benchmarks.gpu.habit_waits import Waits

        if without_gpu(quick=options.quick):
            return 2
        there = torch.cuda.is_available()
        target = options.json or (None if options.quick else RESULTS / "habits.json")
        device = torch.device("cuda" if there else "cpu")
        found = about(device.type) | {"quick": options.quick, "groups": {}}
        if options.only and target is not None and target.exists():
            found["groups"] = json.loads(target.read_text())["groups"]
        deadline = time.monotonic() + options.seconds
        every = groups(device, quick=options.quick)
        chosen = [one for one in every if not options.only or one.name in options.only]
        synchronize = Waits(device, options.quick).synchronize
        for number, group in enumerate(chosen):
            began = time.monotonic()
            share = max(0.0, deadline - began) / (len(chosen) - number)
            try:
                result = measured(group, synchronize, quick=options.quick, until=began + share)
            except RuntimeError as error:  # out of memory, or a kernel that is missing: the others are worth having
                result = {"about": group.about, "failed": str(error)[:200]}
            gc.collect()
            if there:
                torch.cuda.empty_cache()
            result |= {"seconds": round(time.monotonic() - began, 1), "date": found["date"], "commit": found["commit"]}
            groups_so_far = found["groups"] | {group.name: result}
            found["groups"] = {one.name: groups_so_far[one.name] for one in every if one.name in groups_so_far}
            print(f"{group.name}: {json.dumps(result)}", flush=True)
            keep(target, found)
        print(f"\n{table(found)}")
    return int(any("failed" in one for one in found["groups"].values()))


if __name__ == "__main__":
    sys.exit(main())
