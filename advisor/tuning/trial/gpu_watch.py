"""What the GPU did while blocks were measured: utilisation, memory, power and clock, as its driver reports them.

The parent asks the driver, several times a second, from a thread of its own: the user's process is left alone. Blocks
carry the time at which they began on the monotonic clock, which all processes of a machine share, so that samples and
blocks find each other.
"""

from __future__ import annotations

import threading
import time
from types import TracebackType
from typing import Self

from accel_advisor.machine.gpus import Sample, driver, handle_of, sample

PERIOD = 0.2
"""Seconds between samples; the driver itself averages utilisation over a sixth of a second to a second."""


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
