"""Whether the shares of a step that a trial reports are those that torch.profiler sees of the same steps.

    python benchmarks/gpu/profiled.py            with a GPU: half a minute, writes benchmarks/results/profiled.json
    python benchmarks/gpu/profiled.py --quick    small, on whatever machine: proves that it runs, and judges nothing

The loop (``profiled_loop.py``) runs under the probe and under torch.profiler at once: the profiler slows the steps, so
both must see the same ones. From the profile the seconds of each block of the trial are cut out. A kernel that runs is
computing there, a copy from the host while none runs is a transfer, an idle device is waiting while the loop asks for a
batch, and anything else is the script's own. Exits with 1 where a share is further than 3 points off, or a loop could
not be measured.
"""

from __future__ import annotations

import argparse
import json
import math
import shutil
import socket
import sys
import tempfile
import threading
import time
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from benchmarks.gpu.surroundings import RESULTS, about, find_ourselves, keep, without_gpu

POINTS = 3.0
BLOCKS = 2
SECONDS = 0.8
"""Of a block, at least."""
PATIENCE = 60.0
"""Seconds that a loop may take, its start and the evaluation of its profile included."""


def loops(*, quick: bool) -> dict[str, Any]:
    """What is tried, by name."""
    from benchmarks.gpu.profiled_loop import Plan

    heavy = Plan(layers=4, width=4096, rows=4096)
    light = replace(heavy, rows=1024)
    found = {
        "bound by compute": heavy,
        "bound by the loader": replace(light, sleep=0.02),
        "bound by transfers": replace(light, layers=1, copied=64 << 20),
        "a little of everything": replace(light, sleep=0.01, host=0.01, copied=64 << 20),
        "bound by compute, and no loss is read": replace(heavy, sync=False),
    }
    if not quick:
        return found
    small = {"width": 64, "rows": 256}
    return {name: replace(plan, copied=min(plan.copied, 1 << 20), **small) for name, plan in found.items()}


def measured(plan: Any, *, quick: bool) -> list[dict[str, Any]]:
    """The shares of each block, by the trial and by the profiler.

    Raises:
        TrialError: the script could not be run.
        RuntimeError: it did not say what the profiler saw.
    """
    from accel_advisor.tuning.probe.channel.wire import BASELINE, Measure
    from accel_advisor.tuning.target.command import Command
    from accel_advisor.tuning.trial.trial import Trial
    from accel_advisor.tuning.trial.trial_errors import ScriptFinished

    folder = Path(tempfile.mkdtemp(prefix="profiled-"))
    try:
        script = folder / "train.py"
        shutil.copy(Path(__file__).with_name("profiled_loop.py"), script)
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
            listener.bind(str(folder / "said"))
            listener.listen()
            listener.settimeout(PATIENCE)
            said: list[Any] = []
            ears = threading.Thread(target=_hear, args=(listener, said), daemon=True)
            ears.start()
            words = (json.dumps(asdict(replace(plan, ready=str(folder / "done")))), str(folder / "said"))
            with Trial(Command(script, None, words, folder), deadline=time.monotonic() + PATIENCE) as trial:
                trial.start()
                seconds = 0.2 if quick else SECONDS
                blocks = [trial.measure(Measure(BASELINE, min_batches=8, min_seconds=seconds)) for _ in range(BLOCKS)]
                (folder / "done").touch()
                with suppress(ScriptFinished):
                    trial.measure(Measure(BASELINE, min_batches=1, min_seconds=math.inf))
            ears.join(timeout=10)
        if not said or "failed" in said[0]:
            raise RuntimeError(said[0]["failed"] if said else "the script did not say what the profiler saw")
        return [compared(block, said[0]) for block in blocks]
    finally:
        shutil.rmtree(folder)


def _hear(listener: socket.socket, said: list[Any]) -> None:
    with suppress(TimeoutError, OSError), listener.accept()[0] as connection, connection.makefile() as words:
        said.append(json.load(words))


def compared(block: Any, seen: dict[str, list[list[float]]]) -> dict[str, Any]:
    """The shares of a block of the trial, and of the same seconds in the profile; in per cent.

    Args:
        block: of the trial; ``began`` and ``seconds`` are on the clock of the profile's spans.
        seen: spans of each part.
    """
    from accel_advisor.tuning.probe.measuring.time_spans import exclusive, length, union

    window = [(block.began, block.began + block.seconds)]
    spans = {part: [(begin, end) for begin, end in found] for part, found in seen.items()}
    names = ("wait", "transfer", "compute", "host")
    parts = exclusive(window, union(spans["compute"]), spans["transfer"], union(spans["fetch"]))
    ours = {name: round(100 * getattr(block, name) / block.seconds, 2) for name in names}
    theirs = {name: round(100 * part / block.seconds, 2) for name, part in zip(names, parts, strict=True)}
    return {
        "steps": block.batches,
        "milliseconds": round(1e3 * block.seconds / block.batches, 3),
        "reported": ours,
        "profiled": theirs,
        "kernels": sum(begin >= window[0][0] and end <= window[0][1] for begin, end in spans["compute"]),
        "busy seconds in all": round(length(union([*spans["compute"], *spans["transfer"]])), 3),
        "off": round(max(abs(ours[name] - theirs[name]) for name in names), 2),
    }


def main() -> int:
    """Runs, prints and records."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--quick", action="store_true", help="small, for a proof; written only with --json")
    parser.add_argument("--only", default="", metavar="TEXT", help="loops whose names contain this")
    parser.add_argument("--seconds", type=float, default=30.0, help="after which no further loop begins")
    parser.add_argument("--json", type=Path, metavar="FILE", help="what to write; else the recorded result")
    options = parser.parse_args()
    import torch

    if without_gpu(quick=options.quick):
        return 2
    options.json = options.json or (None if options.quick else RESULTS / "profiled.json")
    began, worst = time.monotonic(), 0.0
    with tempfile.TemporaryDirectory(prefix="gpu-benchmark-") as name:
        find_ourselves(Path(name))
        from accel_advisor.tuning.trial.trial_errors import TrialError

        found = about("cuda" if torch.cuda.is_available() else "cpu") | {"quick": options.quick, "limit": POINTS}
        found["loops"] = {}
        for loop, plan in loops(quick=options.quick).items():
            if options.only not in loop or time.monotonic() - began > options.seconds:
                continue
            try:
                blocks = measured(plan, quick=options.quick)
            except (TrialError, RuntimeError, OSError, ValueError) as error:
                blocks, worst = [], math.inf
                found["loops"][loop] = {"failed": str(error)[:300]}
                print(f"{loop}: failed: {error}", flush=True)
            for block in blocks:
                print(f"{loop}: {block['off']:.2f} points; {block}", flush=True)
                worst = max(worst, block["off"])
            if blocks:
                found["loops"][loop] = {"off": max(block["off"] for block in blocks), "blocks": blocks}
            found["worst"] = worst if math.isfinite(worst) else None
            keep(options.json, found)
    print(f"worst: {worst:.2f} points, after {time.monotonic() - began:.0f} s")
    return int(worst > POINTS and not (options.quick and math.isfinite(worst)))


if __name__ == "__main__":
    sys.exit(main())
