"""How many cores this process may use; nothing else is imported to find it out."""

from __future__ import annotations

import os


def usable_cores() -> int:
    """The cores that this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
