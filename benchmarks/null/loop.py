"""A training loop that no setting of its loader makes faster, though most of its kinds wait for data.

Fetches and steps only sleep, so that processors play no part and the truth holds beside a busy neighbour too. The
kinds, by what holds a fetch back:

- ``serial``: fetches and steps take turns under one lock between processes, as on a machine with one core;
- ``noisy``: the same, with durations from a heavy tail;
- ``drifting``: the same, with durations that rise and fall over seconds;
- ``bandwidth``: samples come at a rate of their own, slower than the steps, whoever asks for them;
- ``healthy``: a fetch takes next to no time.

With ``--batches N`` it ends after so many and prints the mean seconds of the batches after the first quarter.
"""

from __future__ import annotations

import argparse
import fcntl
import math
import multiprocessing
import random
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

torch.set_num_threads(1)

LOCK = Path(__file__).with_name("storage.lock")
BATCH = 4
FETCH = {"serial": 0.016, "noisy": 0.016, "drifting": 0.016, "bandwidth": 0.030, "healthy": 0.0001}
STEP = {"serial": 0.014, "noisy": 0.014, "drifting": 0.014, "bandwidth": 0.012, "healthy": 0.030}
"""Seconds of a batch's fetches and of a step."""
TAIL, SWING = 0.6, 0.3


@contextmanager
def turn() -> Iterator[None]:
    """Waits until no other process has its turn. A lock belongs to the opened file, so each turn opens it."""
    with LOCK.open() as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


class Pace:
    """How long something takes this time."""

    def __init__(self, kind: str, seed: int) -> None:
        self.kind = kind
        self.seed = seed
        self.period = 3 + 17 * random.Random(seed).random()

    def factor(self, number: int) -> float:
        """What to multiply a mean duration by, for the ``number``-th time."""
        if self.kind == "noisy":
            return math.exp(random.Random(f"{self.seed} {number}").gauss(0, TAIL) - TAIL**2 / 2)
        if self.kind == "drifting":
            return 1 + SWING * math.sin(2 * math.pi * time.monotonic() / self.period)
        return 1.0


class Samples(Dataset[torch.Tensor]):
    """Numbers that take their time."""

    def __init__(self, kind: str, seed: int) -> None:
        self.kind = kind
        self.pace = Pace(kind, seed)
        self.due = multiprocessing.Value("d", 0.0)

    def __len__(self) -> int:
        return 400_000

    def __getitem__(self, index: int) -> torch.Tensor:
        seconds = FETCH[self.kind] / BATCH * self.pace.factor(index)
        if self.kind == "healthy":
            time.sleep(seconds)
        elif self.kind == "bandwidth":
            # A batch's worth is kept for those who come late, so that no time is lost that more workers could win.
            with self.due.get_lock():
                now, due = time.monotonic(), self.due.value
                self.due.value = max(now, due) + seconds
            time.sleep(max(0.0, due - BATCH * seconds - now))
        else:
            with turn():
                time.sleep(seconds)
        return torch.ones(8)


def main() -> None:
    """Trains."""
    parser = argparse.ArgumentParser()
    parser.add_argument("kind", choices=FETCH)
    parser.add_argument("--workers", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--batches", type=int)
    options = parser.parse_args()
    LOCK.touch()
    model = nn.Linear(8, 1)
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    loader = DataLoader(Samples(options.kind, options.seed), batch_size=BATCH, num_workers=options.workers)
    pace = Pace(options.kind, options.seed + 1)
    alone = options.kind in ("bandwidth", "healthy")
    began, first = 0.0, (options.batches or 0) // 4
    for number, inputs in enumerate(loader):
        if options.batches is not None and number == first:
            began = time.perf_counter()
        if options.batches is not None and number == options.batches:
            print((time.perf_counter() - began) / (number - first))
            return
        seconds = STEP[options.kind] * pace.factor(number)
        if alone:
            train(model, optimizer, inputs, seconds)
        else:
            with turn():
                train(model, optimizer, inputs, seconds)


def train(model: nn.Module, optimizer: torch.optim.Optimizer, inputs: torch.Tensor, seconds: float) -> None:
    """One step."""
    optimizer.zero_grad()
    model(inputs).square().mean().backward()
    optimizer.step()
    time.sleep(seconds)


if __name__ == "__main__":
    main()
