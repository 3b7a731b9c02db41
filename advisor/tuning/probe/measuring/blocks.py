"""The block that is being served, and the ceilings: batches that were kept and are handed out at once."""

from __future__ import annotations

import copy
import math
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

from accel_advisor.tuning.probe.channel.reasons import CandidateReason
from accel_advisor.tuning.probe.channel.wire import Block, Measure, Settings
from accel_advisor.tuning.probe.measuring import batches
from accel_advisor.tuning.probe.measuring.line_watch import TRACED_BATCHES, LineWatch
from accel_advisor.tuning.probe.measuring.meter import Meter
from accel_advisor.tuning.probe.measuring.worker_pools import Pool, Settling

CACHE_BATCHES = 8
CACHE_BYTES = 1 << 30
"""A ceiling is served from at most this many batches and bytes, and from two at least."""


@dataclass(slots=True)
class Running:
    """The block that is being served.

    Attributes:
        workers: of its settings, and at least one: blocks are as long as whole rounds of the workers.
        failed: why it failed on this rank, where the others have not heard of it yet.
        due: at how many batches it is asked whether it is long enough.
        until: when it is late, on :func:`time.perf_counter`.
        lines: watches at which lines of the script the loop spends its time; None where that was not asked for.
    """

    measure: Measure
    settings: Settings | None
    settling: Settling
    pool_seconds: float = 0.0
    epoch_seconds: float | None = None
    began: float = 0.0
    batches: int = 0
    samples: int = 0
    counting: bool = False
    again: Settling | None = None
    resettled: int = 0
    draining: bool = False
    block: Block | None = None
    failed: CandidateReason | None = None
    due: int = 0
    workers: int = field(init=False)
    until: float = field(init=False)
    lines: LineWatch | None = None

    @property
    def warm(self) -> bool:
        """Whether enough batches came before the block, where they are to say which lines run."""
        return self.lines is None or self.settling.batches >= TRACED_BATCHES

    def __post_init__(self) -> None:
        self.workers = max(self.settings.num_workers if self.settings else 1, 1)
        self.until = perf_counter() + self.measure.most_seconds

    def finished(self, meter: Meter, pool: Pool | None, length: int | None) -> Block:
        """The block, which is over, and its clock stopped.

        Args:
            pool: what served it; None for a ceiling.
            length: batches in an epoch, where that is known.
        """
        seconds, wait, transfer, compute, host = meter.finish()
        return Block(
            what=self.measure.what,
            batches=self.batches,
            samples=self.samples,
            seconds=seconds,
            wait=wait,
            transfer=transfer,
            compute=compute,
            host=host,
            began=self.began,
            pool_seconds=self.pool_seconds,
            epoch_seconds=self.epoch_seconds,
            warm_batches=self.settling.batches,
            epoch_batches=length,
            worker_bytes=pool.worker_bytes() if pool is not None else 0,
            watched=pool.watched() if pool is not None else None,
            lines=self.lines.end() if self.lines is not None else None,
            stretches=meter.stretches,
        )

    def postpone(self, elapsed: float) -> None:
        """The block took ``elapsed`` seconds so far: set ``due`` to where it is expected to be long enough, in whole
        rounds of the workers."""
        expected = self.batches * self.measure.min_seconds / max(elapsed, 1e-6) if self.batches else 0.0
        least = max(self.batches + 1, self.measure.min_batches)
        self.due = self.workers * math.ceil(max(least, min(expected, 16 * least)) / self.workers)


class Ceiling:
    """Keeps batches of the user's own loop, and serves them without any loader."""

    def __init__(self, meter: Meter) -> None:
        self._meter = meter
        self._kept: list[Any] = []
        self._cached: list[batches.Cached] = []
        self._turn = 0

    @property
    def empty(self) -> bool:
        """Whether no batch was kept yet."""
        return not self._kept

    def remember(self, batch: Any) -> None:
        """Keep a copy of a batch, if there is room."""
        room = CACHE_BYTES - (len(self._kept) + 1) * batches.tensor_bytes(batch)
        if len(self._kept) < 2 or (len(self._kept) < CACHE_BATCHES and room >= 0):
            self._kept.append(batches.rebuild(batch, _own_copy))

    def forget(self) -> None:
        """Let go of what was kept: it came from another loader."""
        self._kept.clear()

    def prepare(self, device: str | None) -> None:
        """Make ready to hand out, from host memory or, where ``device`` is given, from there."""
        self._cached = [batches.Cached(batch, device) for batch in self._kept]

    def release(self) -> None:
        """Let go of what was made ready: the memory, on the device too, belongs to the script."""
        self._cached.clear()

    def hand_out(self) -> tuple[Any, int]:
        """The next batch and its samples. Where the loop wrote into it, the clock stands while it is restored."""
        cached = self._cached[self._turn % len(self._cached)]
        self._turn += 1
        if not cached.spoiled:
            asked = self._meter.begin_wait()
            batch = cached.hand_out()
            self._meter.end_wait(asked)
            return batch, cached.size
        counted = self._meter.running
        self._meter.pause()
        cached.restore()
        batch = cached.hand_out()
        if counted:
            self._meter.resume()
        return batch, cached.size


def _own_copy(leaf: Any) -> Any:
    import torch

    if isinstance(leaf, torch.Tensor):
        kept = leaf.detach().clone()
        return kept.pin_memory() if leaf.is_pinned() else kept
    return copy.deepcopy(leaf)
