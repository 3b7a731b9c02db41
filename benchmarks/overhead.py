"""What the probe costs a training loop that it only watches.

The loop (``overhead_loop.py``) runs under the probe in a trial as every other, served the settings of its own source.
Again and again it takes out of its process what the probe put into it and puts it back, and times every step: with the
probe and without in blocks that follow on each other in random order, in one process, so that nothing else differs
between the two. Of a block's steps the lower quartile counts, since what else runs on the machine can only make a step
slower, of the pairs of blocks the median. One process gives one number; the interval is that of their median over all
processes, by their order alone. The shares go by processor time, which a busy machine disturbs least, and which is all
that the probe takes within a step: it waits for nothing there. On a machine that does nothing else the time by the wall
must agree.

Three things tell whether that is the whole cost and nothing but it. The same loop runs by itself, too, in turns with
the other: there is nothing to take out then, so its two kinds of blocks must not differ ("nothing"). Whole processes
are compared as well ("process"): what cannot be taken out shows there, though far less exactly. And every event that
the probe sees in a step is timed by itself ("events"), in caches that are warm.

A *tiny* step calls sixty modules that compute next to nothing, so that it is mostly what torch itself takes to call
them. An *ordinary* step is the same after a wait of fixed length, as a loop waits for its accelerator where it reads
the loss. The processor does something else or nothing meanwhile and finds its caches cold, which makes
everything slower, the probe too. Its time hides behind nothing there, as it may where the accelerator is behind the
host, so the share of the step is an upper bound.

Outside the steps the probe takes two times more: at the end of a block, where the parent decides what comes next,
and for the threads that tell it that the child lives. "All told" includes both.

    python -m benchmarks.overhead --json benchmarks/results/overhead.json
"""

from __future__ import annotations

import argparse
import json
import math
import os
import queue
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from statistics import median
from typing import Any

from accel_advisor.fixer import write_atomically
from accel_advisor.tune.probe.wire import BASELINE
from accel_advisor.tune.trial import Command, Trial
from benchmarks import overhead_loop
from benchmarks.overhead_loop import ADDRESS, Blocks, Plan
from benchmarks.recording import machine

KINDS = {"tiny": Blocks(0.0, rounds=20, skip=20, steps=80), "ordinary": Blocks(0.019, rounds=30, skip=20, steps=8)}
TOLD = {
    "tiny": "sixty small modules, their backward pass and SGD",
    "ordinary": "the same, and 19 ms of waiting as for an accelerator",
}
WALL, PROCESSOR = 0, 1
COSTS = ("wall", "processor", "all told", "nothing", "process")
ONE_STEP = ("a batch", "sixty modules within one", "a backward pass", "an optimizer's step", "a call of Tensor.to")
"""The events of a step."""
BLOCK_SECONDS = 0.5
"""Of a block of a trial, at least."""
LIMIT = 0.005
"""The share of an ordinary step that the probe may take."""

Process = dict[str, Any]
"""What one process said."""


class Bench:
    """A folder with the loop, and a socket that it speaks to."""

    def __init__(self, folder: Path, kinds: dict[str, Blocks], device: str = "cpu") -> None:
        self.folder = folder
        self.kinds = kinds
        self.device = device
        self.script = folder / "train.py"
        shutil.copy(overhead_loop.__file__, self.script)
        os.environ[ADDRESS] = str(folder / "said")
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._listener.bind(os.environ[ADDRESS])
        self._listener.listen()
        self._said: queue.SimpleQueue[Process] = queue.SimpleQueue()
        threading.Thread(target=self._hear, daemon=True).start()

    def _hear(self) -> None:
        while True:
            with self._listener.accept()[0] as connection, connection.makefile() as said:
                self._said.put(json.load(said))

    def alone(self, seed: int) -> Process:
        """The loop without the probe."""
        command = [sys.executable, str(self.script), self._argument(Plan(seed, self.kinds, True, device=self.device))]
        subprocess.run(command, check=True, cwd=self.folder)
        return self._said.get(timeout=60)

    def watched(self, seed: int) -> Process:
        """The same in a trial."""
        plan = Plan(seed, self.kinds, False, device=self.device)
        command = Command(self.script, None, (self._argument(plan),), self.folder)
        with Trial(command, deadline=time.monotonic() + 600) as trial:
            trial.start()
            block = trial.measure(BASELINE, min_batches=plan.served, min_seconds=0.0)
            assert block.batches == plan.served
            while self._said.empty():
                trial.measure(BASELINE, min_batches=plan.period - 1, min_seconds=0.0)  # one is served before it counts
        return self._said.get()

    @staticmethod
    def _argument(plan: Plan) -> str:
        return json.dumps(asdict(plan))


@contextmanager
def bench(kinds: dict[str, Blocks], device: str = "cpu") -> Iterator[Bench]:
    """A bench in a folder of its own."""
    folder = Path(tempfile.mkdtemp(prefix="overhead-"))
    try:
        yield Bench(folder, kinds, device)
    finally:
        shutil.rmtree(folder)


def measure(one: Bench, minutes: float) -> list[tuple[Process, Process]]:
    """Pairs of processes, alone and watched in turns, as many as fit."""
    found: list[tuple[Process, Process]] = []
    began = time.monotonic()
    while (time.monotonic() - began) * (1 + 1 / max(len(found), 1)) < 60 * minutes:
        seed = len(found)
        watched = one.watched(seed) if seed % 2 else None
        alone = one.alone(seed)
        found.append((alone, watched or one.watched(seed)))
        for kind, cost in ((kind, costs(*found[-1], kind)) for kind in one.kinds):
            print(f"{seed} {kind}: {', '.join(f'{name} {each:.1f}' for name, each in cost.items())}", flush=True)
    return found


def quartile(values: Sequence[float]) -> float:
    """The lower one."""
    return sorted(values)[len(values) // 4]


def costs(alone: Process, watched: Process, kind: str) -> dict[str, float]:
    """What a pair of processes says of a step: its length without what it waits, in milliseconds, and microseconds by
    which it is longer with the probe."""
    arms, null = watched["kinds"][kind], alone["kinds"][kind]

    def level(blocks: Any) -> float:
        return quartile([each for block in blocks for each in block[WALL]])

    return {
        "work": 1e3 * level(arms["out"]),
        "wall": 1e6 * difference(arms, WALL),
        "processor": 1e6 * difference(arms, PROCESSOR),
        "nothing": 1e6 * difference(null, PROCESSOR),
        "process": 1e6 * (level(arms["in"]) - level([*null["in"], *null["out"]])),
    }


def difference(arms: dict[str, list[list[list[float]]]], clock: int) -> float:
    """Seconds by which a step is longer with the probe: the median over pairs of blocks that follow on each other."""
    pairs = zip(arms["in"], arms["out"], strict=True)
    return median(quartile(inside[clock]) - quartile(out[clock]) for inside, out in pairs)


def told(cost: float, watched: Process, step: float) -> float:
    """Microseconds a step of so many milliseconds, with the end of a block and the threads spread over its steps."""
    return cost + (quartile(watched["ends"]) / BLOCK_SECONDS + watched["threads"]) * 1e3 * step


def result(pairs: Sequence[tuple[Process, Process]], kinds: dict[str, Blocks]) -> dict[str, Any]:
    """All that the processes say together."""
    watched = [each for _, each in pairs]
    found = {}
    for kind, blocks in kinds.items():
        each = [costs(*pair, kind) for pair in pairs]
        steps = [cost["work"] + 1e3 * blocks.pause for cost in each]
        each = [
            {**cost, "all told": told(cost["processor"], one, step)}
            for cost, one, step in zip(each, watched, steps, strict=True)
        ]
        found[kind] = {
            "step": TOLD[kind],
            "steps": 2 * blocks.rounds * blocks.steps * len(pairs),
            "milliseconds a step": round(median(steps), 3),
            "microseconds a step": {name: middle([cost[name] for cost in each], 1) for name in COSTS},
            "overhead": {
                name: middle([cost[name] / step / 1e3 for cost, step in zip(each, steps, strict=True)], 5)
                for name in ("wall", "processor", "all told")
            },
        }
    events = {
        name: [1e6 * (quartile(one["events"][name]["in"]) - quartile(one["events"][name]["out"])) for one in watched]
        for name in watched[0]["events"]
    }
    together = [sum(each) for each in zip(*(events[name] for name in ONE_STEP), strict=True)]
    return {
        "pairs": len(pairs),
        "kinds": found,
        "events, microseconds": {name: middle(each, 2) for name, each in events.items()}
        | {"those of a tiny step": middle(together, 1)},
        "end of a block, microseconds": middle([1e6 * quartile(one["ends"]) for one in watched], 0),
        "threads, microseconds a second": middle([1e6 * one["threads"] for one in watched], 0),
        "shortest step, milliseconds": shortest(found["ordinary"]["microseconds a step"]),
        "taken out": watched[0]["taken"],
        "iterators": watched[0]["iterators"],
    }


def shortest(microseconds: dict[str, dict[str, float | None]]) -> dict[str, float | None]:
    """Of a shorter step, the probe may take more than it may, by the upper end of its interval."""
    ends = {name: microseconds[name]["high"] for name in ("processor", "all told")}
    return {name: None if end is None else math.ceil(end / LIMIT / 100) / 10 for name, end in ends.items()}


def middle(values: Sequence[float], digits: int) -> dict[str, float | None]:
    """The median and an interval that holds it with 95 % whatever the values' distribution, by the sign test; its ends
    are None where there are too few values."""
    values, count = sorted(values), len(values)
    outside, cut = 0.0, 0
    while cut < count and outside + math.comb(count, cut) / 2 ** (count - 1) <= 0.05:
        outside += math.comb(count, cut) / 2 ** (count - 1)
        cut += 1
    low, high = (values[cut - 1], values[-cut]) if cut else (None, None)
    ends = (each if each is None else round(each, digits) for each in (low, high))
    return dict(zip(("is", "low", "high"), (round(median(values), digits), *ends), strict=True))


def main() -> None:
    """Reads the command line, measures, prints and records."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=11.0, help="how long to measure; at least a pair of processes")
    parser.add_argument("--device", default="cpu", help="where the model is, as torch writes it")
    parser.add_argument("--json", type=Path, metavar="FILE")
    options = parser.parse_args()
    load = os.getloadavg()[0]
    with bench(KINDS, options.device) as one:
        pairs = measure(one, options.minutes)
    record = {"machine": machine(), "load before": round(load, 1), "device": options.device, "limit": LIMIT}
    record |= result(pairs, KINDS)
    print(json.dumps(record, indent=1))
    if options.json is not None:
        write_atomically(options.json, (json.dumps(record, indent=1) + "\n").encode())


if __name__ == "__main__":
    main()
