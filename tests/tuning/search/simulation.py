"""A training loop with a multi-process DataLoader, simulated event by event, that answers a search as a trial would.

Workers take batches in turn, ``num_workers x prefetch_factor`` of them under way, and hand them over in order. Work on
the processor is shared among the cores; waiting (storage, the device) is not. The machine's speed may wander and a
neighbour may take a part of it, both from a seed.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Generator
from dataclasses import dataclass, field, replace
from random import Random

from accel_advisor.tuning.probe.channel.wire import NO_TRANSFER, NO_WAIT, Block, Settings
from accel_advisor.tuning.search.readings import Busy
from accel_advisor.tuning.search.search import Answer, Request, Search
from accel_advisor.tuning.search.settings import prefetch

_EPSILON = 1e-12


@dataclass(frozen=True)
class Workload:
    """What a batch costs, in seconds, and what there is to run it on.

    ``spread`` is the coefficient of variation of a fetch; ``slow_share`` of the fetches take ``slow_times`` as long.
    ``wander`` is the standard deviation of the machine's log-speed, ``load`` the share of speed that a neighbour takes
    while it is there (half of the time). ``thrash`` is what each process more than there are cores costs all of them.
    """

    fetch_cpu: float = 0.0
    fetch_io: float = 0.0
    step_cpu: float = 0.001
    step_device: float = 0.01
    transfer: float = 0.0
    handover: float = 0.001
    spread: float = 0.0
    slow_share: float = 0.0
    slow_times: float = 1.0
    start: float = 0.05
    start_worker: float = 0.03
    length: int | None = None
    cores: int = 4
    jitter: float = 0.0
    wander: float = 0.0
    load: float = 0.0
    thrash: float = 0.1
    batch_size: int = 32


@dataclass(eq=False, slots=True)
class _Task:
    kind: str
    left: float
    done: Callable[[], None]


@dataclass
class _Pool:
    settings: Settings
    queues: list[deque[int]]
    idle: set[int]
    arrived: set[int] = field(default_factory=set)
    sent: int = 0
    taken: int = 0
    closed: bool = False


class Simulation:
    """One run of a loop; its clock goes on from block to block. Without ``counts_cores`` nobody sees how busy its cores
    are, as outside of Linux."""

    def __init__(self, workload: Workload, baseline: Settings, seed: int = 0, *, counts_cores: bool = True) -> None:
        self.counts_cores = counts_cores
        self.workload = workload
        self.baseline = baseline
        self.now = 0.0
        self.pool: _Pool | None = None
        self._random = Random(seed)
        self._tasks: list[_Task] = []
        self._wander = 0.0
        self._loaded = False
        self._used = self._others = 0.0
        self._rates: dict[int, float] = {}
        if workload.wander or workload.load:
            self._turn()

    # The machine

    @property
    def _speed(self) -> float:
        return math.exp(self._wander) * (1 - self.workload.load * self._loaded)

    def _share(self, busy: int) -> float:
        """The speed of each of ``busy`` processes; more of them than cores lose time on top of sharing them."""
        crowd = max(0.0, busy / self.workload.cores - 1)
        return min(1.0, self.workload.cores / busy) / (1 + self.workload.thrash * crowd)

    def _turn(self) -> None:
        self._wander = 0.9 * self._wander + self._random.gauss(0, self.workload.wander * math.sqrt(1 - 0.81))
        if self._random.random() < 0.3:
            self._loaded = not self._loaded
        self._rates = {}
        self._tasks.append(_Task("clock", 0.5 + self._random.random(), self._turn))

    def _rate(self, busy: int) -> float:
        """The speed of each of ``busy`` processes, until the machine is another."""
        if busy not in self._rates:
            self._rates[busy] = self._speed * self._share(busy)
        return self._rates[busy]

    def _run(self, until: Callable[[], object]) -> None:
        # Millions of rounds: plain loops take half as long as generators, and what does not change is not asked again.
        tasks, cores, load = self._tasks, self.workload.cores, self.workload.load
        while not until():
            busy, rate, step, first = 0, 1.0, math.inf, math.inf
            for task in tasks:
                left = task.left
                if task.kind == "cpu":
                    busy += 1
                    if left < first:
                        first = left
                elif left < step:
                    step = left
            if busy:
                rate = self._rates.get(busy) or self._rate(busy)
                if first / rate < step:
                    step = first / rate
                self._used += step * (busy if busy < cores else cores) * (1 - load * self._loaded)
            self.now += step
            if self._loaded:
                self._others += step * cores * load
            worked, finished = step * rate, []
            for task in tasks:
                left = task.left = task.left - (worked if task.kind == "cpu" else step)
                if left <= _EPSILON:
                    finished.append(task)
            for task in finished:
                tasks.remove(task)
            for task in finished:
                task.done()

    def _work(self, kind: str, seconds: float) -> None:
        """What the main process does by itself."""
        if seconds <= 0:
            return
        over: list[bool] = []
        self._tasks.append(_Task(kind, seconds, lambda: over.append(True)))
        self._run(over.__len__)

    # The loader

    def _costs(self) -> tuple[float, float]:
        w, r = self.workload, self._random
        factor = math.exp(r.gauss(0, w.spread) - w.spread**2 / 2) if w.spread else 1.0
        if w.slow_share and r.random() < w.slow_share:
            factor *= w.slow_times
        return w.fetch_cpu * factor, w.fetch_io * factor

    def _send(self, pool: _Pool) -> None:
        worker = pool.sent % pool.settings.num_workers
        pool.queues[worker].append(pool.sent)
        pool.sent += 1
        if worker in pool.idle:
            self._next(pool, worker)

    def _next(self, pool: _Pool, worker: int) -> None:
        if pool.closed:
            return
        if not pool.queues[worker]:
            pool.idle.add(worker)
            return
        pool.idle.discard(worker)
        index = pool.queues[worker].popleft()
        cpu, io = self._costs()

        def arrive() -> None:
            pool.arrived.add(index)
            self._next(pool, worker)

        if not cpu and not io:
            cpu = _EPSILON * 10
        computed = _Task("cpu", cpu, arrive)
        if io:
            first = _Task("io", io, (lambda: self._tasks.append(computed)) if cpu else arrive)
            self._tasks.append(first)
        else:
            self._tasks.append(computed)

    def open(self, settings: Settings) -> float:
        """Starts a pool in place of the one before; seconds until its first batch was there."""
        began = self.now
        if self.pool is not None:
            self.pool.closed = True
            self._tasks = [task for task in self._tasks if task.kind == "clock"]
        count = settings.num_workers
        self.pool = _Pool(settings, [deque() for _ in range(count)], set(range(count)))
        if count:
            self._work("io", self.workload.start + self.workload.start_worker * count)
            self._prime()
            self._run(lambda: 0 in self.pool.arrived)  # type: ignore[union-attr]
        return self.now - began

    def restart(self) -> None:
        """The start of an epoch for workers that persist: nothing is under way."""
        assert self.pool is not None
        settings = self.pool.settings
        self.pool.closed = True
        self._tasks = [task for task in self._tasks if task.kind == "clock"]
        count = settings.num_workers
        self.pool = _Pool(settings, [deque() for _ in range(count)], set(range(count)))
        self._prime()

    def _prime(self) -> None:
        assert self.pool is not None
        for _ in range(self.pool.settings.num_workers * prefetch(self.pool.settings)):
            self._send(self.pool)

    def take(self) -> float:
        """One batch from the pool into the loop; seconds waited."""
        began = self.now
        pool = self.pool
        assert pool is not None
        if pool.settings.num_workers == 0:
            cpu, io = self._costs()
            self._work("io", io)
            self._work("cpu", cpu)
        else:
            self._run(lambda: pool.taken in pool.arrived)
            pool.arrived.discard(pool.taken)
            pool.taken += 1
            self._send(pool)
            self._work("cpu", self.workload.handover)
        return self.now - began

    def step(self, *, transfer: bool = True, settings: Settings | None = None) -> float:
        """One step of the loop; seconds of its transfer."""
        began = self.now
        if transfer and self.workload.transfer:
            hidden = settings is not None and settings.pin_memory and settings.non_blocking
            self._work("io", self.workload.transfer * (0.2 if hidden else 1.0))
        moved = self.now - began
        self._work("cpu", self.workload.step_cpu)
        device = self.workload.step_device
        if self.workload.jitter:
            device *= math.exp(self._random.gauss(0, self.workload.jitter))
        self._work("io", device)
        return moved

    # What a trial does

    def answer(self, request: Request) -> Answer:
        """One block, by the protocol of a trial: one pool, warm-up, batches in a multiple of the workers."""
        asked, used, others = self.now, self._used, self._others
        block = self._block(request)
        seconds = self.now - asked
        busy = Busy((self._used - used) / seconds, (self._others - others) / seconds) if self.counts_cores else None
        return Answer(block, seconds, busy=busy)

    def _settled(self, ready: list[int]) -> bool:
        """Whether the queue is full, empty or no longer changing, as a trial's pool decides it."""
        if self.pool is None or len(ready) < 2 * self.pool.settings.num_workers + 1:
            return False
        count, buffer = self.pool.settings.num_workers, len(self.pool.queues) * prefetch(self.pool.settings)
        window = ready[-max(count, 2) - 1 :]
        first, last = window[0], window[-1]
        return last == 0 == first or last >= buffer - count or abs(last - first) <= 1

    def _block(self, request: Request) -> Block:
        asked = request.measure
        what, cached = asked.what, asked.what in (NO_WAIT, NO_TRANSFER)
        settings = what if isinstance(what, Settings) else self.baseline
        pool_seconds, warm = 0.0, 2
        if not cached and (asked.fresh or self.pool is None or self.pool.settings != settings):
            pool_seconds = self.open(settings)
        if not cached:
            warm = 2 * settings.num_workers + 1 + 2 * settings.num_workers * prefetch(settings)
        elif self.pool is not None:
            self.pool.closed = True
            self.pool = None
            self._tasks = [task for task in self._tasks if task.kind == "clock"]
        ready: list[int] = []
        while len(ready) < warm and not self._settled(ready):
            if not cached:
                self.take()
            self.step(transfer=what != NO_TRANSFER, settings=settings)
            ready.append(len(self.pool.arrived) if self.pool is not None else 0)
        began, batches, wait, transfer = self.now, 0, 0.0, 0.0
        group = max(1, settings.num_workers)
        while batches < asked.min_batches or self.now - began < asked.min_seconds or batches % group:
            if not cached:
                wait += self.take()
            transfer += self.step(transfer=what != NO_TRANSFER, settings=settings)
            batches += 1
        seconds = self.now - began
        samples = batches * self.workload.batch_size
        compute = seconds - wait - transfer
        return Block(
            what, batches, samples, seconds, wait, transfer, compute, 0.0, began, pool_seconds, None, len(ready)
        )


def drive(search: Search, simulation: Simulation) -> int:
    """Lets a search run to its end; the number of blocks that it asked for."""
    plan: Generator[Request, Answer, None] = search.plan()
    blocks = 0
    try:
        request = next(plan)
        while True:
            blocks += 1
            request = plan.send(simulation.answer(request))
    except StopIteration:
        return blocks


def true_rate(workload: Workload, settings: Settings, batches: int = 400) -> float:
    """Batches a second in a long quiet run, epochs and their starts included."""
    quiet = replace(workload, jitter=0.0, wander=0.0, load=0.0)
    loop = Simulation(quiet, settings, seed=12345)
    if workload.length is None or workload.length > batches:
        starting = loop.open(settings)
        for _ in range(2 * settings.num_workers * max(1, prefetch(settings))):
            loop.take()
            loop.step(settings=settings)
        began = loop.now
        for _ in range(batches):
            loop.take()
            loop.step(settings=settings)
        steady = (loop.now - began) / batches
        if workload.length is None or settings.num_workers == 0:
            return 1 / steady
        start = sum(quiet_costs(quiet)) if settings.persistent_workers else starting
        return 1 / (steady + max(0.0, start - steady) / workload.length)
    epochs = max(2, min(20, batches // workload.length))
    elapsed = 0.0
    for epoch in range(epochs):
        began = loop.now
        if epoch == 0 or not settings.persistent_workers or settings.num_workers == 0:
            loop.open(settings)
        else:
            loop.restart()
        for _ in range(workload.length):
            loop.take()
            loop.step(settings=settings)
        if epoch:
            elapsed += loop.now - began
    return (epochs - 1) * workload.length / elapsed


def quiet_costs(workload: Workload) -> tuple[float, float]:
    """The mean costs of a fetch: processor, waiting."""
    mean = 1 + workload.slow_share * (workload.slow_times - 1)
    return workload.fetch_cpu * mean, workload.fetch_io * mean
