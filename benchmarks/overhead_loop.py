"""A training loop that takes the probe out of its own process and puts it back, again and again, and times both.

Started by ``overhead.py`` with its :class:`Plan` as JSON, by itself and under the probe. What the probe has put into
this process is found by looking everywhere: at every name of every module, and of every class of torch. By itself there
is nothing to take out, and both kinds of blocks are the same.
"""

from __future__ import annotations

import json
import os
import random
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from types import FunctionType
from typing import Any

import torch
from torch import nn
from torch.optim import optimizer as optimizers
from torch.utils.data import DataLoader, TensorDataset

ADDRESS = "OVERHEAD_ADDRESS"
PROBE = "accel_advisor.tuning.probe."
MODULES = 60
BATCHES = 100
"""Of an epoch."""
WIDTH, ROWS = 8, 64
"""Of a batch."""


@dataclass(frozen=True)
class Blocks:
    """How one kind of step is timed.

    Attributes:
        pause: seconds that the loop waits between two steps, as for its accelerator where it reads the loss. They are
            not timed: nothing of the probe runs then but its threads.
        rounds: pairs of blocks, one with the probe and one without, in random order.
        skip, steps: of a block. While it skips, the interpreter gets used to what was put back; it does not wait then.
        width, rows: of what the modules compute with.
    """

    pause: float
    rounds: int
    skip: int
    steps: int
    width: int = WIDTH
    rows: int = ROWS


@dataclass(frozen=True)
class Plan:
    """What one process times.

    Attributes:
        seed: decides which block of a pair comes first.
        kinds: kinds of steps, by name.
        warm: steps before anything counts.
        alone: it runs by itself: then there is no trial whose blocks could end.
        periods: blocks of the trial whose ends are timed.
        period: steps from the end of one to that of the next, as many as ordinary ones fill a block of half a second.
        seen: how each event is timed, once after every step.
        device: as torch writes it.
    """

    seed: int
    kinds: dict[str, Blocks]
    alone: bool
    warm: int = 40
    periods: int = 24
    period: int = 25
    seen: Blocks = Blocks(0.0, rounds=6, skip=10, steps=20)
    device: str = "cpu"

    @classmethod
    def of(cls, text: str) -> Plan:
        """Read one that was written as JSON."""
        said = json.loads(text)
        kinds = {kind: Blocks(**each) for kind, each in said["kinds"].items()}
        return cls(**{**said, "kinds": kinds, "seen": Blocks(**said["seen"])})


def foreign(value: Any) -> bool:
    """Whether a function is the probe's own."""
    return type(value) is FunctionType and str(value.__globals__.get("__name__", "")).startswith(PROBE)


def places() -> Iterator[tuple[Any, str, Any]]:
    """Every name of a module, or of a class of torch, that stands for a function of the probe's: owner, name, value."""
    owners: dict[int, Any] = {}
    for name, module in list(sys.modules.items()):
        if module is None or name.startswith(PROBE) or module is sys.modules["__main__"]:
            continue
        owners[id(module)] = module
        if name.partition(".")[0] == "torch":
            kinds = (each for each in list(vars(module).values()) if issubclass(type(each), type))
            owners.update((id(each), each) for each in kinds)
    for owner in owners.values():
        for name, value in list(getattr(owner, "__dict__", {}).items()):
            if foreign(value):
                yield owner, name, value


def named(owner: Any, name: str) -> str:
    """A name with those of its class and module."""
    module = f"{owner.__module__}.{owner.__qualname__}" if isinstance(owner, type) else owner.__name__
    return f"{module}.{name}"


@dataclass
class Switch:
    """Takes out what the probe installed, and puts it back."""

    inside: bool = True
    places: list[tuple[Any, str, Any]] = field(default_factory=lambda: list(places()))

    def __post_init__(self) -> None:
        self.places = [place for place in self.places if hasattr(place[-1], "__wrapped__")]
        self._hooks = [
            (hooks, [(key, hook) for key, hook in hooks.items() if foreign(hook)])
            for hooks in (optimizers._global_optimizer_pre_hooks, optimizers._global_optimizer_post_hooks)
        ]

    @property
    def names(self) -> list[str]:
        """What is taken out of torch."""
        found = [named(owner, name) for owner, name, _ in self.places]
        found += [f"torch.optim.optimizer, hook {hook.__name__}" for _, mine in self._hooks for _, hook in mine]
        return sorted(each for each in found if each.startswith("torch"))

    def put(self, inside: bool) -> None:
        """Have the probe in place, or not."""
        if inside is self.inside:
            return
        self.inside = inside
        for owner, name, value in self.places:
            setattr(owner, name, value if inside else value.__wrapped__)
        for hooks, mine in self._hooks:
            for key, hook in mine:
                if inside:
                    hooks[key] = hook  # type: ignore[assignment]
                else:
                    del hooks[key]


class Loop:
    """Sixty small modules, their backward pass and SGD; batches are at hand."""

    def __init__(self, device: str) -> None:
        torch.set_num_threads(1)
        self.device = torch.device(device)
        self.size(WIDTH, ROWS)
        self._loader = DataLoader(TensorDataset(torch.randn(ROWS * BATCHES, WIDTH)), batch_size=ROWS)
        self.switch = Switch(places=[])
        self._iterators: dict[bool, Any] = {}

    def size(self, width: int, rows: int) -> None:
        """Trains a model that computes with matrices of another size."""
        layers = (layer for _ in range(MODULES // 2) for layer in (nn.Linear(width, width), nn.ReLU()))
        self._model = nn.Sequential(*layers).to(self.device)
        self._optimizer = torch.optim.SGD(self._model.parameters(), lr=1e-6)
        self._repeats = rows // ROWS, width // WIDTH

    def take(self) -> Any:
        """The next batch, from the probe's iterator where it is in place, else from torch's own."""
        inside = self.switch.inside
        try:
            return next(self._iterators[inside])[0]
        except (KeyError, StopIteration):
            self._iterators[inside] = iter(self._loader)
        return next(self._iterators[inside])[0]

    @property
    def iterator(self) -> str:
        """What batches come from now."""
        kind = type(self._iterators[self.switch.inside])
        return f"{kind.__module__}.{kind.__qualname__}"

    def step(self) -> float:
        """One training step; seconds that its batch took."""
        began = time.perf_counter()
        batch = self.take()
        taken = time.perf_counter() - began
        self._optimizer.zero_grad()
        inputs = batch.to(self.device)
        if self._repeats != (1, 1):
            inputs = inputs.repeat(*self._repeats)  # there, where no copy holds it up
        loss = self._model(inputs).square().mean()
        loss.backward()
        self._optimizer.step()
        if self.device.type != "cpu":
            loss.item()
        return taken


def clocks() -> tuple[float, float]:
    """By the wall, and processor time of all threads."""
    return time.perf_counter(), time.process_time()


def rounds(loop: Loop, blocks: Blocks, order: random.Random) -> dict[str, list[list[list[float]]]]:
    """Seconds of every step by each clock, in pairs of blocks with the probe (``in``) and without (``out``)."""
    found: dict[str, list[list[list[float]]]] = {"in": [], "out": []}
    loop.size(blocks.width, blocks.rows)
    for _ in range(blocks.rounds):
        for arm in order.sample(("in", "out"), 2):
            loop.switch.put(arm == "in")
            for _ in range(blocks.skip):
                loop.step()
            steps = []
            for _ in range(blocks.steps):
                if blocks.pause:
                    time.sleep(blocks.pause)
                before = clocks()
                loop.step()
                steps.append([round(now - then, 7) for now, then in zip(clocks(), before, strict=True)])
            found[arm].append([list(clock) for clock in zip(*steps, strict=True)])
    return found


def _calls() -> dict[str, Callable[[Loop], Callable[[], Any]]]:
    """What the probe sees in a step, each by itself."""

    def modules(_: Loop) -> Callable[[], Any]:
        chain, batch = nn.Sequential(*(nn.Identity() for _ in range(MODULES))), torch.zeros(1)
        return lambda: chain(batch)

    def module(_: Loop) -> Callable[[], Any]:
        alone, batch = nn.Identity(), torch.zeros(1)
        return lambda: alone(batch)

    def backward(_: Loop) -> Callable[[], Any]:
        return torch.zeros((), requires_grad=True).backward

    def optimize(_: Loop) -> Callable[[], Any]:
        weight = nn.Parameter(torch.zeros(1))
        weight.grad = torch.zeros(1)
        return torch.optim.SGD([weight], lr=0.0).step

    def transfer(loop: Loop) -> Callable[[], Any]:
        batch = torch.zeros(1)
        return lambda: batch.to(loop.device)

    return {
        "a batch": lambda loop: loop.take,
        "a module": module,
        "sixty modules within one": modules,
        "a backward pass": backward,
        "an optimizer's step": optimize,
        "a call of Tensor.to": transfer,
    }


EVENTS = _calls()


def events(loop: Loop, seen: Blocks, order: random.Random) -> dict[str, dict[str, list[list[list[float]]]]]:
    """As :func:`rounds`, by the wall alone, for each event: once after every step, in caches as that leaves them."""
    found: dict[str, dict[str, list[list[list[float]]]]] = {}
    for name, make in EVENTS.items():
        call, found[name] = make(loop), {"in": [], "out": []}
        for _ in range(seen.rounds):
            for arm in order.sample(("in", "out"), 2):
                loop.switch.put(arm == "in")
                for _ in range(seen.skip):
                    loop.step()
                times = []
                for _ in range(seen.steps):
                    loop.step()
                    before = time.perf_counter()
                    call()
                    times.append(round(time.perf_counter() - before, 8))
                found[name][arm].append([times])
    return found


def ends(loop: Loop, plan: Plan) -> list[float]:
    """Seconds that a batch takes longer at the end of a block of the trial, where the parent is asked for the next one,
    than in the middle of it."""
    found = []
    for _ in range(plan.periods):
        *others, longest = sorted(loop.step() for _ in range(plan.period))
        found.append(longest - others[len(others) // 2])
    return found


def threads() -> float:
    """Processor time of the probe's own threads so far, in seconds."""
    mine = (each.ident for each in threading.enumerate() if each.name.startswith("accel-advisor"))
    return sum(time.clock_gettime(time.pthread_getcpuclockid(each)) for each in mine if each is not None)


def main() -> None:
    """Times everything, and says it."""
    plan = Plan.of(sys.argv[1])
    order = random.Random(plan.seed)
    loop = Loop(plan.device)
    for _ in range(plan.warm):
        loop.step()
    loop.switch = Switch()
    of_blocks = [] if plan.alone else ends(loop, plan)
    iterators = {}
    for arm in ("in", "out"):
        loop.switch.put(arm == "in")
        if arm == "out":
            left = [named(owner, name) for owner, name, _ in places()]
            left = [each for each in left if each.startswith("torch")]
            assert not left, f"the probe is still in {left}"
        loop.step()
        iterators[arm] = loop.iterator
    began, spent = time.perf_counter(), threads()
    kinds = {kind: rounds(loop, blocks, order) for kind, blocks in plan.kinds.items()}
    loop.size(plan.seen.width, plan.seen.rows)
    said = {
        "kinds": kinds,
        "threads": (threads() - spent) / (time.perf_counter() - began),
        "events": {} if plan.alone else events(loop, plan.seen, order),
        "ends": of_blocks,
        "iterators": iterators,
        "taken": loop.switch.names,
    }
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as out:
        out.connect(os.environ[ADDRESS])
        out.sendall(json.dumps(said).encode())


if __name__ == "__main__":
    main()
