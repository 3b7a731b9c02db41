"""What the GPU did while blocks were measured: utilisation, memory, power and clock, as its driver tells them.

The parent asks the driver, several times a second, from a thread of its own: the user's process is left alone. Blocks
carry the time at which they began on the monotonic clock, which all processes of a machine share, so that samples and
blocks find each other.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Iterable, Sequence
from types import TracebackType
from typing import Self

from accel_advisor.machine.gpus import Sample, driver, handle_of, sample
from accel_advisor.tune.probe.channel.wire import Block
from accel_advisor.tune.record.schema import DeviceUse

PERIOD = 0.2
"""Seconds between samples; the driver itself averages utilisation over a sixth of a second to a second."""


def use(samples: Iterable[Sample], spans: Sequence[tuple[float, float]]) -> DeviceUse | None:
    """The use within ``spans`` of time (begin and end in seconds, on the clock of the samples); None without a sample
    there. A sample tells of the time before it, so the first period of a span belongs to what was before."""
    inside = [one for one in samples if any(begin + PERIOD <= one.at <= end for begin, end in spans)]
    if not inside:
        return None
    return DeviceUse(
        _mean([one.busy for one in inside if one.busy is not None]),
        max((one.memory for one in inside if one.memory is not None), default=None),
        _mean([one.power for one in inside if one.power is not None]),
        _mean([float(one.clock) for one in inside if one.clock is not None]),
    )


def spans(blocks: Iterable[Block]) -> list[tuple[float, float]]:
    """When blocks were measured."""
    return [(block.began, block.began + block.seconds) for block in blocks]


class GpuWatch:
    """Samples one GPU for as long as the context lasts; nothing where its driver cannot be asked.

    Args:
        uuid: of the GPU, as torch or the driver writes it; empty where the training has none.
        samples: takes them, in the order of time; on :func:`time.perf_counter`.
    """

    def __init__(self, uuid: str, samples: list[Sample]) -> None:
        self._samples = samples
        self._uuid = uuid
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._sample, name="gpu-watch", daemon=True)

    def __enter__(self) -> Self:
        if self._uuid:
            self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._over.set()
        if self._thread.is_alive():
            self._thread.join()

    def _sample(self) -> None:
        with driver() as library:
            handle = handle_of(library, self._uuid) if library is not None else None
            if handle is None:
                return
            while not self._over.wait(PERIOD):
                self._samples.append(sample(library, handle, time.perf_counter()))


def _mean(values: list[float]) -> float | None:
    return math.fsum(values) / len(values) if values else None
