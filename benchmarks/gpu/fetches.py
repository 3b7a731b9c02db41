"""Loops without a DataLoader on a GPU: what `tune` says of them with data ready at once, beside the loops run so.

In one the host is the slower of the two, in the other one its fetching hides behind the device, and no time is to be
gained, however long it takes.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from accel_advisor.tuning.record.outcome_record import recorded
from accel_advisor.tuning.search.statistics import gain
from accel_advisor.tuning.target.command import Command
from accel_advisor.tuning.tuner import Options, tune

NAME = "fetches"
OFF = 0.1
"""The speed that is said may differ from that of the loop itself by so much of it, beyond its interval."""
LOOPS = {"bound": {"WIDTH": 256, "PIECES": 8}, "hidden": {"WIDTH": 512, "PIECES": 1}}
"""What its script has for these names."""
BUDGET, QUICK_BUDGET = 15.0, 8.0
TURNS, STEPS = 6, 50
SCRIPT = """\
import json
import sys
import time

import numpy as np
import torch

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
data = np.random.randint(0, 256, 2_000_000, dtype=np.uint16)


def piece(at):
    return torch.from_numpy(data[at : at + BLOCK // PIECES].astype(np.int64))


def get_batch(split):
    at = torch.randint(len(data) - BLOCK, (BATCH, PIECES))
    x = torch.stack([torch.cat([piece(i) for i in row]) for row in at])
    y = torch.stack([torch.cat([piece(i + 1) for i in row]) for row in at])
    if device.type == "cuda":
        return x.pin_memory().to(device, non_blocking=True), y.pin_memory().to(device, non_blocking=True)
    return x, y


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = torch.nn.Embedding(256, WIDTH)
        layer = torch.nn.TransformerEncoderLayer(WIDTH, 4, 4 * WIDTH, batch_first=True)
        self.layers = torch.nn.TransformerEncoder(layer, 2)
        self.head = torch.nn.Linear(WIDTH, 256)

    def forward(self, x, y):
        return torch.nn.functional.cross_entropy(self.head(self.layers(self.embedding(x))).flatten(0, 1), y.flatten())


model = Model().to(device)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)


def train(steps, kept=None):
    for _ in range(steps):
        x, y = kept or get_batch("train")
        loss = model(x, y)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)


def timed(steps, kept=None):
    began = time.perf_counter()
    train(steps, kept)
    if device.type == "cuda":
        torch.cuda.synchronize()
    return (time.perf_counter() - began) / steps


if sys.argv[1:]:
    steps, turns = int(sys.argv[1]), int(sys.argv[2])
    timed(steps)
    kept = get_batch("train")
    pairs = []
    for turn in range(turns):
        old = timed(steps) if turn % 2 else None
        new = timed(steps, kept)
        pairs.append((old or timed(steps), new))
    print(json.dumps(pairs))
else:
    train(10**9)
"""


def fetches(folder: Path, *, quick: bool) -> dict[str, Any]:
    """What is said of each loop, and what it does by its own clock with and without its fetching, in turns.

    Raises:
        TrialError: a script could not be run.
    """
    found = {name: _loop(folder / name, sizes, quick=quick) for name, sizes in LOOPS.items()}
    return {"holds": all(one["holds"] for one in found.values()), "loops": found}


def _loop(folder: Path, sizes: dict[str, int], *, quick: bool) -> dict[str, Any]:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "train.py"
    text = SCRIPT
    small = {"BLOCK": 32, "BATCH": 16, "WIDTH": 32, "PIECES": 1}
    for name, size in (small if quick else {"BLOCK": 256, "BATCH": 64, **sizes}).items():
        text = text.replace(name, str(size))
    path.write_text(text)
    options = Options(budget=QUICK_BUDGET if quick else BUDGET)
    record = recorded(tune(Command(path, None, (), folder), options, root=folder))
    pairs = _by_its_own_clock(path, steps=5 if quick else STEPS, turns=2 if quick else TURNS)
    truth = gain([old for old, _ in pairs], [new for _, new in pairs])
    said = record.ceilings.get("no-wait")
    print(
        f"    {record.sentence}\n    by its own clock {truth.ratio:.2f} ({truth.low:.2f}-{truth.high:.2f})", flush=True
    )
    ends = (said.low, said.high) if said is not None and said.low is not None and said.high is not None else None
    holds = ends is not None and ends[0] * (1 - OFF) <= truth.ratio <= ends[1] * (1 + OFF)
    return {
        "holds": holds,
        "said": record.sentence,
        "ceiling": ends,
        "truth": truth.ratio,
        "truth between": (truth.low, truth.high),
        "pairs": pairs,
    }


def _by_its_own_clock(path: Path, *, steps: int, turns: int) -> list[tuple[float, float]]:
    """Seconds of a step, with its fetching and without."""
    ran = subprocess.run(
        [sys.executable, str(path), str(steps), str(turns)], capture_output=True, text=True, check=True, cwd=path.parent
    )
    return [(old, new) for old, new in json.loads(ran.stdout.splitlines()[-1])]
