"""Training with pageable and pinned batches: one process, a DataLoader of rows in memory, and two lengths of step."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from random import Random
from statistics import median
from typing import Any

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

from accel_advisor.machine.machine import inspect_machine

from .claims import compared
from .copies import KINDS, PLAIN, Device, Kind

ROUNDS = 6
WARM, LEAST, MOST = 1, 3, 400
"""Steps of a block that are not counted, and how many are."""
PROBED, MOST_PROBED = 8, 1024
"""Repetitions by which the length of one is found: more where a step is not seen to take longer."""
TIMES = 10
"""How many times as long the step of the second model is."""
LONGEST = 0.1
"""Seconds of a step at the most."""
STALL = 15.0
SHARED = 0.8
"""Share of /dev/shm that batches may take."""


@dataclass(frozen=True)
class Sizes:
    """How large things are: bytes of a row and of all rows, width of the matrices, seconds of a block, rounds."""

    row: int = 1 << 16
    rows: int = 1 << 28
    inner: int = 1024
    block: float = 0.07
    rounds: int = ROUNDS


QUICK = Sizes(row=1 << 10, rows=1 << 20, inner=64, block=0.03, rounds=2)


class Rows(Dataset[torch.Tensor]):
    """Rows in memory, of which each batch takes some from here and there; it has no end that a block could meet."""

    def __init__(self, rows: torch.Tensor) -> None:
        self.rows = rows

    def __len__(self) -> int:
        return 1_000_000_000

    def __getitem__(self, index: int) -> torch.Tensor:
        return self.rows[index * 769 % len(self.rows)]


class Net(nn.Module):
    """One layer, and as many products of matrices as the step has to last."""

    def __init__(self, width: int, inner: int, repeats: int, there: torch.device) -> None:
        super().__init__()
        self.head = nn.Linear(width, inner, bias=False, device=there)
        self.core = nn.Parameter(torch.eye(inner, device=there))
        self.repeats = repeats

    def forward(self, rows: torch.Tensor) -> torch.Tensor:
        mixed: torch.Tensor = self.core
        for _ in range(self.repeats):
            mixed = mixed @ self.core
        answer: torch.Tensor = self.head(rows) @ mixed
        return answer.square().mean()


@dataclass(frozen=True)
class Model:
    """A model with the seconds of its step on a batch that is there."""

    name: str
    train: Callable[[torch.Tensor], None]
    repeats: int
    step: float


def rows_of(sizes: Sizes) -> torch.Tensor:
    """The data."""
    return torch.rand(sizes.rows // sizes.row, sizes.row // 4)


def models(size: int, copy: float, sizes: Sizes, device: Device) -> tuple[Model, Model]:
    """One whose step takes ``copy`` seconds, or as few as it can, and one whose step takes ten times as long."""
    batch = torch.rand(size // sizes.row, sizes.row // 4, device=device.there)
    base = _step(_trained(0, sizes, device), batch, device)
    each = seconds_of_each(base, lambda repeats: _step(_trained(repeats, sizes, device), batch, device))

    def lasting(name: str, seconds: float) -> Model:
        repeats = max(0, round((seconds - base) / each))
        train = _trained(repeats, sizes, device)
        return Model(name, train, repeats, _step(train, batch, device))

    short = lasting("short", copy)
    return short, lasting("long", min(LONGEST, TIMES * short.step))


def seconds_of_each(base: float, step: Callable[[int], float]) -> float:
    """What one more repetition adds to a step, which takes ``base`` seconds without any and ``step(repeats)`` with
    some: as many are tried as it takes to see them. Where they are never seen, other work made the base long, and the
    most are nearly all that there is to such a step."""
    repeats = PROBED
    while (taken := step(repeats)) < 2 * base and repeats < MOST_PROBED:
        repeats *= 2
    return (taken - base if taken >= 2 * base else taken) / repeats


def _trained(repeats: int, sizes: Sizes, device: Device) -> Callable[[torch.Tensor], None]:
    net = Net(sizes.row // 4, sizes.inner, repeats, device.there)
    optimizer = torch.optim.SGD(net.parameters(), lr=1e-9)

    def train(rows: torch.Tensor) -> None:
        loss = net(rows)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    return train


def _step(train: Callable[[torch.Tensor], None], batch: torch.Tensor, device: Device) -> float:
    """Seconds of a step; the first ones pay for memory and libraries."""
    seconds = list[float]()
    for number in range(5):
        device.settle()
        began = time.perf_counter()
        for _ in range(2):
            train(batch)
        device.settle()
        if number >= 2:
            seconds.append((time.perf_counter() - began) / 2)
    return median(seconds)


class Comparison:
    """Each kind with each model, at one size of batch and one number of workers."""

    def __init__(
        self, size: int, workers: int, trained: tuple[Model, ...], rows: torch.Tensor, sizes: Sizes, device: Device
    ) -> None:
        self.size, self.workers, self.models, self.sizes, self.device = size, workers, trained, sizes, device
        self.rows = rows
        self.blocks: dict[tuple[str, str], list[float]] = {}
        self._members = [(model, kind) for model in trained for kind in KINDS]

    def run(self, until: float) -> None:
        """Rounds of blocks in random order, until ``until`` (of :func:`time.monotonic`); the first in any case.

        Raises:
            RuntimeError: a loader stalled, or memory ran out; complete rounds stay.
        """
        self._fits()
        random = Random(f"{self.size} {self.workers}")
        loaders: dict[bool, Iterator[torch.Tensor]] = {}
        try:
            for pinned in (False, True):
                loaders[pinned] = self._batches(pinned)
            counts = {model.name: self._count(model, loaders[False]) for model in self.models}
            for batches in loaders.values():
                # As many as are ever pinned at once: asking the driver for that memory would slow down a block.
                kept = [next(batches) for _ in range(2 * self.workers + LEAST)]
                del kept
            spent = 0.0
            for number in range(self.sizes.rounds):
                began = time.monotonic()
                if number and began + spent > until:
                    return
                for model, kind in random.sample(self._members, len(self._members)):
                    taken = self._block(model, kind, loaders[kind.pinned], counts[model.name])
                    self.blocks.setdefault((model.name, kind.name), []).append(taken)
                spent = time.monotonic() - began
        finally:
            loaders.clear()  # which ends their workers

    def found(self) -> list[dict[str, Any]]:
        """What complete rounds say, by model."""
        rounds = min((len(self.blocks.get((model.name, kind.name), ())) for model, kind in self._members), default=0)
        if not rounds:
            return []
        return [self._of(model, rounds) for model in self.models]

    def _of(self, model: Model, rounds: int) -> dict[str, Any]:
        kinds: dict[str, Any] = {}
        plain = self.blocks[model.name, PLAIN.name][:rounds]
        for kind in KINDS:
            own = self.blocks[model.name, kind.name][:rounds]
            kinds[kind.name] = {"step": median(own)}
            if kind is not PLAIN:
                kinds[kind.name]["training"] = compared("training", plain, own)
        return {
            "bytes": self.size,
            "workers": self.workers,
            "model": model.name,
            "step_alone": model.step,
            "repeats": model.repeats,
            "rounds": rounds,
            "kinds": kinds,
        }

    def _fits(self) -> None:
        """
        Raises:
            RuntimeError: the batches of both loaders would not fit into /dev/shm.
        """
        free = inspect_machine().shared_memory_free
        needed = 2 * 3 * self.workers * self.size  # two ahead and one at work, in two loaders
        if free is not None and needed > SHARED * free:
            raise RuntimeError(
                f"/dev/shm has {free / 1e9:.1f} GB free, and the loaders' batches take {needed / 1e9:.1f}"
            )

    def _batches(self, pinned: bool) -> Iterator[torch.Tensor]:
        batch, timeout = self.size // self.sizes.row, STALL if self.workers else 0
        pins = pinned and self.device.cuda
        rows = Rows(self.rows)
        return iter(DataLoader(rows, batch_size=batch, num_workers=self.workers, pin_memory=pins, timeout=timeout))

    def _count(self, model: Model, batches: Iterator[torch.Tensor]) -> int:
        """Steps of a block; where they may wait for the loader, a multiple of its workers, which deliver in turns."""
        self._steps(model, PLAIN, batches, WARM)
        estimate = self._steps(model, PLAIN, batches, LEAST)
        count = min(MOST, max(LEAST, math.ceil(self.sizes.block / estimate)))
        turn = max(1, self.workers) if model is self.models[0] else 1
        return math.ceil(count / turn) * turn

    def _block(self, model: Model, kind: Kind, batches: Iterator[torch.Tensor], count: int) -> float:
        """Seconds of a step. What lay ready when the block began is not trained on where the loader may be slower than
        the step."""
        if model is self.models[0]:
            for _ in range(2 * self.workers):
                next(batches)
        self._steps(model, kind, batches, WARM)
        return self._steps(model, kind, batches, count)

    def _steps(self, model: Model, kind: Kind, batches: Iterator[torch.Tensor], count: int) -> float:
        self.device.settle()
        began = time.perf_counter()
        for _ in range(count):
            rows = next(batches)
            if kind.by_hand:
                rows = self.device.pin(rows)
            model.train(rows.to(self.device.there, non_blocking=kind.non_blocking))
        self.device.settle()
        return (time.perf_counter() - began) / count
