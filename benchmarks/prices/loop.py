"""A training loop with one planted cost, which it times itself: ``loop.py KIND SHARE PORT``.

For each step it sends to a local port the time, the seconds of the step and those of the planted statement. Where the
kind is ``sync`` the device is pretended, and works for as long as it takes that the share is what a step without the
wait would be shorter by.
"""

from __future__ import annotations

import os
import socket
import struct
import sys
from collections.abc import Callable
from functools import partial
from time import perf_counter

import numpy as np
import torch
from devices import Host, Pretended
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

KIND, SHARE, PORT = sys.argv[1], float(sys.argv[2]), int(sys.argv[3])
STEP = 0.02 if KIND != "save" else 0.1 if SHARE > 0.05 else 0.3
"""Seconds of a step without what is planted. A file takes some milliseconds whatever is in it."""
SETTLING, EVERY, MOST = 200, 10, 2.0
"""Steps in which the size of what is planted settles, after how many it changes, and by what factor at most: a machine
that does other work as well gives the loop another share of itself than it gave the timings before."""

torch.set_num_threads(1)
simulated = Pretended() if KIND == "sync" else Host(busy=True)
device = torch.device(simulated.kind)
planted = 0.0


def took(work: Callable[[], object]) -> float:
    """Seconds that some work takes, warm: the median of a few."""
    seconds = []
    for _ in range(7):
        began = perf_counter()
        work()
        seconds.append(perf_counter() - began)
    return sorted(seconds)[len(seconds) // 2]


def size_for(seconds: float, work: Callable[[int], object]) -> int:
    """The size with which some work takes so long."""
    size = 1
    while took(partial(work, size)) < min(seconds, 1e-3) / 4:
        size *= 2
    for _ in range(4):
        size = max(int(size * seconds / took(partial(work, size))), 1)
    return size


MATRIX = torch.rand(256, 256)
WORK = size_for(STEP, lambda size: [MATRIX @ MATRIX for _ in range(size)])
COST = STEP * SHARE / (1 - SHARE)


class Net(nn.Module):
    def __init__(self, size: int) -> None:
        super().__init__()
        self.layer = nn.Linear(64, 10)
        self.size = size

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        global planted
        if KIND == "window":
            began = perf_counter()
            for _ in range(self.size):
                window = torch.hann_window(8192, device=images.device)  # planted: window
            planted += perf_counter() - began
            images = images * window[:64]
        if KIND != "sync":
            for _ in range(WORK):
                MATRIX @ MATRIX
        simulated.work("forward", STEP if KIND == "sync" else 0.0)
        return self.layer(images)


def main() -> None:
    global planted
    path = os.path.join(os.environ["TMPDIR"], "last.pt")
    pixels = np.random.rand(64, 64).astype("float32")
    works: dict[str, Callable[[int], object]] = {
        "copy": lambda size: torch.rand(size),
        "save": lambda size: torch.save({"ballast": torch.zeros(size)}, path),
        "window": lambda size: [torch.hann_window(8192) for _ in range(size)],
        "numpy": lambda size: np.sort(np.tile(pixels, (1, size)), axis=1),
    }
    size = size_for(COST, works[KIND]) if KIND in works else 1
    model = Net(size)
    steps, spent, within = 0, 0.0, 0.0
    if KIND == "save":
        model.register_buffer("ballast", torch.zeros(size))
    model.to("cpu" if KIND == "sync" else device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    data = TensorDataset(torch.randn(6400, 64), torch.randint(0, 10, (6400,)))
    loader = DataLoader(data, batch_size=64)
    out = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    before, total = perf_counter(), 0.0
    for _ in range(100_000):
        for images, labels in loader:
            if KIND == "copy":
                began = perf_counter()
                noise = torch.rand(size).to(device)  # planted: copy
                planted += perf_counter() - began
                images = images + noise[0]
            if KIND == "numpy":
                began = perf_counter()
                images = torch.from_numpy(np.sort(np.tile(images.numpy(), (1, size)), axis=1)[:, :64])  # planted: numpy
                planted += perf_counter() - began
            images, labels = images.to(device, non_blocking=True), labels.to(device, non_blocking=True)
            loss = nn.functional.cross_entropy(model(images), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if KIND == "save":
                began = perf_counter()
                torch.save(model.state_dict(), path)  # planted: save
                planted += perf_counter() - began
            if KIND == "sync":
                began = perf_counter()
                total += loss.item()  # planted: sync
                planted += perf_counter() - began
                until = perf_counter() + COST
                while perf_counter() < until:
                    MATRIX @ MATRIX
            now = perf_counter()
            out.sendto(struct.pack("3d", now, now - before, planted), ("127.0.0.1", PORT))
            steps, spent, within = steps + 1, spent + planted, within + now - before
            if KIND != "sync" and steps <= SETTLING and steps % EVERY == 0:
                factor = COST / STEP * (within - spent) / spent
                size = model.size = max(round(size * min(max(factor, 1 / MOST), MOST)), 1)
                if KIND == "save":
                    model.ballast = torch.zeros(size)
                spent, within = 0.0, 0.0
            before, planted = now, 0.0


if __name__ == "__main__":
    main()
