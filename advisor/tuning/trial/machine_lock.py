"""One trial at a time: two on one machine would take each other's cores and spoil both answers.

The lock is the kernel's, on the folder for temporary files: it leaves no file behind, and ends with the process that
holds it, however that ends. Where the system has no such locks, nobody waits.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

_LOOK_SECONDS = 0.5


class MachineBusy(Exception):  # noqa: N818
    """Another trial runs on this machine; ``holder`` is its process, None where the system does not say."""

    def __init__(self, holder: int | None) -> None:
        super().__init__(f"another trial is running on this machine{f' (process {holder})' if holder else ''}")
        self.holder = holder


@contextmanager
def machine_lock(waiting: Callable[[MachineBusy], None] | None = None) -> Iterator[None]:
    """Holds the lock while it is open.

    Args:
        waiting: is called once where another trial runs, and then this one waits for it; None to be refused instead.

    Raises:
        MachineBusy: another trial runs.
    """
    folder = tempfile.gettempdir()
    if fcntl is None:
        yield
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        busy = _busy(descriptor)
        if busy is not None:
            if waiting is None:
                raise busy
            waiting(busy)
        while busy is not None:
            time.sleep(_LOOK_SECONDS)
            busy = _busy(descriptor)
        yield
    finally:
        os.close(descriptor)


def _busy(descriptor: int) -> MachineBusy | None:
    """Takes the lock; who has it, where somebody does."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return MachineBusy(_holder(descriptor))
    except OSError:
        return None  # a file system without locks
    return None


def _holder(descriptor: int) -> int | None:
    """The process that has the lock, as Linux lists it: ``1: FLOCK ADVISORY WRITE 4321 fd:00:1234 0 EOF``."""
    found = os.fstat(descriptor)
    place = f"{os.major(found.st_dev):02x}:{os.minor(found.st_dev):02x}:{found.st_ino}"
    with suppress(OSError), open("/proc/locks") as lines:
        for line in lines:
            words = line.split()
            if words[1] == "FLOCK" and words[5] == place and words[4].isdigit():
                return int(words[4])
    return None
