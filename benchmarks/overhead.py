"""What the probe costs a training loop that it only watches: the same script by itself and under the probe, in turns.

The script times every one of its steps, by the wall and by the processor time of all of its threads, and says over a
socket how long the fastest tenth of them took at most: what else runs on the machine can only make a step slower. Under
the probe the loop is served its own settings, as for the baseline of every trial. Of the pairs' differences the median
counts, and its interval is that between two of them, by their order alone.

A step calls sixty modules that compute next to nothing, so that it is mostly what torch itself takes to call them. By
itself such a *tiny* step shows what the probe takes in seconds. An *ordinary* step is the same with a wait of fixed
length at its end, as a loop waits for its accelerator where it reads the loss. There the probe's time hides behind
nothing, as it may where the accelerator is behind the host, so the share of the step is an upper bound.

    python -m benchmarks.overhead --pairs 20 --json benchmarks/results/overhead.json
"""

from __future__ import annotations

import argparse
import json
import math
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

from accel_advisor.fixer import write_atomically
from accel_advisor.tune.probe.wire import BASELINE
from accel_advisor.tune.trial import Command, Trial
from benchmarks.recording import machine

ADDRESS = "OVERHEAD_ADDRESS"
WARM, STEPS = 40, {"tiny": 1000, "ordinary": 100}
"""Steps that do not count, and those that do; the script takes one kind after the other."""
PAUSE = {"tiny": 0.0, "ordinary": 0.019}
"""Seconds that a step waits at its end."""
TOLD = {
    "tiny": "sixty small modules, their backward pass and SGD",
    "ordinary": "the same, and 19 ms of waiting as for an accelerator",
}
LIMIT = 0.005
"""The share of an ordinary step that the probe may take."""

SCRIPT = '''\
"""Sixty modules, each called once a step; batches are at hand."""

import json
import os
import socket
import sys
import time
from itertools import pairwise

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.set_num_threads(1)
warm, plan = json.loads(sys.argv[1])
model = nn.Sequential(*(layer for _ in range(30) for layer in (nn.Linear(8, 8), nn.ReLU())))
optimizer = torch.optim.SGD(model.parameters(), lr=1e-6)
loader = DataLoader(TensorDataset(torch.randn(6400, 8)), batch_size=64)
said, times = [], []
while True:
    for (batch,) in loader:
        optimizer.zero_grad()
        model(batch).square().mean().backward()
        optimizer.step()
        if not plan:
            continue
        steps, pause = plan[0]
        if pause:
            time.sleep(pause)
        times.append((time.perf_counter(), time.process_time()))
        if len(times) == warm + steps + 1:
            for clock in zip(*times[warm:]):
                said.append(sorted(after - before for before, after in pairwise(clock))[steps // 10])
            del plan[0], times[:]
            if not plan:
                with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as out:
                    out.sendto(json.dumps(said).encode(), os.environ["OVERHEAD_ADDRESS"])
                if "OVERHEAD_ALONE" in os.environ:
                    sys.exit()
'''

Times = dict[str, tuple[float, float]]
"""Seconds a step by the wall and of processor time, by the kind of step."""


class Bench:
    """A folder with the script, and a socket that it speaks to."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.script = folder / "train.py"
        self.script.write_text(SCRIPT)
        os.environ[ADDRESS] = str(folder / "said")
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.bind(os.environ[ADDRESS])
        self._socket.settimeout(300)

    def close(self) -> None:
        """Let go of the socket."""
        self._socket.close()

    def alone(self) -> Times:
        """What steps take without the probe."""
        command = [sys.executable, str(self.script), self._argument()]
        subprocess.run(command, check=True, cwd=self.folder, env={**os.environ, "OVERHEAD_ALONE": "1"})
        return self._said()

    def watched(self) -> Times:
        """The same under the probe."""
        command = Command(self.script, None, (self._argument(),), self.folder)
        batches = sum(WARM + steps + 1 for steps in STEPS.values())
        with Trial(command, deadline=time.monotonic() + 300) as trial:
            trial.start()
            trial.measure(BASELINE, min_batches=batches + 20, min_seconds=0.0)
        return self._said()

    def _argument(self) -> str:
        return json.dumps([WARM, [[steps, PAUSE[kind]] for kind, steps in STEPS.items()]])

    def _said(self) -> Times:
        numbers = json.loads(self._socket.recv(4096))
        return dict(zip(STEPS, zip(numbers[::2], numbers[1::2], strict=True), strict=True))


@contextmanager
def bench() -> Iterator[Bench]:
    """A bench in a folder of its own."""
    folder = Path(tempfile.mkdtemp(prefix="overhead-"))
    made = Bench(folder)
    try:
        yield made
    finally:
        made.close()
        shutil.rmtree(folder)


def compare(one: Bench, pairs: int) -> dict[str, Any]:
    """Pairs of runs, the order of which alternates."""
    found: dict[str, list[Times]] = {"alone": [], "watched": []}
    for number in range(pairs):
        for side in ("alone", "watched") if number % 2 == 0 else ("watched", "alone"):
            found[side].append(getattr(one, side)())
        for kind in STEPS:
            alone, watched = (found[side][-1][kind][0] for side in ("alone", "watched"))
            print(f"{number} {kind}: {1e3 * alone:.3f} ms, {1e6 * (watched - alone):+.1f} us", flush=True)
    return {
        kind: {"step": TOLD[kind], "pairs": pairs, "steps": STEPS[kind]}
        | {
            clock: _cost(*([each[kind][index] for each in found[side]] for side in ("alone", "watched")))
            for index, clock in enumerate(("wall", "processor"))
        }
        for kind in STEPS
    }


def _cost(alone: list[float], watched: list[float]) -> dict[str, Any]:
    """What the probe adds to a step: as a share of it and in microseconds, each with its interval of 95 %."""
    pairs = list(zip(alone, watched, strict=True))
    return {
        "milliseconds a step": round(1e3 * median(alone), 4),
        "overhead": _middle([after / before - 1 for before, after in pairs], 5),
        "microseconds a step": _middle([1e6 * (after - before) for before, after in pairs], 1),
    }


def _middle(values: list[float], digits: int) -> dict[str, float | None]:
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
    parser.add_argument("--pairs", type=int, default=20)
    parser.add_argument("--json", type=Path, metavar="FILE")
    options = parser.parse_args()
    with bench() as one:
        kinds = compare(one, options.pairs)
    record = {"machine": machine(), "limit": LIMIT, "kinds": kinds}
    print(json.dumps(record, indent=1))
    if options.json is not None:
        write_atomically(options.json, (json.dumps(record, indent=1) + "\n").encode())


if __name__ == "__main__":
    main()
