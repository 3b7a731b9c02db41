"""Copies alone: how long they take, how long `.to()` holds the host, and what pinning costs, by size and kind."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from random import Random
from statistics import median
from typing import Any

import torch

from accel_advisor.tuning.search.statistics import gain

from .claims import compared, ends

ROUNDS = 8
COPIES = {1 << 20: 40, 16 << 20: 30}
"""Copies of a block, by the bytes below which a batch has to be; `FEW` of larger ones."""
FEW = 8
WARM = 2
BUFFERS = 4


@dataclass(frozen=True)
class Kind:
    """A way to the device.

    Attributes:
        pinned: by the loader, before the step.
        non_blocking: what `.to()` is asked for.
        by_hand: whether the step pins the batch itself.
    """

    name: str
    pinned: bool = False
    non_blocking: bool = False
    by_hand: bool = False


PLAIN = Kind("pageable")
KINDS = (
    PLAIN,
    Kind("pageable, non_blocking", non_blocking=True),
    Kind("pinned", pinned=True),
    Kind("pinned, non_blocking", pinned=True, non_blocking=True),
    Kind("pin_memory() in the step, non_blocking", non_blocking=True, by_hand=True),
)


class Device:
    """The GPU, or the processor for a proof that everything runs: there nothing is pinned, and only the host's clock
    is read."""

    def __init__(self) -> None:
        self.cuda = torch.cuda.is_available()
        self.there = torch.device("cuda", torch.cuda.current_device()) if self.cuda else torch.device("cpu")
        self._events: list[torch.cuda.Event] = []
        if self.cuda:
            self._events = [torch.cuda.Event(enable_timing=True) for _ in range(2)]  # type: ignore[no-untyped-call]

    def pin(self, tensor: torch.Tensor) -> torch.Tensor:
        """A copy in pinned memory."""
        return tensor.pin_memory() if self.cuda else tensor.clone()

    def settle(self) -> None:
        """Waits until the device has done what it was given."""
        if self.cuda:
            torch.cuda.synchronize()

    def timed(self, work: Callable[[], object]) -> tuple[float, float, float]:
        """Seconds of ``work`` on the stream by the device's own clock, on the host until it returned, and until the
        device was done."""
        self.settle()
        if self.cuda:
            self._events[0].record()
        began = time.perf_counter()
        kept = work()
        returned = time.perf_counter()
        if self.cuda:
            self._events[1].record()
        self.settle()
        ended = time.perf_counter()
        del kept  # the memory it was copied to may be used again
        on_device = self._events[0].elapsed_time(self._events[1]) / 1000 if self.cuda else ended - began
        return on_device, returned - began, ended - began


def copies(size: int, device: Device, until: float) -> dict[str, Any]:
    """Blocks of each kind in random order, ``size`` bytes a copy; rounds are left out from ``until`` on (of
    :func:`time.monotonic`), the first is not."""
    random = Random(size)
    pageable = [torch.rand(size // 4) for _ in range(BUFFERS)]
    pinned = [device.pin(one) for one in pageable]
    first = _seconds(partial(device.pin, pageable[0]))  # all blocks that fit are in use: the driver is asked for one
    count = next((number for most, number in COPIES.items() if size < most), FEW)
    blocks: dict[Kind, list[tuple[float, ...]]] = {kind: [] for kind in KINDS}
    then, thread = list[float](), list[float]()
    with ThreadPoolExecutor(1, initializer=torch.set_num_threads, initargs=(1,)) as loaders:
        spent = 0.0
        for number in range(ROUNDS):
            began = time.monotonic()
            if number and began + spent > until:
                break
            for kind in random.sample(KINDS, len(KINDS)):
                sources = pinned if kind.pinned else pageable
                taken = [device.timed(_copy(sources[turn % BUFFERS], kind, device)) for turn in range(WARM + count)]
                blocks[kind].append(tuple(median(each) for each in zip(*taken[WARM:], strict=True)))
            then.append(median(_pins(pageable, device, count)))
            thread.append(median(loaders.submit(_pins, pageable, device, count).result()))
            spent = time.monotonic() - began
    found: dict[str, Any] = {}
    plain = list(zip(*blocks[PLAIN], strict=True))
    for kind, read in blocks.items():
        own = list(zip(*read, strict=True))
        found[kind.name] = {
            name: median(seconds) for name, seconds in zip(("device", "host", "whole"), own, strict=True)
        }
        if kind is not PLAIN:
            found[kind.name] |= {
                "transfer": compared("transfer", plain[0], own[0]),
                "whole_ratio": ends(gain(plain[2], own[2])),
            }
    return {
        "bytes": size,
        "rounds": len(then),
        "kinds": found,
        "pinning": {"first": first, "in_step": median(then), "in_loader_thread": median(thread)},
    }


def _copy(source: torch.Tensor, kind: Kind, device: Device) -> Callable[[], torch.Tensor]:
    def copy() -> torch.Tensor:
        batch = device.pin(source) if kind.by_hand else source
        return batch.to(device.there, non_blocking=kind.non_blocking, copy=True)

    return copy


def _pins(sources: list[torch.Tensor], device: Device, count: int) -> list[float]:
    """Seconds of pinning alone, in memory that was pinned before, as in a steady loop."""
    for source in sources[:WARM]:
        device.pin(source)
    return [_seconds(partial(device.pin, sources[turn % BUFFERS])) for turn in range(count)]


def _seconds(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began
