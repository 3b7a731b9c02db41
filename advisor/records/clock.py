"""Readings of the host's clock, and what was given to the GPU and waited for between two of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from accel_advisor.records.actions import Act, Action, AnyCall, any_calls, calls
from accel_advisor.values.places import Place, is_cuda_capable, is_host
from accel_advisor.values.values import Value

if TYPE_CHECKING:
    import libcst as cst


CLOCKS = calls(
    *("time.time", "time.perf_counter", "time.monotonic", "time.time_ns", "time.perf_counter_ns", "time.monotonic_ns"),
    *("timeit.default_timer", "time.clock"),
)
"""Functions that read the clock of the host."""

_WAITING = {
    *any_calls("item", "tolist", "cpu", "numpy", "nonzero", "print", "float", "int", "bool"),
    *calls("print", "float", "int", "bool"),
    *any_calls("synchronize", "wait", "query", "elapsed_time", "unscale_"),
    Act.TRUTH,
}
"""Operations that may wait for the GPU."""


@dataclass(frozen=True, slots=True)
class Moment(Value):
    """The result of a reading, and what had happened until then, counted in events.

    Attributes:
        node: the call that reads the clock.
        loops: the loops around it, by their identity, outermost first.
        now: how many events there were.
        worked: the last event that gave the GPU work, and worked_in: the loops around that.
        waited: the last event that may have waited for the GPU, or of which nothing is known, and halted: of which
            something is known.
        passed: the last event that began a loop, or trained; gone: that began to go over the batches of a loader.
        busy: the last event that gave the GPU work, as far as is seen, and busy_in: the loops around that.
        clock: what counted the events; readings of two clocks say nothing about each other.
    """

    node: cst.Call
    loops: tuple[object, ...]
    now: int = field(default=0, compare=False)
    worked: int = field(default=0, compare=False)
    worked_in: tuple[object, ...] = field(default=(), compare=False)
    waited: int = field(default=0, compare=False)
    halted: int = field(default=0, compare=False)
    passed: int = field(default=0, compare=False)
    gone: int = field(default=0, compare=False)
    busy: int = field(default=0, compare=False)
    busy_in: tuple[object, ...] = field(default=(), compare=False)
    clock: Clock | None = field(default=None, compare=False, repr=False)

    def misses(self, end: Moment) -> bool:
        """Whether the time from here to another reading certainly leaves out GPU work that began in between.

        Where a loop waits somewhere between its readings, only the last of its work is missed, and going over data or
        training takes so many steps that this does not matter.
        """
        if self.clock is not end.clock or self.loops != end.loops:
            return False
        if end.passed > self.now or end.worked <= max(self.now, end.waited):
            return False
        return end.waited <= self.now or not (self.loops or end.worked_in)

    def misses_in_each_pass(self, end: Moment) -> bool:
        """Whether two readings in one pass of a loop leave out GPU work that began between them, as far as is seen:
        what is not known is taken not to wait."""
        if self.clock is not end.clock or self.loops != end.loops or not self.loops or end.gone > self.now:
            return False
        return end.busy > max(self.now, end.halted) and end.busy_in == self.loops


class Clock:
    """Counts the events of one module's run, in the order in which the program would meet them."""

    def __init__(self) -> None:
        self._now = self._worked = self._busy = 0
        self._waited = self._halted = self._passed = self._gone = 0
        self._worked_in: tuple[object, ...] = ()
        self._busy_in: tuple[object, ...] = ()

    def read(self, node: cst.Call, loops: tuple[object, ...]) -> Moment:
        """A reading of the clock."""
        waits = self._waited, self._halted, self._passed, self._gone
        return Moment(node, loops, self._now, self._worked, self._worked_in, *waits, self._busy, self._busy_in, self)

    def work(self, place: Place, loops: tuple[object, ...]) -> None:
        """Something is computed at a place."""
        if is_host(place):
            return
        self._now += 1
        self._busy, self._busy_in = self._now, loops
        if place and is_cuda_capable(place):
            self._worked, self._worked_in = self._now, loops

    def wait(self, *, known: bool = True) -> None:
        """The host waits for the GPU, or may do so; nothing is known of what it does where that is not."""
        self._now += 1
        self._waited = self._now
        if known:
            self._halted = self._now

    def go_over(self, *, data: bool = True) -> None:
        """The program begins a loop, which goes over the batches of a loader, or may do so, where that is data."""
        self._now += 1
        self._passed = self._now
        if data:
            self._gone = self._now

    def train(self, loops: tuple[object, ...]) -> None:
        """The program begins a backward pass."""
        self.go_over(data=False)
        self._busy, self._busy_in = self._now, loops

    def operation(self, what: Action, loops: tuple[object, ...]) -> None:
        """The program does something with a library."""
        if not what.answers.isdisjoint(_WAITING) or (what.owner.endswith("GradScaler") and what.name == "step"):
            self.wait()
        elif AnyCall("backward") in what.answers:
            self.train(loops)
