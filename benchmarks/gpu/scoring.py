"""One workload: what `tune` chooses, and its grid, with what rules of thumb say."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

from accel_advisor.tuning.probe.channel.wire import Settings
from accel_advisor.tuning.search.settings import arguments
from accel_advisor.tuning.wording.figures import label

from ..regret.grid import Grid, record
from .surroundings import provenance
from .workloads import NOTHING, Training

NEAR = 0.94
ROUNDS = 4
LIMIT = 240.0
SAME = 1.02
"""Times as fast, or as slow, that a choice may be where nothing is to be gained."""
SAID = 200


def score(workload: Training, result: dict[str, Any], *, until: float, budget: float, quick: bool) -> None:
    """Puts everything about one workload into ``result``, as it is found: the choice first, then the grid, in which the
    choice is read among the other cells; again, near its best, while there is time before ``until`` (on
    :func:`time.monotonic`).

    Raises:
        RuntimeError: the script could not be timed as it is, or `tune` had no answer.
    """
    began = time.monotonic()

    def say(words: str) -> None:
        print(f"    {time.monotonic() - began:5.1f} s  {words}", flush=True)

    with Grid(workload) as grid:
        ours = _ours(workload, budget)
        chosen = workload.cell(Settings(**ours["settings"])) if "failed" not in ours else None
        say(f"tune: {ours['failed'] if chosen is None else label(chosen)}")
        parts = {"tune": round(time.monotonic() - began, 1)}
        result |= {"about": workload.about, "parts": parts, "ours": ours}
        try:
            failed, left_out = _fill(grid, workload, chosen, until, quick=quick)
        finally:
            result["cells"] = record(grid)
        parts["grid"] = round(time.monotonic() - began - parts["tune"], 1)
        counts = [len(readings) for readings in grid.readings.values()]
        say(f"grid: best {label(grid.best)}, {grid.rate(grid.best):,.0f} samples/s, of {len(counts)} cells")
        rules = {
            name: round(grid.rate(cell) / grid.rate(grid.best), 4)
            for name, rule in workload.rules().items()
            if (cell := workload.cell(rule)) in grid.readings
        }
        result |= {"failed_cells": failed, "left_out": left_out, "best": arguments(grid.best), "rules": rules}
        if chosen is None:
            raise RuntimeError(f"tune: {ours['failed']}")
        if chosen not in grid.readings:
            raise RuntimeError(f"the choice could not be timed: {failed[label(chosen)]}")
        realised = grid.rate(chosen) / grid.rate(workload.cell(workload.baseline))
        share = grid.rate(chosen) / grid.rate(grid.best)
        ours |= {
            "share": round(share, 4),
            "realised": round(realised, 4),
            "of_ceiling": round(realised / max(1.0, ours["ceiling"]), 4) if ours["ceiling"] else None,
        }
        if workload.answer == NOTHING:
            ours["right"] = ours["kept"] is not None or 1 / SAME <= realised <= SAME
        said = f", nothing to gain: {'right' if ours['right'] else 'wrong'}" if "right" in ours else ""
        say(f"the choice reaches {100 * share:.0f} % of the best, {realised:.2f} times the defaults{said}")


def _fill(
    grid: Grid, workload: Training, chosen: Settings | None, until: float, *, quick: bool
) -> tuple[dict[str, str], list[str]]:
    """Reads the cells of rules of thumb and the choice once in any case, the others while there is time, and then those
    near the best again; says which cells failed, and for which there was no time."""
    random, failed = Random(workload.name), dict[str, str]()
    baseline = workload.cell(workload.baseline)
    certain = list(dict.fromkeys((*workload.rules().values(), *([chosen] if chosen is not None else []))))
    rest = [cell for cell in workload.cells() if cell not in certain]
    random.shuffle(certain)
    longest = 0.0

    def read(cell: Settings) -> None:
        nonlocal longest
        began = time.monotonic()
        try:
            grid.read(cell, quick=quick)
        except RuntimeError as error:
            if cell == baseline:
                raise
            failed[label(cell)] = str(error)[:SAID]
            if not grid.readings[cell]:
                del grid.readings[cell]
        longest = max(longest, time.monotonic() - began)

    for cell in certain:
        read(cell)
    for number, cell in enumerate(rest):
        if time.monotonic() + longest > until:
            return failed, [label(cell) for cell in rest[number:]]
        read(cell)
    for _ in range(0 if quick else ROUNDS - 1):
        best = grid.rate(grid.best)
        again = [cell for cell in grid.readings if cell in (chosen, baseline) or grid.rate(cell) >= NEAR * best]
        for cell in random.sample(again, len(again)):
            if time.monotonic() + longest > until:
                return failed, []
            read(cell)
    return failed, []


def _ours(workload: Training, budget: float) -> dict[str, Any]:
    """What `accel-advisor tune` says of the script."""
    with TemporaryDirectory(prefix="gpu-benchmark-") as name:
        script, report = Path(name) / "project" / "train.py", Path(name) / "record.json"
        script.parent.mkdir()
        script.write_text(workload.source(workload.baseline))
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
    startup = next((block["seconds"] for block in said["blocks"] if block["what"] == "start"), None)
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
        "verdict": said["verdict"],
        "budget": budget,
        "seconds": seconds,
        "beyond_startup": round(seconds - startup, 1) if startup is not None else None,
    }


def _use(said: dict[str, Any]) -> dict[str, Any] | None:
    wanted = said["loaders"][0]["recommended"]["settings"]
    return next((row["device"] for row in said["tried"] if row["settings"] == wanted), None)


def tables(found: dict[str, Any]) -> str:
    """What a person reads, as Markdown."""
    done = {name: one for name, one in found["workloads"].items() if "failed" not in one}
    lines = [
        provenance(found) + "." + (" A quick proof: its figures mean nothing." if found["quick"] else ""),
        "",
        "| workload | best of the grid | tune chose | share of the best | gain predicted | gain on the grid "
        "| of the no-wait ceiling | seconds | beyond startup |",
        "|---|---|---|--:|--:|--:|--:|--:|--:|",
    ]
    for name, one in done.items():
        ours = one["ours"]
        chosen, best = label(Settings(**ours["settings"])), label(Settings(**one["best"]))
        of_ceiling = f"{100 * ours['of_ceiling']:.0f} %" if ours["of_ceiling"] else ""
        right = {True: " (right: nothing to gain)", False: " (wrong: nothing to gain)"}.get(ours.get("right"), "")
        beyond = f"{ours['beyond_startup']:.0f}" if ours["beyond_startup"] is not None else ""
        lines.append(
            f"| {name} | {best} | {chosen}{right} | {100 * ours['share']:.0f} % | {ours['predicted']['ratio']:.2f} "
            f"| {ours['realised']:.2f} | {of_ceiling} | {ours['seconds']:.0f} | {beyond} |"
        )
    names = list(dict.fromkeys(name for one in done.values() for name in one["rules"]))
    if names:
        lines += ["", f"| share of the best | tune | {' | '.join(names)} |", f"|---|{'--:|' * (1 + len(names))}"]
    for name, one in done.items():
        shares = [f"{100 * one['rules'][rule]:.0f} %" if rule in one["rules"] else "failed" for rule in names]
        lines.append(f"| {name} | {100 * one['ours']['share']:.0f} % | {' | '.join(shares)} |")
    lines += ["", f"Copies: {found['copies']}.  "]
    lines += [f"{one['sentence']}.  " for one in found.get("fixes", {}).get("raced", ())]
    parts = found["workloads"] | {name: found[name] for name in ("fixes", "fetches") if name in found}
    lines += [f"{name} failed: {one['failed']}  " for name, one in parts.items() if "failed" in one]
    others = {name: provenance(one) for name, one in parts.items() if "machine" in one}
    lines += [f"{name}: {said}.  " for name, said in others.items() if said != provenance(found)]
    return "\n".join(lines)
