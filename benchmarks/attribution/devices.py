"""Where the loop's work is done: on the host, on an accelerator, or on one that is pretended.

Every device does work of a given length and moves a tensor in a given time. The pretended one is a stream with a clock
of its own: a call that launches returns at once and the device comes to it when it is done with what came before, a
copy from pageable memory waits for that, an event is the moment at which the device reaches it. What is asked of torch
meanwhile is done in earnest on the host.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import torch
from torch import nn
from torch.overrides import TorchFunctionMode

DEVICE_OF = torch.Tensor.device.__get__  # type: ignore[attr-defined]
BYTES_A_SECOND = 1e9
"""How fast the pretended device is fed."""


class Spell:
    """Takes a time, asleep or computing. What one call took too long the next one takes less, so that the mean is right
    on a busy machine too."""

    def __init__(self, *, busy: bool = False) -> None:
        self._busy = busy
        self._late = 0.0

    def take(self, seconds: float) -> None:
        """Returns after so many seconds, give or take."""
        if not seconds:
            return
        until = time.perf_counter() + seconds - self._late
        if not self._busy:
            time.sleep(max(0.0, until - time.perf_counter()))
        while time.perf_counter() < until:
            torch.ones(64) @ torch.ones(64, 64)
        self._late = time.perf_counter() - until


class Host:
    """The processor itself: work takes the time of the thread that asks for it."""

    kind = "cpu"

    def __init__(self, *, busy: bool) -> None:
        self._spells = defaultdict[str, Spell](lambda: Spell(busy=busy))

    def work(self, part: str, seconds: float) -> None:
        """Computes for so long, on behalf of a part of the step."""
        self._spells[part].take(seconds)

    def place(self, model: nn.Module) -> nn.Module:
        """The model on this device."""
        return model

    def ballast(self, seconds: float) -> torch.Tensor | None:
        """A tensor of the host whose copy to the device takes so long; None where nothing is copied."""
        return None


class Cuda(Host):
    """A CUDA or ROCm device."""

    kind = "cuda"

    def __init__(self) -> None:
        super().__init__(busy=False)
        cycles = 50_000_000
        self._cycles_a_second = cycles / self._timed(lambda: torch.cuda._sleep(cycles))
        block = torch.empty(1 << 28, dtype=torch.uint8).pin_memory()
        self._bytes_a_second = len(block) / self._timed(lambda: block.to("cuda"))

    @staticmethod
    def _timed(launch: Callable[[], object]) -> float:
        """Seconds that the device takes for what is launched, warm."""
        launch()
        first, last = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        first.record()
        for _ in range(4):
            launch()
        last.record()
        torch.cuda.synchronize()
        return float(first.elapsed_time(last)) / 4e3

    def work(self, part: str, seconds: float) -> None:
        """Launches a kernel of that length."""
        if seconds:
            torch.cuda._sleep(int(seconds * self._cycles_a_second))

    def place(self, model: nn.Module) -> nn.Module:
        """The model on this device."""
        return model.to("cuda")

    def ballast(self, seconds: float) -> torch.Tensor | None:
        """A pinned tensor: how fast pageable memory is copied changes too much from one time to the next."""
        return torch.empty(int(seconds * self._bytes_a_second), dtype=torch.uint8).pin_memory() if seconds else None


class Stream:
    """What the pretended device has to do, in order; times on :func:`time.perf_counter`."""

    def __init__(self) -> None:
        self.free = 0.0

    def launch(self, seconds: float) -> None:
        """Puts work of that length behind what is there."""
        self.free = max(self.free, time.perf_counter()) + seconds

    def synchronize(self) -> None:
        """Waits until all is done: awake at the end, since a sleeper is woken late."""
        time.sleep(max(0.0, self.free - time.perf_counter() - 0.002))
        while time.perf_counter() < self.free:
            pass


STREAM = Stream()


class Event:
    """As ``torch.cuda.Event``."""

    def __init__(self, enable_timing: bool = False) -> None:
        self.time = 0.0

    def record(self, _stream: object = None) -> None:
        """Takes its place behind what was launched."""
        self.time = max(STREAM.free, time.perf_counter())

    def elapsed_time(self, later: Event) -> float:
        """Milliseconds."""
        return 1e3 * (later.time - self.time)


class Pretence(TorchFunctionMode):
    """Lets torch see a device: parameters are there, and what was moved there or made of something there."""

    def __torch_function__(
        self, function: Callable[..., Any], types: object, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        """Makes one call of torch."""
        kwargs = kwargs or {}
        if function == DEVICE_OF:
            return torch.device("cuda", 0) if _there(args[0]) else function(*args)
        name = getattr(function, "__name__", "")
        if name == "to" and any(str(one).startswith("cuda") for one in (*args[1:2], *kwargs.values())):
            return args[0] if _there(args[0]) else self._copy(args[0], bool(kwargs.get("non_blocking")))
        there = any(_there(one) for one in args)
        if function is torch.Tensor.backward:
            with self:  # it is written in Python: what it calls must see the device too
                return torch.autograd.backward(args[0])
        if name == "item" and there:
            STREAM.synchronize()
        result = function(*args, **kwargs)
        if there and isinstance(result, torch.Tensor):
            result.there = True  # type: ignore[attr-defined]
        return result

    @staticmethod
    def _copy(tensor: torch.Tensor, non_blocking: bool) -> torch.Tensor:
        STREAM.launch(tensor.numel() * tensor.element_size() / BYTES_A_SECOND)
        if not non_blocking:
            STREAM.synchronize()
        moved = tensor[:]
        moved.there = True  # type: ignore[attr-defined]
        return moved


def _there(value: object) -> bool:
    return isinstance(value, nn.Parameter) or getattr(value, "there", False)


class Pretended(Host):
    """The pretended device."""

    kind = "cuda"

    def __init__(self) -> None:
        super().__init__(busy=False)
        torch.cuda.Event = Event  # type: ignore[assignment, misc]
        torch.cuda.current_stream = lambda *_: None  # type: ignore[assignment, return-value]
        torch.cuda.is_current_stream_capturing = lambda: False
        torch.accelerator.synchronize = lambda *_: STREAM.synchronize()
        Pretence().__enter__()

    def work(self, part: str, seconds: float) -> None:
        """Launches a kernel of that length."""
        if seconds:
            STREAM.launch(seconds)

    def ballast(self, seconds: float) -> torch.Tensor | None:
        """A tensor that takes so long; nothing of its memory is touched."""
        return torch.empty(int(seconds * BYTES_A_SECOND), dtype=torch.uint8) if seconds else None
