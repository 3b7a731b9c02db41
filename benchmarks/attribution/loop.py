"""A training loop whose every part takes as long as is given: ``loop.py '{"fetch": 0.03, "forward": 0.01, ...}'``."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from typing import Any

import torch
from devices import Cuda, Host, Pretended, Spell
from torch import nn
from torch.utils.data import DataLoader, Dataset

torch.set_num_threads(1)


@dataclass(frozen=True)
class Plan:
    """Seconds a batch, and the shape of the loop.

    Attributes:
        device: ``host``, ``busy`` (the same, computing in earnest), ``cuda`` or ``pretended``.
        fetch, forward, functional, backward, optimizer, host, transfer: seconds of each part. ``functional`` is work
            between forward and backward that belongs to no module.
        workers: of the loader.
        accumulate: batches to each step of the optimizer.
        epoch: batches in an epoch.
        evaluate: seconds of an evaluation after each epoch.
        depth: modules around the one that works.
        sync: whether the loop reads its loss in every step.
        non_blocking: how it copies.
        moved_inside: whether the outermost module moves its own input.
    """

    device: str = "host"
    fetch: float = 0.0
    forward: float = 0.0
    functional: float = 0.0
    backward: float = 0.0
    optimizer: float = 0.0
    host: float = 0.0
    transfer: float = 0.0
    workers: int = 0
    accumulate: int = 1
    epoch: int = 100_000
    evaluate: float = 0.0
    depth: int = 0
    sync: bool = True
    non_blocking: bool = False
    moved_inside: bool = False


def device_of(plan: Plan) -> Host:
    """Where the work of ``plan`` is done."""
    if plan.device == "cuda":
        return Cuda()
    return Pretended() if plan.device == "pretended" else Host(busy=plan.device == "busy")


class Samples(Dataset[torch.Tensor]):
    """Numbers that take their time."""

    def __init__(self, length: int, seconds: float) -> None:
        self._length = length
        self._seconds = seconds
        self._spell = Spell()

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, index: int) -> torch.Tensor:
        self._spell.take(self._seconds)
        return torch.ones(8)


class Costly(torch.autograd.Function):
    """Nothing, in the time that is given."""

    @staticmethod
    def forward(context: Any, inputs: torch.Tensor, device: Host, forward: float, backward: float) -> torch.Tensor:
        """Takes the time of the forward pass."""
        device.work("forward", forward)
        context.later = device, backward
        return inputs.clone()

    @staticmethod
    def backward(context: Any, gradient: torch.Tensor) -> Any:
        """Takes the time of the backward pass."""
        device, seconds = context.later
        device.work("backward", seconds)
        return gradient, None, None, None


class Work(nn.Module):
    """A layer that takes its time."""

    def __init__(self, device: Host, plan: Plan) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(8))
        self._device = device
        self._plan = plan

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        """Both passes take what the plan says."""
        return Costly.apply(inputs * self.weight, self._device, self._plan.forward, self._plan.backward)


class Mover(nn.Module):
    """Moves the data itself, as models do that know their device."""

    def __init__(self, inner: nn.Module, ballast: torch.Tensor | None, kind: str) -> None:
        super().__init__()
        self.inner = inner
        self._ballast = ballast
        self._kind = kind

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        """Moves, then computes."""
        if self._ballast is not None:
            self._ballast.to(self._kind)
        return self.inner(inputs.to(self._kind))


class Descent(torch.optim.SGD):
    """Gradient descent that takes its time."""

    device: Host
    seconds: float

    def step(self, closure: Any = None) -> Any:
        """One step."""
        self.device.work("optimizer", self.seconds)
        return super().step(closure)


def main() -> None:
    """Trains forever."""
    plan = Plan(**json.loads(sys.argv[1]))
    device = device_of(plan)
    ballast = device.ballast(plan.transfer)
    model: nn.Module = Work(device, plan)
    for _ in range(plan.depth):
        model = nn.Sequential(model, nn.Identity())
    if plan.moved_inside:
        model = Mover(model, ballast, device.kind)
    model = device.place(model)
    optimizer = Descent(model.parameters(), 1e-3)
    optimizer.device, optimizer.seconds = device, plan.optimizer * plan.accumulate
    loader = DataLoader(Samples(plan.epoch, plan.fetch), batch_size=1, num_workers=plan.workers)
    held_out = DataLoader(Samples(5, plan.evaluate / 5))
    own = Spell()
    while True:
        for number, inputs in enumerate(loader):
            if not plan.moved_inside:
                if ballast is not None:
                    ballast.to(device.kind, non_blocking=plan.non_blocking)
                inputs = inputs.to(device.kind, non_blocking=plan.non_blocking)
            outputs = model(inputs)
            device.work("functional", plan.functional)
            loss = outputs.square().mean()
            loss.backward()
            if number % plan.accumulate == plan.accumulate - 1:
                optimizer.step()
                optimizer.zero_grad()
            if plan.sync:
                loss.item()
            own.take(plan.host)
        if plan.evaluate:
            with torch.no_grad():
                for inputs in held_out:
                    model(inputs.to(device.kind)).square().mean().item()


if __name__ == "__main__":
    main()
