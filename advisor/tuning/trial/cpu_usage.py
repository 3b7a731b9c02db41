"""What a trial takes of the processor: its script, its workers and whatever else they started."""

from __future__ import annotations

import os
import sys
from pathlib import Path

_PARENT, _TIMES = 1, slice(11, 15)
"""Fields of /proc/PID/stat behind the name, as proc_pid_stat(5) has them: its own time and that of ended children."""


def processor_seconds(pid: int | None) -> float | None:
    """Processor time of a process and everything below it so far, in seconds, those that have ended and were waited for
    included; None where the system does not say, as outside of Linux. The system's own load is not taken: on a shared
    machine it lies."""
    if pid is None or not sys.platform.startswith("linux"):
        return None
    parents: dict[int, int] = {}
    ticks: dict[int, int] = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                fields = Path("/proc", name, "stat").read_bytes().rpartition(b")")[2].split()
            except OSError:
                continue
            parents[int(name)] = int(fields[_PARENT])
            ticks[int(name)] = sum(map(int, fields[_TIMES]))
    if pid not in ticks:
        return None
    return sum(spent for one, spent in ticks.items() if _descends(one, pid, parents)) / os.sysconf("SC_CLK_TCK")


def _descends(child: int, ancestor: int, parents: dict[int, int]) -> bool:
    while child in parents and child != ancestor:
        child = parents[child]
    return child == ancestor
