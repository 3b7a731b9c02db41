"""Training in processes that the script starts itself. A trial measures one process, so it must know of them."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from typing import Any

from accel_advisor.tuning.probe.containment.scratch_layer import open_real, real_exists
from accel_advisor.tuning.probe.script.import_watch import ImportHook

STEPS = 3
"""Backward passes in a process before it is taken for one that trains."""


class Elsewhere:
    """A note in the scratch folder, by which a process of the script reports that it trains.

    Args:
        scratch: folder of the trial.
    """

    def __init__(self, scratch: str) -> None:
        self._path = f"{scratch}/elsewhere"
        self._steps = 0

    @property
    def seen(self) -> bool:
        """Whether some process has reported it."""
        return real_exists(self._path)

    def step(self) -> None:
        """This process, which is not the one that is measured, made a training step."""
        self._steps += 1
        if self._steps == STEPS and os.path.isdir(os.path.dirname(self._path)):
            with open_real(self._path, "wb"):
                pass

    def watch(self) -> None:
        """Report the training of this process, once it has imported torch."""
        ImportHook("torch", self._hold).install()

    def _hold(self) -> None:
        from torch import autograd

        def wrap(function: Callable[..., Any]) -> Callable[..., Any]:
            @functools.wraps(function)
            def training(*args: Any, **kwargs: Any) -> Any:
                self.step()
                return function(*args, **kwargs)

            return training

        backward, grad = wrap(autograd.backward), wrap(autograd.grad)
        autograd.backward, autograd.grad = backward, grad
