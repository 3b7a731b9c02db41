"""What the probe costs a training loop that it only watches.

The loop (``overhead_loop.py``) runs under the probe in a trial as every other, served the settings of its own source.
Again and again it takes out of its process what the probe put into it and puts it back, and times every step: with the
probe and without in blocks that follow on each other in random order, in one process, so that nothing else differs
between the two. Of a block's steps the lower quartile counts, since what else runs on the machine can only make a step
slower, of the pairs of blocks the median. One process gives one number; the interval is that of their median over all
processes, by their order alone. The shares go by processor time, which a busy machine disturbs least, and which is all
that the probe takes within a step: it waits for nothing there. On a machine that does nothing else the time by the wall
must agree.

Three things show whether that is the whole cost and nothing but it. The same loop runs by itself, too, in turns with
the other: there is nothing to take out then, so its two kinds of blocks must not differ ("nothing"). Whole processes
are compared as well ("process"): what cannot be taken out shows there, though far less exactly. And every event that
the probe sees in a step is timed by itself ("events"): those of a tiny step must add up to what is found of it.

A *tiny* step calls sixty modules that compute next to nothing, so that it is mostly what torch itself takes to call
them. An *ordinary* step is the same after a wait of fixed length, as a loop waits for its accelerator where it reads
the loss. The processor does something else or nothing meanwhile and finds its caches cold, which makes
everything slower, the probe too. Its time hides behind nothing there, as it may where the accelerator is behind the
host, so the share of the step is an upper bound.

Outside the steps the probe takes two times more: at the end of a block, where the parent decides what comes next,
and for the threads that report that the child is alive. "All told" includes both.

    python -m benchmarks.overhead --json benchmarks/results/overhead.json --page docs/overhead.md
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
from contextlib import contextmanager, suppress
from dataclasses import asdict, replace
from pathlib import Path
from statistics import median
from typing import Any

from accel_advisor.editing.fixer import write_atomically
from accel_advisor.tuning.probe.channel.wire import BASELINE, Measure
from accel_advisor.tuning.target.command import Command
from accel_advisor.tuning.trial.trial import Trial
from accel_advisor.tuning.trial.trial_errors import ScriptFinished
from benchmarks import overhead_loop
from benchmarks.overhead_loop import ADDRESS, Blocks, Plan
from benchmarks.recording import keep, machine, put

KINDS = {"tiny": Blocks(0.0, rounds=12, skip=20, steps=60), "ordinary": Blocks(0.019, rounds=16, skip=15, steps=8)}
STEPS = {
    "tiny": "sixty small modules, their backward pass and SGD",
    "ordinary": "the same, and 19 ms of waiting as for an accelerator",
}
WALL, PROCESSOR = 0, 1
COSTS = ("wall", "processor", "all told", "nothing", "process")
ONE_STEP = ("a batch", "sixty modules within one", "a backward pass", "an optimizer's step", "a call of Tensor.to")
"""The events of a step."""
BLOCK_SECONDS = 0.5
"""Of a block of a trial, at least."""
ROWS = {
    "processor": "with the probe against without, processor time",
    "wall": "the same by the wall",
    "all told": "with the ends of blocks and the threads",
    "nothing": "the same measurement where there is no probe",
    "process": "whole processes against each other, by the wall",
}
SHARES = {"processor": "**share of the step**", "all told": "**with the ends of blocks and the threads**"}
LIMIT = 0.005
"""The share of an ordinary step that the probe may take."""

Process = dict[str, Any]
"""What one process said."""


class Bench:
    """A folder with the loop, and a socket that it connects to; each process times what the plan says, from a seed of
    its own."""

    def __init__(self, folder: Path, plan: Plan) -> None:
        self.folder = folder
        self.kinds = plan.kinds
        self._plan = plan
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
        """The loop without the probe, and with fewer blocks: it is there for comparison."""
        kinds = {kind: replace(blocks, rounds=-(-blocks.rounds // 3)) for kind, blocks in self.kinds.items()}
        command = [
            sys.executable,
            str(self.script),
            self._argument(replace(self._plan, seed=seed, kinds=kinds, alone=True)),
        ]
        subprocess.run(command, check=True, cwd=self.folder)
        return self._said.get(timeout=60)

    def watched(self, seed: int) -> Process:
        """The same in a trial."""
        plan = replace(self._plan, seed=seed)
        command = Command(self.script, None, (self._argument(plan),), self.folder)
        with Trial(command, deadline=time.monotonic() + 600) as trial:
            trial.start()
            # Those that begin while the loop is still warming up do not count, and one batch is served before a block.
            for _ in range(plan.periods + plan.warm // plan.period + 1):
                trial.measure(Measure(BASELINE, min_batches=plan.period - 1, min_seconds=0.0))
            with suppress(ScriptFinished):  # at every batch it is asked whether the block is long enough
                trial.measure(Measure(BASELINE, min_batches=1, min_seconds=math.inf))
        return self._said.get(timeout=60)

    @staticmethod
    def _argument(plan: Plan) -> str:
        return json.dumps(asdict(plan))


@contextmanager
def bench(plan: Plan) -> Iterator[Bench]:
    """A bench in a folder of its own."""
    folder = Path(tempfile.mkdtemp(prefix="overhead-"))
    try:
        yield Bench(folder, plan)
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


def between(watched: Process) -> float:
    """The share of a loop's time that the ends of blocks and the threads take, whatever its steps."""
    return float(quartile(watched["ends"]) / BLOCK_SECONDS + watched["threads"])


def shortest(cost: float, share: float = 0.0) -> float:
    """Milliseconds of the step of which as many microseconds, beside a share of any, are as much as may be taken."""
    return cost / 1e3 / (LIMIT - share) if share < LIMIT else math.inf


def result(pairs: Sequence[tuple[Process, Process]], kinds: dict[str, Blocks]) -> dict[str, Any]:
    """All that the processes say together."""
    watched = [each for _, each in pairs]
    found = {}
    for kind, blocks in kinds.items():
        each = [costs(*pair, kind) for pair in pairs]
        steps = [cost["work"] + 1e3 * blocks.pause for cost in each]
        each = [
            {**cost, "all told": cost["processor"] + 1e3 * step * between(one)}
            for cost, one, step in zip(each, watched, steps, strict=True)
        ]
        found[kind] = {
            "step": STEPS[kind],
            "steps": 2 * blocks.rounds * blocks.steps * len(pairs),
            "milliseconds a step": round(median(steps), 3),
            "microseconds a step": {name: middle([cost[name] for cost in each], 1) for name in COSTS},
            "overhead": {
                name: middle([cost[name] / step / 1e3 for cost, step in zip(each, steps, strict=True)], 5)
                for name in ("wall", "processor", "all told")
            },
        }
    events = {name: [1e6 * difference(one["events"][name], WALL) for one in watched] for name in watched[0]["events"]}
    ordinary = [costs(*pair, "ordinary")["processor"] for pair in pairs]
    together = [sum(each) for each in zip(*(events[name] for name in ONE_STEP), strict=True)]
    return {
        "pairs": len(pairs),
        "kinds": found,
        "events, microseconds": {name: middle(each, 2) for name, each in events.items()}
        | {"those of a tiny step": middle(together, 1)},
        "end of a block, microseconds": middle([1e6 * quartile(one["ends"]) for one in watched], 0),
        "threads, microseconds a second": middle([1e6 * one["threads"] for one in watched], 0),
        "shortest step, milliseconds": {
            "processor": middle([shortest(cost) for cost in ordinary], 1),
            "all told": middle([shortest(*each) for each in zip(ordinary, map(between, watched), strict=True)], 1),
        },
        "taken out": watched[0]["taken"],
        "iterators": watched[0]["iterators"],
    }


def middle(values: Sequence[float], digits: int) -> dict[str, float | None]:
    """The median and an interval that holds it with 95 % whatever the values' distribution, by the sign test; its ends
    are None where there are too few values, and so is what is endless."""
    values, count = sorted(values), len(values)
    outside, cut = 0.0, 0
    while cut < count and outside + math.comb(count, cut) / 2 ** (count - 1) <= 0.05:
        outside += math.comb(count, cut) / 2 ** (count - 1)
        cut += 1
    low, high = (values[cut - 1], values[-cut]) if cut else (None, None)
    found = (median(values), low, high)
    rounded = (None if each is None or math.isinf(each) else round(each, digits) for each in found)
    return dict(zip(("is", "low", "high"), rounded, strict=True))


def table(record: dict[str, Any]) -> str:
    """What was recorded, in Markdown."""
    machine, kinds = record["machine"], record["kinds"]
    events, least = record["events, microseconds"], record["shortest step, milliseconds"]
    heads = [f"a step of {kind['milliseconds a step']:.1f} ms" for kind in kinds.values()]
    lines = [f"| | {' | '.join(heads)} |", f"|---|{'--:|' * len(heads)}"]
    for cost, words in ROWS.items():
        cells = [_spelled(kind["microseconds a step"][cost], "us") for kind in kinds.values()]
        lines.append(f"| {words} | {' | '.join(cells)} |")
    for cost, words in SHARES.items():
        cells = [_spelled(kind["overhead"][cost], "%", 100, 2) for kind in kinds.values()]
        lines.append(f"| {words} | {' | '.join(cells)} |")
    each = ", ".join(f"{name} {_spelled(found, 'us')}" for name, found in events.items())
    end, threads = record["end of a block, microseconds"], record["threads, microseconds a second"]
    paragraphs = [
        f"Medians of {record['pairs']} pairs of processes, with their intervals of 95 %. Recorded on {machine['date']} "
        f"at commit {machine['commit'][:7]}: {machine['cores']} cores ({machine['processor']}), Python "
        f"{machine['python']}, torch {machine['torch']}; {record['load before']:g} other processes wanted to run "
        "before it began.",
        f"By the upper end of the interval it is at most {100 * record['limit']:g} % of a step of "
        f"{_milliseconds(least['processor']['high'])}; with the ends of blocks and the threads, of "
        f"{_milliseconds(least['all told']['high'])}.",
        f"Each event by itself: {each}. The end of a block takes {_spelled(end, 'us', digits=0)}, the "
        f"probe's threads {_spelled(threads, 'us', digits=0)} of every second.",
    ]
    if "gpu" in record:
        paragraphs += on_gpu(record["gpu"])
    return "\n".join([*lines, "", "\n\n".join(paragraphs), ""])


def on_gpu(found: dict[str, Any]) -> list[str]:
    """What was recorded on a GPU (``gpu/overhead.py``), in paragraphs."""
    kinds = found["kinds"].values()
    parts = [
        f"{_spelled(kind['overhead']['wall'], '%', 100, 2)} of a step of {kind['milliseconds a step']:.1f} ms, "
        f"{_spelled(kind['microseconds a step']['wall'], 'us')}"
        for kind in kinds
    ]
    told = [_spelled(kind["overhead"]["all told"], "%", 100, 2) for kind in kinds]
    names = ", ".join(gpu["name"] for gpu in found["machine"]["gpus"]) or found["machine"]["device"]
    blank = " and ".join(f"{kind['nothing, microseconds a step']:.1f} us" for kind in kinds)
    few = "" if any(kind["overhead"]["wall"]["low"] is not None for kind in kinds) else ", too few for an interval"
    return [
        f"On a GPU ({names}, torch {found['versions']['torch']}, {found['date']}, commit {found['commit'][:7]}), by "
        f"the wall: {'; '.join(parts)}. With the ends of blocks and the threads: {', and '.join(told)}. Medians of "
        f"{found['processes']} processes{few}. Without the probe the same reading finds {blank}."
    ]


def _spelled(found: dict[str, float | None], unit: str, scale: float = 1, digits: int = 1) -> str:
    whole, low, high = (None if end is None else f"{scale * end:.{digits}f}" for end in found.values())
    return f"{whole} {unit}" if low is None else f"{whole} {unit} ({low} to {high})"


def _milliseconds(value: float | None) -> str:
    return "no length that could be shown" if value is None else f"{value:g} ms or longer"


def write_results(page: Path, record: dict[str, Any]) -> None:
    """Puts the table of a record between its marks in a page."""
    write_atomically(page, put(page.read_text(encoding="utf-8"), "results", table(record)).encode())


def main() -> None:
    """Reads the command line, measures, prints and records."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=11.0, help="how long to measure; at least a pair of processes")
    parser.add_argument("--device", default="cpu", help="where the model is, as torch writes it")
    parser.add_argument("--json", type=Path, metavar="FILE")
    parser.add_argument("--page", type=Path, metavar="FILE", help="put the results into this page, too")
    options = parser.parse_args()
    load = os.getloadavg()[0]
    with bench(Plan(0, KINDS, False, device=options.device)) as one:
        pairs = measure(one, options.minutes)
    record = {"machine": machine(), "load before": round(load, 1), "device": options.device, "limit": LIMIT}
    record |= result(pairs, KINDS)
    if options.json is not None and options.json.exists():
        record |= {key: value for key, value in json.loads(options.json.read_text()).items() if key == "gpu"}
    print(json.dumps(record, indent=1))
    keep(options.json, record)
    if options.page is not None:
        write_results(options.page, record)


if __name__ == "__main__":
    main()
