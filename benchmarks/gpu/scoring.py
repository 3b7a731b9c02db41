"""One workload: its grid, what `tune` chooses, and what pinned memory does to copies and to the training."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

from accel_advisor.tuning.probe.channel.wire import Block, Settings
from accel_advisor.tuning.search.settings import arguments
from accel_advisor.tuning.search.statistics import Interval, gain
from accel_advisor.tuning.target.command import Command
from accel_advisor.tuning.trial.trial import Trial
from accel_advisor.tuning.trial.trial_errors import TrialError
from accel_advisor.tuning.wording.figures import label

from ..regret.grid import Grid, record
from .workloads import Training

BUDGET, QUICK_BUDGET = 25.0, 8.0
"""Seconds of search that `tune` is given."""
AFTER_GRID = 95.0
"""Seconds that are kept for `tune`, the timing of its choice, and the test of the claims."""
NEAR = 0.94
ROUNDS = 4
LIMIT = 240.0
CLAIMS = {"transfer": (1.3, 1.5), "training": (1.25, 1.25)}
"""What is said of pinned memory: copies gain 30 to 50 %, training takes 20 % less time; as ratios of speeds."""


def score(workload: Training, deadline: float, *, quick: bool) -> dict[str, Any]:
    """Everything about one workload; the grid is read again, near its best, while there is time before ``deadline``
    (on :func:`time.monotonic`).

    Raises:
        RuntimeError: the script could not be timed as it is.
    """

    def say(words: str) -> None:
        print(f"    {words}", flush=True)

    with Grid(workload) as grid:
        failed = _fill(grid, workload, deadline - AFTER_GRID, quick=quick)
        say(f"grid: best {label(grid.best)}, {grid.rate(grid.best):,.0f} samples/s")
        ours = _ours(workload, quick=quick)
        result: dict[str, Any] = {"about": workload.about, "failed_cells": failed, "ours": ours}
        if "failed" in ours:
            return result | {"failed": f"tune: {ours['failed']}", "cells": record(grid)}
        chosen = workload.cell(Settings(**ours["settings"]))
        if chosen not in grid.readings:
            grid.add(chosen, quick=quick, say=lambda _: None)
        say(f"tune: {label(chosen)}, {grid.rate(chosen):,.0f} samples/s, after {ours['seconds']} s")
        realised = grid.rate(chosen) / grid.rate(workload.cell(workload.baseline))
        ours |= {
            "share": round(grid.rate(chosen) / grid.rate(grid.best), 4),
            "realised": round(realised, 4),
            "of_ceiling": round(realised / max(1.0, ours["ceiling"]), 4) if ours["ceiling"] else None,
        }
        result |= {"best": arguments(grid.best), "cells": record(grid)}
    result["pinning"] = pinning(workload, deadline, quick=quick)
    say(f"pinning: {_pinned_words(result['pinning'])}")
    return result


def _fill(grid: Grid, workload: Training, until: float, *, quick: bool) -> dict[str, str]:
    """Reads every cell once, and those near the best again while there is time; says which cells failed."""
    random, failed = Random(workload.name), dict[str, str]()
    cells = workload.cells()
    for number in range(1 if quick else ROUNDS):
        for cell in cells if number % 2 == 0 else reversed(cells):
            if number and time.monotonic() > until:
                return failed
            try:
                grid.read(cell, quick=quick)
            except RuntimeError as error:
                if cell == workload.cell(workload.baseline):
                    raise
                failed[label(cell)] = str(error)
                grid.readings.pop(cell, None)
        best = grid.rate(grid.best)
        cells = [cell for cell in cells if cell in grid.readings and grid.rate(cell) >= NEAR * best]
        random.shuffle(cells)
    return failed


def _ours(workload: Training, *, quick: bool) -> dict[str, Any]:
    """What `accel-advisor tune` says of the script."""
    with TemporaryDirectory(prefix="gpu-benchmark-") as name:
        script, report = Path(name) / "project" / "train.py", Path(name) / "record.json"
        script.parent.mkdir()
        script.write_text(workload.source(workload.baseline))
        budget = QUICK_BUDGET if quick else BUDGET
        command = [sys.executable, "-m", "accel_advisor", "tune", "train.py", "--json", str(report)]
        began = time.monotonic()
        try:
            ran = subprocess.run(
                [*command, "--budget", f"{budget:g}"],
                cwd=script.parent,
                capture_output=True,
                text=True,
                timeout=LIMIT,
                stdin=subprocess.DEVNULL,
            )
        except subprocess.TimeoutExpired:
            return {"failed": f"no answer within {LIMIT:.0f} s"}
        seconds = round(time.monotonic() - began, 1)
        if not report.exists():
            last = (ran.stderr or ran.stdout).strip().rpartition("\n")[2]
            return {"failed": last or f"exit status {ran.returncode}"}
        said = json.loads(report.read_text())
    trained = said["loaders"][0]
    return {
        "settings": trained["recommended"]["settings"],
        "predicted": trained["gain"],
        "ceiling": said["ceilings"].get("no-wait", {}).get("ratio"),
        "shares": said["shares"],
        "sentence": said["sentence"],
        "kept": said["kept"],
        "notes": said["notes"],
        "use": {"now": said["tried"][0]["device"], "recommended": _use(said)},
        "samples": len(said["samples"]),
        "seconds": seconds,
    }


def _use(said: dict[str, Any]) -> dict[str, Any] | None:
    wanted = said["loaders"][0]["recommended"]["settings"]
    return next((row["device"] for row in said["tried"] if row["settings"] == wanted), None)


def pinning(workload: Training, deadline: float, *, quick: bool) -> dict[str, Any]:
    """Blocks with pageable batches, pinned ones, and pinned ones whose copies do not block, in turns within one loop:
    two rounds, and two more before ``deadline``."""
    count = workload.counts[len(workload.counts) // 2]
    kinds = {
        "pageable": Settings(count, 2),
        "pinned": Settings(count, 2, pin_memory=True),
        "non-blocking": Settings(count, 2, pin_memory=True, non_blocking=True),
    }
    blocks: dict[str, list[Block]] = {name: [] for name in kinds}
    with TemporaryDirectory(prefix="gpu-benchmark-") as name:
        script = Path(name) / "train.py"
        script.write_text(workload.source(workload.baseline))
        try:
            with Trial(Command(script, None, (), Path(name)), deadline=time.monotonic() + 75) as trial:
                trial.start()
                for number in range(2 if quick else 4):
                    if number >= 2 and time.monotonic() > deadline:
                        break
                    for kind in kinds if number % 2 == 0 else reversed(kinds):
                        seconds = 0.2 if quick else 0.6
                        blocks[kind].append(trial.measure(kinds[kind], min_batches=8, min_seconds=seconds))
                trial.stop()
        except TrialError as error:
            if not all(blocks.values()):
                return {"workers": count, "failed": error.reason}
    return {"workers": count} | claims(blocks)


def claims(blocks: dict[str, list[Block]]) -> dict[str, Any]:
    """What pinned memory did, by kind of transfer: ``pageable``, ``pinned``, ``non-blocking``.

    Shares are those of the step: what the device computes meanwhile is not counted for a transfer. ``transfer`` and
    ``training`` say how many times as fast copies and steps are as with pageable batches.
    """
    plain, found = blocks["pageable"], dict[str, Any](transfer_share={})
    for kind, taken in blocks.items():
        found["transfer_share"][kind] = round(sum(b.transfer for b in taken) / sum(b.seconds for b in taken), 4)
    for kind in ("pinned", "non-blocking"):
        pairs = list(zip(plain, blocks[kind], strict=False))
        copies = [(old.transfer / old.batches, new.transfer / new.batches) for old, new in pairs]
        copied = gain([old for old, _ in copies], [new for _, new in copies]) if all(map(all, copies)) else None
        steps = gain([old.seconds / old.batches for old, _ in pairs], [new.seconds / new.batches for _, new in pairs])
        found[kind] = {"transfer": _judged("transfer", copied), "training": _judged("training", steps)}
    return found


def _judged(name: str, found: Interval | None) -> dict[str, Any] | None:
    """A ratio of speeds with its interval, and what it does to the claim; None where there was nothing to copy."""
    if found is None:
        return None
    least, most = CLAIMS[name]
    closed = found.low > 0
    if not closed:
        verdict = "open"
    else:
        verdict = "refuted" if found.high < least else "exceeded" if found.low > most else "confirmed"
    low, high = (round(found.low, 4), round(found.high, 4)) if closed else (None, None)
    return {"ratio": round(found.ratio, 4), "low": low, "high": high, "claim": verdict}


def tables(found: dict[str, Any]) -> str:
    """What a person reads, as Markdown."""
    done = {name: one for name, one in found["workloads"].items() if "failed" not in one}
    machine, versions = found["machine"], found["versions"]
    gpus = ", ".join(f"{gpu['name']} (driver {gpu['driver']})" for gpu in machine["gpus"]) or machine["device"]
    lines = [
        f"{found['date']}, {found['commit']}, {gpus}, {machine['cores']:g} cores of {machine['cpu']}, "
        f"torch {versions['torch']}." + (" A quick proof: its figures mean nothing." if found["quick"] else ""),
        "",
        "| workload | best of the grid | tune chose | share of the best | gain predicted | gain on the grid "
        "| of the no-wait ceiling | seconds |",
        "|---|---|---|--:|--:|--:|--:|--:|",
    ]
    for name, one in done.items():
        ours = one["ours"]
        chosen, best = label(Settings(**ours["settings"])), label(Settings(**one["best"]))
        of_ceiling = f"{100 * ours['of_ceiling']:.0f} %" if ours["of_ceiling"] else ""
        lines.append(
            f"| {name} | {best} | {chosen} | {100 * ours['share']:.0f} % | {ours['predicted']['ratio']:.2f} "
            f"| {ours['realised']:.2f} | {of_ceiling} | {ours['seconds']:.0f} |"
        )
    lines += ["", f"Copies: {found['copies']}.", ""]
    lines += [f"{name}: {_pinned_words(one['pinning'])}  " for name, one in done.items()]
    lines += [f"{one['sentence']}.  " for one in found.get("fixes", {}).get("raced", ())]
    failed = {name: one["failed"] for name, one in found["workloads"].items() if "failed" in one}
    lines += [f"{name} failed: {reason}  " for name, reason in failed.items()]
    return "\n".join(lines)


def _pinned_words(found: dict[str, Any]) -> str:
    if "failed" in found:
        return str(found["failed"])
    shares = ", ".join(f"{kind} {100 * share:.1f} %" for kind, share in found["transfer_share"].items())
    parts = [f"with {found['workers']} workers the transfer's share of a step is: {shares}"]
    for kind in ("pinned", "non-blocking"):
        for name in ("transfer", "training"):
            one = found[kind][name]
            if one is not None:
                ends = f" ({one['low']:.2f}-{one['high']:.2f})" if one["low"] is not None else ""
                parts.append(f"{kind} {name} {one['ratio']:.2f}x{ends}, the claim: {one['claim']}")
    return "; ".join(parts)
