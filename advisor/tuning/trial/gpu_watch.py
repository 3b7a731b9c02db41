"""What the GPU did while blocks were measured: utilisation, memory, power, clock and energy, as its driver reports.

The parent asks the driver, several times a second, from a thread of its own: the user's process is left alone. Blocks
carry the time at which they began on the monotonic clock, which all processes of a machine share, so that samples and
blocks find each other.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from typing import Self

from accel_advisor.machine.gpus import Sample, driver, handle_of, metered, sample

PERIOD = 0.1
"""Seconds between samples, where the driver answers at once: a block of 0.4 s holds three."""


class GpuWatch:
    """Samples the first GPU of a training for as long as the context lasts, and what all of them take of energy;
    nothing where their driver cannot be asked.

    Args:
        uuids: of the GPU of each rank, as torch or the driver writes it; empty where a rank has none.
        samples: takes them, in the order of time; on :func:`time.perf_counter`.
    """

    def __init__(self, uuids: Sequence[str], samples: list[Sample]) -> None:
        self._samples = samples
        self._uuids = tuple(dict.fromkeys(uuids))
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._sample, name="gpu-watch", daemon=True)

    def __enter__(self) -> Self:
        if self._uuids and self._uuids[0]:
            self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        if self._thread.is_alive():
            self._thread.join()

    def _sample(self) -> None:
        with driver() as library:
            if library is None:
                return
            handles = [handle_of(library, uuid) for uuid in self._uuids]
            if handles[0] is None:
                return
            cards = metered(library, handles)
            while not self._over.wait(PERIOD):
                self._samples.append(sample(library, handles[0], time.perf_counter(), cards))
