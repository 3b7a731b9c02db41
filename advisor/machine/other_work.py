"""What other work takes of the cores that this process may use."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from accel_advisor.machine.machine import Machine

_BUSY = (0, 1, 2, 5, 6, 7)
"""Fields of a line of /proc/stat behind its name, as proc_stat(5) has them: user, nice, system, interrupts of both
kinds, and what the host gave to other guests. Time of a guest of our own counts as user already."""


def busy_seconds(root: Path = Path("/")) -> float | None:
    """Seconds that the cores on which this process may run were busy so far, together; None where the system does not
    say, as outside of Linux. ``root`` is where ``proc`` is looked for."""
    if not hasattr(os, "sched_getaffinity"):
        return None
    cores, ticks = {f"cpu{number}" for number in os.sched_getaffinity(0)}, 0
    with suppress(OSError, ValueError, IndexError):
        for line in (root / "proc/stat").read_text().splitlines():
            name, *fields = line.split()
            if name in cores:
                cores.remove(name)
                ticks += sum(int(fields[number]) for number in _BUSY)
        return ticks / os.sysconf("SC_CLK_TCK") if not cores else None
    return None


def cores_taken(others: float, machine: Machine) -> float:
    """Of the cores that can be kept busy, how many other work took that kept ``others`` busy on average: where a quota
    allows less than the affinity, what the quota leaves free is nobody's loss."""
    return min(max(0.0, others - (machine.affinity - machine.cores)), machine.cores)
