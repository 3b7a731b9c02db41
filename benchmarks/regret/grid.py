"""The truth: every cell of a workload's grid, timed in separate runs in interleaved order."""

from __future__ import annotations

import json
import math
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from statistics import geometric_mean
from tempfile import TemporaryDirectory
from typing import Any, Self

from accel_advisor.tuning.probe.channel.wire import Settings
from accel_advisor.tuning.search.settings import arguments, prefetch

from .workloads import Workload

CLOCK = Path(__file__).with_name("clock.py")
ROUNDS, MORE_ROUNDS = 2, 4
"""Readings of every cell, and of those that come near the best."""
NEAR = 0.94
MANY_READINGS = 8
"""Readings of a cell whose halves say something each."""


class Grid:
    """Readings of a workload's cells, as JSON knows them.

    A context manager: a process that has imported torch stands ready meanwhile.
    """

    def __init__(self, workload: Workload, readings: dict[Settings, list[float]] | None = None) -> None:
        self.workload = workload
        self.readings = readings or {}

    def __enter__(self) -> Self:
        self._folder = TemporaryDirectory(prefix="regret-")
        self._clock = subprocess.Popen(
            [sys.executable, str(CLOCK)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        return self

    def __exit__(self, *_: object) -> None:
        assert self._clock.stdin is not None
        assert self._clock.stdout is not None
        self._clock.stdin.close()
        self._clock.wait()
        self._clock.stdout.close()
        self._folder.cleanup()

    def measure(
        self, *, quick: bool, say: Callable[[str], None], rounds: int = 0, more: Iterable[Settings] = ()
    ) -> None:
        """Every cell, and ``more``, in two rounds, and those near the best in two more; or all in that many."""
        random = Random(self.workload.name)
        cells = list(dict.fromkeys((*self.workload.cells(), *more)))
        for number in range(1 if quick else rounds or MORE_ROUNDS):
            if number >= ROUNDS and not rounds:
                best = max(map(self.rate, cells))
                cells = [cell for cell in cells if self.rate(cell) >= NEAR * best]
            for cell in cells if number % 2 == 0 else reversed(cells):
                self.read(cell, quick=quick)
                say(f"{spelled(cell)}: {self.readings[cell][-1]:.1f} samples/s")
            random.shuffle(cells)

    def add(self, cell: Settings, *, quick: bool, say: Callable[[str], None]) -> None:
        """A cell beside the grid, timed in turns with the best one, so that a drift since then shifts neither."""
        best = self.best
        own, beside = [], []
        for _ in range(1 if quick else ROUNDS):
            own.append(self._rate(cell, quick=quick))
            beside.append(self._rate(best, quick=quick))
        drift = self.rate(best) / geometric_mean(beside)
        self.readings[cell] = [rate * drift for rate in own]
        say(f"{spelled(cell)}: {self.rate(cell):.1f} samples/s")

    def read(self, cell: Settings, *, quick: bool) -> None:
        """One more reading of a cell."""
        self.readings.setdefault(cell, []).append(self._rate(cell, quick=quick))

    def rate(self, cell: Settings) -> float:
        """Samples a second, starts of epochs included."""
        return geometric_mean(self.readings[cell])

    @property
    def best(self) -> Settings:
        """The fastest cell."""
        return max(self.readings, key=self.rate)

    def gain(self, over: Settings) -> float:
        """How many times as fast as another cell the fastest one is. Where all cells have many readings, each half of
        these times what the other half calls the fastest, so that the luck of one cell is no gain."""
        often = {cell: values for cell, values in self.readings.items() if len(values) >= MANY_READINGS}
        if over not in often:
            return self.rate(self.best) / self.rate(over)
        gains: list[float] = []
        for own, other in ((0, 1), (1, 0)):
            best = max(often, key=lambda cell: geometric_mean(often[cell][other::2]))
            gains.append(geometric_mean(often[best][own::2]) / geometric_mean(often[over][own::2]))
        return geometric_mean(gains)

    def startup(self) -> float:
        """Seconds from nothing to the first step of the script as it was."""
        script = self._write(self.workload.baseline)
        began = time.monotonic()
        subprocess.run([sys.executable, str(CLOCK), str(script)], check=True, capture_output=True)
        return time.monotonic() - began

    def _write(self, settings: Settings) -> Path:
        script = Path(self._folder.name) / "train.py"
        script.write_text(self.workload.source(settings))
        return script

    def _rate(self, cell: Settings, *, quick: bool) -> float:
        work = self.workload
        count = cell.num_workers
        request = {
            "script": str(self._write(cell)),
            "warm": work.length if work.short else math.ceil(work.warm(cell) / work.period) * work.period,
            "unit": work.length if work.short else math.lcm(work.period, max(1, count)),
            "seconds": min(0.4, work.seconds) if quick else work.seconds,
        }
        assert self._clock.stdin is not None
        assert self._clock.stdout is not None
        self._clock.stdin.write(json.dumps(request) + "\n")
        self._clock.stdin.flush()
        found = json.loads(self._clock.stdout.readline())
        if "failed" in found:
            raise RuntimeError(f"{work.name} with {spelled(cell)}: {found['failed']}")
        return float(found["steps"]) * work.batch / float(found["seconds"])


def record(grid: Grid) -> list[dict[str, Any]]:
    """The cells as plain data, the fastest first. ``spread`` is that of its readings, as a share."""
    return [
        {
            "settings": arguments(cell),
            "rate": round(grid.rate(cell), 2),
            "spread": round(max(values) / min(values) - 1, 4),
            "readings": [round(value, 2) for value in values],
        }
        for cell, values in sorted(grid.readings.items(), key=lambda item: -grid.rate(item[0]))
    ]


def recorded(cells: Iterable[dict[str, Any]]) -> dict[Settings, list[float]]:
    """What :func:`record` wrote."""
    return {Settings(**cell["settings"]): list(cell["readings"]) for cell in cells}


@contextmanager
def neighbour(busy: float, seed: int = 0) -> Iterator[None]:
    """Another process that takes this share of one core, from none to all of it, in bursts that the seed decides."""
    if not busy:
        yield
        return
    program = (
        f"import random, time\nr = random.Random({seed})\n"
        "while True:\n"
        "    end = time.monotonic() + r.uniform(0.2, 1.0)\n"
        "    while time.monotonic() < end: pass\n"
        f"    time.sleep(r.uniform(0.2, 1.0) * {(1 - busy) / busy})\n"
    )
    process = subprocess.Popen([sys.executable, "-c", program])
    try:
        yield
    finally:
        process.kill()
        process.wait()


def spelled(settings: Settings) -> str:
    """Settings in a few characters: workers, batches ahead, and whether the workers persist."""
    if not settings.num_workers:
        return "0"
    return f"{settings.num_workers} x {prefetch(settings)}" + (" kept" if settings.persistent_workers else "")
