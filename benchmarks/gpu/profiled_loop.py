"""A training loop that profiles itself: ``profiled_loop.py '{"copied": 67108864, ...}' ADDRESS``.

It runs until a file is there, and then says through a socket what torch.profiler saw: when kernels ran, when tensors
were copied to the device, and when the loop asked for a batch, on the clock of :func:`time.perf_counter`. On the
processor the operators of torch stand in for kernels.
"""

from __future__ import annotations

import json
import socket
import sys
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import torch
from torch import nn
from torch.profiler import ProfilerActivity, profile, record_function
from torch.utils.data import DataLoader, Dataset

FETCH = "profiled loop: fetch"
PARTS = ("compute", "transfer", "fetch")


@dataclass(frozen=True)
class Plan:
    """What a step does.

    Attributes:
        sleep: seconds of the data set for a batch.
        host: seconds that the script sleeps at the end of a step.
        copied: bytes of pageable memory that are moved in each step, besides the batch.
        layers, width, rows: of the model, and the rows that it gets.
        sync: whether the loop reads its loss in every step.
        ready: a file; when it is there, the loop ends.
    """

    sleep: float = 0.0
    host: float = 0.0
    copied: int = 0
    layers: int = 4
    width: int = 64
    rows: int = 64
    sync: bool = True
    ready: str = "done"


class Samples(Dataset[torch.Tensor]):
    """One row at a time: a batch is one of them."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan

    def __len__(self) -> int:
        return 100_000

    def __getitem__(self, index: int) -> torch.Tensor:
        if self._plan.sleep:
            time.sleep(self._plan.sleep)
        return torch.full((self._plan.width,), 0.5)


def parts_of(events: Iterable[Any], device: str) -> dict[str, list[tuple[float, float]]]:
    """Spans of each part in microseconds, of the events of a profile.

    A copy from the host is a transfer; whatever else the device does computes.

    Args:
        events: as ``torch.profiler.profile.events()`` gives them.
        device: ``cuda`` or ``cpu``.
    """
    found: dict[str, list[tuple[float, float]]] = {part: [] for part in PARTS}
    events = list(events)
    marks = {event.name for event in events if event.is_user_annotation}
    for event in events:
        span = event.time_range.start, event.time_range.end
        on_device = event.device_type != torch.autograd.DeviceType.CPU
        if event.name == FETCH and not on_device:
            found["fetch"].append(span)
        elif event.name in marks or (device != "cpu") != on_device:
            continue  # marks, such as the optimizer's, span what is launched within them
        elif "HtoD" in event.name:
            found["transfer"].append(span)
        elif on_device or event.name.startswith("aten::"):
            found["compute"].append(span)
    return found


def on_clock(parts: dict[str, list[tuple[float, float]]], asked: list[float]) -> dict[str, list[tuple[float, float]]]:
    """Microseconds of the profile as seconds of the clock by which the loop asked for its batches.

    Raises:
        ValueError: the profiler saw another number of batches.
    """
    if len(asked) != len(parts["fetch"]) or not asked:
        raise ValueError(f"the profiler saw {len(parts['fetch'])} batches of {len(asked)}")
    begun = sorted(begin / 1e6 for begin, _ in parts["fetch"])
    late = median(now - begin for now, begin in zip(asked, begun, strict=True))
    return {part: [(begin / 1e6 + late, end / 1e6 + late) for begin, end in spans] for part, spans in parts.items()}


def main() -> None:
    """Trains until it is asked to end, and reports what the profiler saw."""
    plan, address = Plan(**json.loads(sys.argv[1])), sys.argv[2]
    device = "cuda" if torch.cuda.is_available() else "cpu"
    model = nn.Sequential(*(nn.Linear(plan.width, plan.width) for _ in range(plan.layers))).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-6)
    loader = DataLoader(Samples(plan), batch_size=1)
    ballast = torch.ones(plan.copied, dtype=torch.uint8) if plan.copied else None
    activities = [ProfilerActivity.CPU, *([ProfilerActivity.CUDA] if device == "cuda" else [])]
    asked: list[float] = []
    with profile(activities=activities) as profiler:
        batches = iter(loader)
        while not Path(plan.ready).exists():
            with record_function(FETCH):
                asked.append(time.perf_counter())
                inputs = next(batches)
            if ballast is not None:
                ballast.to(device)
            loss = model(inputs.to(device).expand(plan.rows, -1)).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if plan.sync:
                loss.item()
            if plan.host:
                time.sleep(plan.host)
        if device == "cuda":
            torch.cuda.synchronize()
    said: dict[str, Any]
    try:
        said = on_clock(parts_of(profiler.events(), device), asked)
    except ValueError as error:
        said = {"failed": str(error)}
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as out:
        out.connect(address)
        out.sendall(json.dumps(said).encode())


if __name__ == "__main__":
    main()
