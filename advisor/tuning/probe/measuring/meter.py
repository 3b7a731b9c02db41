"""The clock of a block: when the loop waited, moved data and computed.

On a CPU the sections are the host's own. On an accelerator the host only launches: the device's sections are bracketed
by events, laid on the host's clock from the synchronisation at the start of the block, and the host's waiting counts
only where the device was idle meanwhile. The device is synchronised at the edges of a block and nowhere else. So it is
idle while the first batch is fetched: as far as it is busy during the other fetches, that is no part of the block.

A device that comes to an event later than the host recorded it was busy meanwhile: with a copy where one was launched,
else it computed, whatever asked it to. So what is launched between sections counts too, as far as the device is behind.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter
from typing import Any

from accel_advisor.tuning.probe.channel.plain_loop import Passes
from accel_advisor.tuning.probe.measuring.time_spans import (
    Spans,
    exclusive,
    idle_at_first,
    intersect,
    length,
    subtract,
    union,
)

WAIT = 0
TRANSFER = 1
COMPUTE = 2
BACKWARD = 3
OPTIMIZER = 4
"""Kinds of sections. Calls of modules, backward passes and steps of optimizers compute, all three."""


Took = Callable[[Any, tuple[Any, ...], dict[str, Any]], None]
"""Gets a module and the arguments that it was called with."""


class Nesting(threading.local):
    """How many sections this thread is within, and the kind of the outermost one."""

    depth: int = 0
    outermost: int = WAIT


@dataclass(slots=True)
class _Mark:
    """A section on the device: its events, when the host recorded the first one, and whether it is within another."""

    kind: int
    asked: float
    inner: bool
    first: Any
    last: Any = None


class Device:
    """The accelerator that the model is on: synchronising it and bracketing its work. None stands for the CPU.

    Scripts train on another device than the current one, and on streams of their own: everything here is asked of the
    model's device, and recorded where work goes that is launched there now.

    Args:
        name: as torch writes it, such as ``cuda:1``.
    """

    def __init__(self, name: str) -> None:
        import torch

        self._device = torch.device(name)
        own: Any = getattr(torch, self._device.type, None)
        self._own, module = own, getattr(torch, "accelerator", None)
        self._synchronize: Any = getattr(module or own, "synchronize", None)
        # There is one Metal device, and torch.mps takes no argument.
        self._where = () if self._device.type == "mps" and module is None else (self._device,)
        self._event: Any = getattr(own, "Event", None) or getattr(torch, "Event", None)
        self._stream: Callable[[Any], Any] | None = getattr(own, "current_stream", None)
        self._captures: Callable[[], bool] | None = getattr(own, "is_current_stream_capturing", None)

    @property
    def timed(self) -> bool:
        """Whether its work can be bracketed at all: torch knows no events of some devices, such as meta."""
        try:
            self.event()
            self.synchronize()
        except (AttributeError, TypeError, NotImplementedError, RuntimeError, ValueError):
            return False
        return True

    @property
    def uuid(self) -> str:
        """Of the device, as torch writes it; empty where torch does not report it."""
        try:
            return str(self._own.get_device_properties(self._device).uuid)
        except (AttributeError, AssertionError, RuntimeError):
            return ""

    @property
    def capturing(self) -> bool:
        """Whether what is launched now goes into a CUDA graph: then nothing is done, and no event can be timed."""
        return self._captures is not None and self._captures()

    def synchronize(self) -> None:
        """Wait until everything that was launched is done."""
        self._synchronize(*self._where)

    def event(self) -> Any:
        """An event recorded now, on the stream that is current for the device."""
        event = self._event(enable_timing=True)
        event.record(*([] if self._stream is None else [self._stream(self._device)]))
        return event


class Meter:
    """Collects the sections of one block. Sections are entered and left by the hooks; nested ones count once, but for
    what a module moves by itself, which is taken out of its computing.

    What the hooks read for every module that the script calls is a plain attribute.

    Attributes:
        running: whether the clock of a block runs.
        nesting: the sections that the thread which asks is within.
        passes: seconds of the block that was finished last in calls of modules, in backward passes and in optimizers,
            each moment in the first of these that it was in.
        stretches: when the clock of that block ran.
        took: gets each call of a module that the script makes itself while the clock runs; None where nobody asks.
    """

    def __init__(self) -> None:
        self.device: Device | None = None
        self.running = False
        self.nesting = Nesting()
        self.passes = Passes(0.0, 0.0, 0.0)
        self.stretches: tuple[tuple[float, float], ...] = ()
        self.took: Took | None = None
        self._sections: tuple[Spans, ...] = ([], [], [], [], [])
        self._marks: list[_Mark] = []
        self._behind: Spans = []
        self._active: Spans = []
        self._past = 0.0
        self._since = 0.0
        self._origin = 0.0
        self._anchor: Any = None

    def enter(self, kind: int) -> Any:
        """Begin a section in this thread; the token goes to :meth:`leave`."""
        nesting, device = self.nesting, self.device
        nesting.depth = depth = nesting.depth + 1
        if depth == 1:
            nesting.outermost = kind
        elif kind != TRANSFER or nesting.outermost < COMPUTE:
            return None
        if not self.running:
            return None
        if device is None:
            return perf_counter() if depth == 1 else None
        return None if device.capturing else _Mark(kind, perf_counter(), depth > 1, device.event())

    def leave(self, kind: int, token: Any) -> None:
        """End the section that ``token`` began."""
        depth = self.nesting.depth
        if depth:
            self.nesting.depth = depth - 1
        self._end(kind, token)

    def _end(self, kind: int, token: Any) -> None:
        if token is None or not self.running:
            return
        if type(token) is float:
            self._sections[kind].append((token, perf_counter()))
        elif self.device is not None and not self.device.capturing:
            token.last = self.device.event()
            self._marks.append(token)

    def step_begins(self) -> Any:
        """An optimizer's step begins; the token goes to :meth:`step_ends`. The step is no section that others are
        within: a closure computes in sections of its own."""
        if not self.running or self.nesting.depth:
            return None
        if self.device is None:
            return perf_counter()
        return None if self.device.capturing else _Mark(OPTIMIZER, perf_counter(), False, self.device.event())

    def step_ends(self, token: Any) -> None:
        """End the step that ``token`` began."""
        self._end(OPTIMIZER, token)

    def begin_wait(self) -> float:
        """Begin to wait for a batch, and return when; what was open is not: an exception may have left it so."""
        self.nesting.depth, self.nesting.outermost = 1, WAIT
        return perf_counter()

    def end_wait(self, began: float) -> None:
        """End what :meth:`begin_wait` began."""
        self.nesting.depth = 0
        if self.running:
            self._sections[WAIT].append((began, perf_counter()))

    def start(self) -> float:
        """Start the clock of a block, and return its time."""
        self._sections, self._marks, self._active, self._behind = ([], [], [], [], []), [], [], []
        self._past = 0.0
        if self.device is not None:
            self.device.synchronize()
            self._anchor = self.device.event()
        self.running = True
        self._since = self._origin = perf_counter()
        return self._since

    def pause(self) -> None:
        """Stop the clock for something that is no part of the block; the device's work is waited for and counted."""
        if self.running:
            if self.device is not None:
                asked = perf_counter()
                self.device.synchronize()
                self._behind.append((asked, perf_counter()))
            self.lap()
            self.running = False

    def resume(self) -> None:
        """Let the clock run again after :meth:`pause`."""
        self._since = perf_counter()
        self.running = True

    def drop(self) -> None:
        """Stop the clock, and leave out what ran since it was started or resumed last, or since the last lap."""
        if self.running:
            if self.device is not None:
                self.device.synchronize()
            self.running = False

    def lap(self) -> None:
        """What ran until now counts, whatever is dropped later."""
        if self.running:
            now = perf_counter()
            self._active.append((self._since, now))
            self._past += now - self._since
            self._since = now

    def elapsed(self) -> float:
        """Seconds on the clock of the block so far."""
        return self._past + (perf_counter() - self._since if self.running else 0.0)

    def finish(self) -> tuple[float, float, float, float, float]:
        """Stop the clock; seconds in all, and of them wait, transfer, compute and host."""
        self.pause()
        spans = self._sections
        behind, carved = list(self._behind), []
        for mark in self._marks:
            begin = self._origin + self._anchor.elapsed_time(mark.first) / 1e3
            span = begin, begin + mark.first.elapsed_time(mark.last) / 1e3
            spans[mark.kind].append(span)
            behind.append((mark.asked, begin))
            if mark.inner:
                carved.append(span)
        computing = [*spans[COMPUTE], *spans[BACKWARD], *spans[OPTIMIZER]]
        compute = subtract(union(computing), union(carved)) + subtract(union(behind), union(spans[TRANSFER]))
        active = union(self._active)
        wait, transfer, computed, host = exclusive(active, compute, spans[TRANSFER], spans[WAIT])
        filled = 0.0
        if self.device is not None and spans[WAIT]:
            busy = intersect(active, union([*compute, *spans[TRANSFER]]))
            first, last = spans[WAIT][0]
            filled = min(idle_at_first(active, busy, len(spans[WAIT])), last - first, wait)
        self.passes, self.stretches = _passes(active, compute, spans), tuple(active)
        self._sections, self._marks = ([], [], [], [], []), []
        return length(active) - filled, wait - filled, transfer, computed, host


def _passes(active: Spans, compute: Spans, spans: tuple[Spans, ...]) -> Passes:
    """The time of each pass, of what counts as computing."""
    rest, found = intersect(active, union(compute)), []
    for kind in (COMPUTE, BACKWARD, OPTIMIZER):
        mine = union(spans[kind])
        found.append(length(intersect(rest, mine)))
        rest = subtract(rest, mine)
    return Passes(*found)
