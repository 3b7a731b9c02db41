"""A loop without a DataLoader on a GPU: what `tune` says of it with data ready at once, beside the loop run so."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

from accel_advisor.tuning.record.outcome_record import recorded
from accel_advisor.tuning.target.command import Command
from accel_advisor.tuning.tuner import Options, tune

NAME = "fetches"
OFF = 0.1
"""The speed that is said may differ from that of the loop itself by so much of it, beyond its interval."""
SCRIPT = """\
import sys
import time

import numpy as np
import torch

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
data = np.random.randint(0, 256, 2_000_000, dtype=np.uint16)


def get_batch(split):
    at = torch.randint(len(data) - BLOCK, (BATCH,))
    x = torch.stack([torch.from_numpy(data[i : i + BLOCK].astype(np.int64)) for i in at])
    y = torch.stack([torch.from_numpy(data[i + 1 : i + 1 + BLOCK].astype(np.int64)) for i in at])
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
steps = int(sys.argv[1]) if sys.argv[1:] else 10**9
kept = get_batch("train") if sys.argv[2:] else None
for step in range(steps):
    if step == steps // 2:
        if device.type == "cuda":
            torch.cuda.synchronize()
        began = time.perf_counter()
    x, y = kept or get_batch("train")
    loss = model(x, y)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
if device.type == "cuda":
    torch.cuda.synchronize()
print((time.perf_counter() - began) / (steps - steps // 2))
"""


def fetches(folder: Path, *, quick: bool) -> dict[str, Any]:
    """What is said, and what the loop does by its own clock with and without its fetching, three times in turns.

    Raises:
        TrialError: the script could not be run.
    """
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "train.py"
    sizes = {"BLOCK": 32, "BATCH": 16, "WIDTH": 32} if quick else {"BLOCK": 256, "BATCH": 64, "WIDTH": 256}
    text = SCRIPT
    for name, size in sizes.items():
        text = text.replace(name, str(size))
    path.write_text(text)
    record = recorded(tune(Command(path, None, (), folder), Options(budget=8 if quick else 30), root=folder))
    steps = "20" if quick else "200"
    pairs = [(_seconds(path, steps), _seconds(path, steps, "ready")) for _ in range(1 if quick else 3)]
    truth = sum(old / new for old, new in pairs) / len(pairs)
    said = record.ceilings.get("no-wait")
    print(f"    {record.sentence}\n    by its own clock {truth:.2f} times", flush=True)
    ends = (said.low, said.high) if said is not None and said.low is not None and said.high is not None else None
    holds = ends is not None and ends[0] * (1 - OFF) <= truth <= ends[1] * (1 + OFF)
    return {"holds": holds, "truth": truth, "said": record.sentence, "ceiling": ends, "pairs": pairs}


def _seconds(path: Path, *args: str) -> float:
    """Seconds of a step in the second half of a run."""
    ran = subprocess.run(
        [sys.executable, str(path), *args], capture_output=True, text=True, check=True, cwd=path.parent
    )
    return float(ran.stdout.split()[-1])
