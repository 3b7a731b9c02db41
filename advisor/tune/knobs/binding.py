"""Parts the cores between the threads of the training and the workers of its loader. Pure.

Threads of one operation wait for each other at its end, so that a worker which takes the core of one of them holds up
all. As dgl's ``use_cpu_affinity`` does, the training keeps to cores of its own and has no more threads than these, and
workers keep to the others. ``OMP_PROC_BIND`` does not do that: workers are forked from a thread that is bound by then,
and all run on its core.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

from accel_advisor.machine.machine import Machine

ONE_CORE = "there is one core, and one thread on it"
"""Why threads are left as they are there."""


@dataclass(frozen=True, slots=True)
class Split:
    """Who runs where.

    Attributes:
        training, workers: numbers of the cores, as the system counts them, hardware threads each by itself.
        threads: that an operation of the training is shared out among.
    """

    training: tuple[int, ...]
    workers: tuple[int, ...]
    threads: int


def no_split(machine: Machine, cores: Sequence[tuple[int, ...]], workers: int) -> str:
    """Why there is nothing to part, in words; empty where there is. Arguments as those of :func:`splits`."""
    if not cores:
        return "the system does not let a process choose its cores"
    if not workers:
        return "the loader has no workers, which could take the cores of the training"
    if machine.quota is not None and machine.quota < machine.affinity:
        return "a control group limits the time on cores here and not their number, and others run on them, too"
    return ONE_CORE if len(cores) < 2 else ""


def splits(cores: Sequence[tuple[int, ...]], workers: int, threads: int) -> tuple[Split, ...]:
    """The splits that are worth a trial, three at most: one core for the workers, one for each of them but no more than
    half of all, and between. ``cores`` holds the hardware threads of each, which stay together."""
    most = min(workers, len(cores) // 2)
    found = []
    for count in sorted({1, (1 + most) // 2, most} - {0} if most else ()):
        own, left = (tuple(chain(*part)) for part in (cores[:-count], cores[-count:]))
        found.append(Split(own, left, min(threads, len(own))))
    return tuple(found)


def written(numbers: Sequence[int]) -> str:
    """The numbers of cores in Python."""
    ordered = sorted(numbers)
    first, last = ordered[0], ordered[-1]
    if 2 < len(ordered) == last - first + 1:
        return f"range({first}, {last + 1})"
    return "{" + ", ".join(map(str, ordered)) + "}"
