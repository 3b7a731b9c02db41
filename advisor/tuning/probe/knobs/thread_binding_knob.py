"""Parts the cores between the threads of the training and the workers of its loader.

Threads of one operation wait for each other at its end, so that a worker which takes the core of one of them holds up
all. As dgl's ``use_cpu_affinity`` does, the training keeps to cores of its own and has no more threads than these, and
workers keep to the others. ``OMP_PROC_BIND`` does not do that: workers are forked from a thread that is bound by then,
and all run on its core.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, ClassVar, Self

from accel_advisor.tuning.probe.knobs.knob import Knob, Situation
from accel_advisor.tuning.probe.knobs.knob_statements import BehindImports, Statement, WorkerStart
from accel_advisor.tuning.probe.knobs.threads_knob import ONE_CORE, Threads, hold, setting
from accel_advisor.tuning.probe.turning.compared_training import ComparedTraining
from accel_advisor.tuning.probe.turning.rebuilt_loader import rebuild


@dataclass(frozen=True, slots=True)
class ThreadBinding(Knob):
    """Who runs where: ``training`` and ``workers`` are numbers of cores, as the system counts them, hardware threads
    each by itself; an operation of the training is shared out among so many ``threads``."""

    training: tuple[int, ...] = ()
    workers: tuple[int, ...] = ()
    threads: int | None = None
    name: ClassVar[str] = "thread_binding"
    order: ClassVar[int] = 20
    device: ClassVar[str] = "cpu"
    most_values: ClassVar[int] = 3
    brings: ClassVar[Mapping[type[Knob], str]] = {Threads: "threads on cores of their own pay still more"}
    caution: ClassVar[str] = (
        "the cores are those of this machine, and the workers of other loaders run on the training's"
    )

    @classmethod
    def not_needed(cls, situation: Situation) -> str:
        if not situation.physical:
            return "the system does not let a process choose its cores"
        if not situation.info.settings.num_workers:
            return "the loader has no workers, which could take the cores of the training"
        if situation.shares_cores:
            return "a control group limits the time on cores here and not their number, and others run on them, too"
        return ONE_CORE if len(situation.physical) < 2 else ""

    @classmethod
    def values(cls, situation: Situation) -> tuple[Self, ...]:
        """The splits that are worth a trial, three at most: one core for the workers, one for each of them but no more
        than half of all, and between. The hardware threads of a core stay together."""
        cores = situation.physical
        most = min(situation.info.settings.num_workers, len(cores) // 2)
        best = situation.paid.get(Threads)
        threads = best.count if isinstance(best, Threads) and best.count else situation.before.threads
        found = []
        for count in sorted({1, (1 + most) // 2, most} - {0} if most else ()):
            own, left = (tuple(chain(*part)) for part in (cores[:-count], cores[-count:]))
            found.append(cls(own, left, min(threads, len(own))))
        return tuple(found)

    @property
    def written(self) -> tuple[Statement, ...]:
        return (
            BehindImports((_binding(self.training), setting(self.threads)), imports=("os",)),
            WorkerStart(_binding(self.workers), imports=("os",)),
        )

    def turn(self, torch: Any, training: ComparedTraining) -> None:
        hold(self.threads, torch, training)
        cores, workers = frozenset(self.training), frozenset(self.workers)
        os.sched_setaffinity(0, cores)  # and threads that this one starts
        training.check(lambda: "" if os.sched_getaffinity(0) == cores else "the script chooses its cores itself")

        def confine(loader: Any) -> None:
            loader.worker_init_fn = Confined(workers, loader.worker_init_fn)

        training.sites = rebuild(torch, training, after=confine)


class Confined:
    """What a worker starts with: cores of its own, and then what the script lets it start with."""

    def __init__(self, cores: frozenset[int], start: Callable[[int], Any] | None) -> None:
        self._cores = cores
        self._start = start

    def __call__(self, worker: int) -> None:
        """Run in a worker."""
        os.sched_setaffinity(0, self._cores)
        if self._start is not None:
            self._start(worker)


def _binding(numbers: Sequence[int]) -> str:
    return f"os.sched_setaffinity(0, {_set(numbers) if numbers else '{...}'})"


def _set(numbers: Sequence[int]) -> str:
    """The numbers of cores in Python."""
    ordered = sorted(numbers)
    first, last = ordered[0], ordered[-1]
    if 2 < len(ordered) == last - first + 1:
        return f"range({first}, {last + 1})"
    return "{" + ", ".join(map(str, ordered)) + "}"
