"""What a trial takes of the processor: its script, its workers and whatever else they started; and what other work
takes meanwhile."""

from __future__ import annotations

import os
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from accel_advisor.machine.other_work import busy_seconds

_PARENT, _TIMES = 1, slice(11, 15)
"""Fields of /proc/PID/stat behind the name, as proc_pid_stat(5) has them: its own time and that of ended children."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Processor seconds so far, None where the system does not say.

    Attributes:
        at: on :func:`time.monotonic`.
        trial: of the trial and everything below it.
        own: the same, and of this process.
        all: of whatever ran on the cores that this process may run on.
    """

    at: float
    trial: float | None
    own: float | None
    all: float | None

    @classmethod
    def now(cls, trial: int | None) -> Usage:
        """That of the trial with this process identity."""
        own = os.getpid()
        found = processor_seconds(trial, own)
        return cls(time.monotonic(), found.get(trial), found.get(own), busy_seconds())

    def cores_since(self, before: Usage) -> float | None:
        """Cores that the trial kept busy since then, on average."""
        return _mean(self.trial, before.trial, self.at - before.at)

    def others_since(self, before: Usage) -> float | None:
        """Cores that other work kept busy since then, on average."""
        own, every = (_mean(getattr(self, name), getattr(before, name), self.at - before.at) for name in ("own", "all"))
        return None if own is None or every is None else max(0.0, every - own)


def _mean(after: float | None, before: float | None, seconds: float) -> float | None:
    return None if before is None or after is None or seconds <= 0 else max(0.0, after - before) / seconds


def processor_seconds(*pids: int | None) -> dict[int | None, float]:
    """Processor time of each of some processes and everything below it so far, in seconds, those that have ended and
    were waited for included; without those of which the system says nothing, as outside of Linux."""
    if not sys.platform.startswith("linux"):
        return {}
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
    return {
        pid: sum(spent for one, spent in ticks.items() if _descends(one, pid, parents)) / os.sysconf("SC_CLK_TCK")
        for pid in pids
        if pid in ticks
    }


def _descends(child: int, ancestor: int, parents: dict[int, int]) -> bool:
    while child in parents and child != ancestor:
        child = parents[child]
    return child == ancestor
