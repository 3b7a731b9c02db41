"""What the workers of chosen settings take of a machine, in words."""

from __future__ import annotations

from accel_advisor.machine.machine import mebibytes
from accel_advisor.tuning.search.settings import Use

_LARGE = 0.5


def use_text(use: Use) -> str:
    """What is taken, in a few words: ``about 96 MiB of memory (22,000 MiB are free), 3 KiB of /dev/shm (64 MiB)``."""
    free = f" ({mebibytes(use.memory_free)} are free)" if use.memory_free is not None else ""
    shared = f" ({mebibytes(use.shared_free)} are free)" if use.shared_free is not None else ""
    pinned = f", {mebibytes(use.pinned)} of it pinned" if use.pinned else ""
    return f"about {mebibytes(use.memory)} of memory{free}, {mebibytes(use.shared)} of it in /dev/shm{shared}{pinned}"


def scarce(use: Use) -> list[str]:
    """A note for each resource of which more than half of what is free would be taken."""
    parts = (("memory", use.memory, use.memory_free), ("/dev/shm", use.shared, use.shared_free))
    return [
        f"the workers and batches would take {mebibytes(taken)} of the {mebibytes(free)} of {name} that are free: more "
        "than half, so that other programs may lack it"
        for name, taken, free in parts
        if free is not None and taken > _LARGE * free
    ]
