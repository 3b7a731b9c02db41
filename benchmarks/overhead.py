"""What the probe costs a training loop that it only watches: the same script by itself and under the probe, in turns.

The script times its own steps, from one end of the optimizer's step to another, by the wall and by the processor time
of all of its threads, and says so over a socket. Under the probe the loop is served its own settings, as for the
baseline of every trial. A step of ordinary size shows the overhead as people meet it; a step that computes next to
nothing shows what the probe takes in seconds.

    python benchmarks/overhead.py --pairs 20 --json benchmarks/results/overhead.json
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from accel_advisor.fixer import write_atomically
from accel_advisor.machine import inspect_machine
from accel_advisor.tune.probe.wire import BASELINE
from accel_advisor.tune.statistics import gain
from accel_advisor.tune.trial import Command, Trial

ADDRESS = "OVERHEAD_ADDRESS"
WARM, STEPS = 40, {"ordinary": 160, "tiny": 3000}
"""Steps that do not count, and those that do."""
WIDTH = {"ordinary": 320, "tiny": 8}
LIMIT = 0.005
"""The share of an ordinary step that the probe may take."""

SCRIPT = '''\
"""Sixty modules, each called once a step; batches are at hand."""

import os
import socket
import sys
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.set_num_threads(1)
width, warm, steps = (int(each) for each in sys.argv[1:4])
model = nn.Sequential(*(layer for _ in range(30) for layer in (nn.Linear(width, width), nn.ReLU())))
optimizer = torch.optim.SGD(model.parameters(), lr=1e-6)
loader = DataLoader(TensorDataset(torch.randn(6400, width)), batch_size=64)
done, began = 0, None
while True:
    for (batch,) in loader:
        optimizer.zero_grad()
        model(batch).square().mean().backward()
        optimizer.step()
        done += 1
        if done == warm:
            began = time.perf_counter(), time.process_time()
        if done == warm + steps:
            taken = time.perf_counter() - began[0], time.process_time() - began[1]
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as out:
                out.sendto(" ".join(map(repr, taken)).encode(), os.environ["OVERHEAD_ADDRESS"])
            if "OVERHEAD_ALONE" in os.environ:
                sys.exit()
'''


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

    def alone(self, kind: str) -> tuple[float, float]:
        """Seconds a step by the wall and of processor time, without the probe."""
        command = [sys.executable, str(self.script), *self._arguments(kind)]
        subprocess.run(command, check=True, cwd=self.folder, env={**os.environ, "OVERHEAD_ALONE": "1"})
        return self._said(kind)

    def watched(self, kind: str) -> tuple[float, float]:
        """The same under the probe."""
        command = Command(self.script, None, self._arguments(kind), self.folder)
        with Trial(command, deadline=time.monotonic() + 300) as trial:
            trial.start()
            trial.measure(BASELINE, min_batches=WARM + STEPS[kind] + 20, min_seconds=0.0)
        return self._said(kind)

    def _arguments(self, kind: str) -> tuple[str, ...]:
        return str(WIDTH[kind]), str(WARM), str(STEPS[kind])

    def _said(self, kind: str) -> tuple[float, float]:
        wall, processor = map(float, self._socket.recv(1024).decode().split())
        return wall / STEPS[kind], processor / STEPS[kind]


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


def compare(one: Bench, kind: str, pairs: int) -> dict[str, Any]:
    """Pairs of runs, the order of which alternates."""
    found: dict[str, list[tuple[float, float]]] = {"alone": [], "watched": []}
    for number in range(pairs):
        for side in ("alone", "watched") if number % 2 == 0 else ("watched", "alone"):
            found[side].append(getattr(one, side)(kind))
        wall = found["watched"][-1][0] / found["alone"][-1][0]
        print(f"{kind} {number}: {1e3 * found['alone'][-1][0]:.3f} ms a step, {wall:.4f} times as long", flush=True)
    record: dict[str, Any] = {"pairs": pairs, "steps": STEPS[kind]}
    for index, clock in enumerate(("wall", "processor")):
        alone, watched = ([each[index] for each in found[side]] for side in ("alone", "watched"))
        ratio = gain(watched, alone)
        record[clock] = {
            "milliseconds a step": round(1e3 * sorted(alone)[pairs // 2], 4),
            "overhead": round(ratio.ratio - 1, 5),
            "low": round(ratio.low - 1, 5),
            "high": round(ratio.high - 1, 5),
            "microseconds a step": round(1e6 * (sorted(watched)[pairs // 2] - sorted(alone)[pairs // 2]), 1),
        }
    return record


def main() -> None:
    """Reads the command line, measures, prints and records."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=20)
    parser.add_argument("--json", type=Path, metavar="FILE")
    options = parser.parse_args()
    with bench() as one:
        kinds = {kind: compare(one, kind, options.pairs) for kind in STEPS}
    here = Path(__file__).parent
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=here, capture_output=True, text=True)
    machine = inspect_machine()
    record = {
        "date": datetime.now(UTC).date().isoformat(),
        "commit": commit.stdout.strip(),
        "machine": f"{machine.cores:g} cores of {machine.processor}, Python {platform.python_version()}",
        "limit": LIMIT,
        "kinds": kinds,
    }
    print(json.dumps(record, indent=1))
    if options.json is not None:
        write_atomically(options.json, (json.dumps(record, indent=1) + "\n").encode())


if __name__ == "__main__":
    main()
