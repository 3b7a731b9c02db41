"""Steps that wait for the device, and steps that make tensors on the host; models and data stay on the device."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import nn

from .habit_variants import Variant


def _spin(seconds: float) -> None:
    until = time.perf_counter() + seconds
    while time.perf_counter() < until:
        pass


class Waits:
    """Makes the steps of each group on one device."""

    def __init__(self, device: torch.device, quick: bool) -> None:
        self.device = device
        self.quick = quick
        self.cuda = device.type == "cuda"

    def synchronize(self) -> None:
        """Waits until the device is done."""
        if self.cuda:
            torch.cuda.synchronize()

    def waits(self, target: float) -> list[Variant]:
        """What one wait for the device costs, in steps of ``target`` seconds."""
        width = 64 if self.quick else 1024
        model = nn.Sequential(*[part for _ in range(12) for part in (nn.Linear(width, width), nn.ReLU())])
        model.to(self.device)
        optimizer = torch.optim.SGD(model.parameters(), lr=1e-6, momentum=0.9)
        total = torch.zeros((), device=self.device)
        inputs = torch.randn(self._rows(model, optimizer, width, target), width, device=self.device)

        def update(*, early: bool = False) -> tuple[torch.Tensor, torch.Tensor]:
            out = model(inputs)
            loss = out.square().mean()
            optimizer.zero_grad()
            if early:
                loss.item()
            loss.backward()
            optimizer.step()
            return out, loss

        def kept() -> None:
            total.add_(update()[1].detach())

        def read() -> None:
            update()[1].item()

        def read_before_backward() -> None:
            update(early=True)

        def ten_kept() -> None:
            out, loss = update()
            with torch.no_grad():
                total.add_(loss)
                for number in range(9):
                    total.add_(out[number].amax())

        def ten_read() -> None:
            out, loss = update()
            with torch.no_grad():
                loss.item()
                for number in range(9):
                    out[number].amax().item()

        def busy_kept() -> None:
            _spin(0.001)
            kept()

        def busy_read() -> None:
            _spin(0.001)
            read()

        def synchronized() -> None:
            kept()
            self.synchronize()

        def emptied() -> None:
            kept()
            if self.cuda:
                torch.cuda.empty_cache()

        return [
            Variant("kept", kept),
            Variant("read", read, "ACC208", "`loss.item()` at the end of each step", "kept"),
            Variant("early", read_before_backward, "ACC208", "`loss.item()` between forward and backward", "kept"),
            Variant("ten kept", ten_kept),
            Variant("ten read", ten_read, "ACC208", "ten values read with `.item()` in each step", "ten kept"),
            Variant("busy", busy_kept),
            Variant(
                "busy read", busy_read, "ACC208", "`loss.item()` where the host has 1 ms of own work a step", "busy"
            ),
            Variant("synchronized", synchronized, "ACC215", "`torch.cuda.synchronize()` in each step", "kept"),
            Variant("emptied", emptied, "ACC214", "`torch.cuda.empty_cache()` in each step", "kept"),
        ]

    def _rows(self, model: nn.Module, optimizer: torch.optim.Optimizer, width: int, target: float) -> int:
        """So many that a step takes ``target`` seconds, as near as three tries come."""
        rows = 256
        for _ in range(4):
            inputs = torch.randn(rows, width, device=self.device)
            for number in range(8):
                if number == 3:
                    self.synchronize()
                    began = time.perf_counter()
                model(inputs).square().mean().backward()
                optimizer.step()
                optimizer.zero_grad()
            self.synchronize()
            took = (time.perf_counter() - began) / 5
            rows = max(16, min(200_000, int(rows * min(16.0, target / took))))
        return rows

    def made_on_host(self) -> list[Variant]:
        """Tensors that are filled on the host and copied, beside those that the device fills."""
        width, rows = (64, 64) if self.quick else (1024, 4096)
        model = nn.Sequential(*[nn.Linear(width, width) for _ in range(6)]).to(self.device)
        optimizer = torch.optim.SGD(model.parameters(), lr=1e-6)
        inputs = torch.randn(rows, width, device=self.device)
        seen = torch.zeros((), device=self.device)

        def update(make: Callable[[], torch.Tensor]) -> None:
            made = make()
            loss = model(inputs).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            seen.add_(made.flatten()[0])

        def pair(name: str, words: str, code: str, host: Callable[[], Any], there: Callable[[], Any]) -> list[Variant]:
            return [
                Variant(f"{name} there", partial(update, there)),
                Variant(f"{name} made on the host", partial(update, host), code, words, f"{name} there"),
            ]

        found = pair(
            "number",
            "`torch.tensor(0.5, device=device)` beside `torch.full`",
            "ACC219",
            lambda: torch.tensor(0.5, device=self.device),
            lambda: torch.full((), 0.5, device=self.device),
        )
        logits = torch.randn(64, 8, device=self.device)
        distribution = torch.distributions.Categorical
        found += pair(
            "distribution",
            "`Categorical(logits=...)` that checks its arguments",
            "ACC222",
            lambda: distribution(logits=logits).logits,
            lambda: distribution(logits=logits, validate_args=False).logits,
        )
        for words, count in (("64 KiB", 1 << 14), ("4 MiB", 1 << 20), ("64 MiB", 1 << 24)):
            size = min(count, 1 << 14) if self.quick else count
            for factory in (torch.ones, torch.randn):
                kind = factory.__name__
                found += pair(
                    f"{kind} of {words}",
                    f"`torch.{kind}(...).to(device)` of {words}",
                    "ACC205",
                    partial(lambda made, size: made(size).to(self.device), factory, size),
                    partial(factory, size, device=self.device),
                )
        return found
