"""Readings of the host's clock, and what was given to the GPU and waited for between two of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from accel_advisor.records.actions import Act, Action, AnyCall, any_calls, calls
from accel_advisor.values.places import Place, is_cuda_capable
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
        waited: the last event that may have waited for the GPU, or of which nothing is known.
        passed: the last event that began to go over data, or trained.
        clock: what counted the events; readings of two clocks say nothing about each other.
    """

    node: cst.Call
    loops: tuple[object, ...]
    now: int = field(default=0, compare=False)
    worked: int = field(default=0, compare=False)
    worked_in: tuple[object, ...] = field(default=(), compare=False)
    waited: int = field(default=0, compare=False)
    passed: int = field(default=0, compare=False)
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


class Clock:
    """Counts the events of one module's run, in the order in which the program would meet them."""

    def __init__(self) -> None:
        self._now = self._worked = self._waited = self._passed = 0
        self._worked_in: tuple[object, ...] = ()

    def read(self, node: cst.Call, loops: tuple[object, ...]) -> Moment:
        """A reading of the clock."""
        return Moment(node, loops, self._now, self._worked, self._worked_in, self._waited, self._passed, self)

    def work(self, place: Place, loops: tuple[object, ...]) -> None:
        """Something is computed at a place."""
        if place and is_cuda_capable(place):
            self._now += 1
            self._worked, self._worked_in = self._now, loops

    def wait(self) -> None:
        """The host waits for the GPU, or may do so."""
        self._now += 1
        self._waited = self._now

    def go_over(self) -> None:
        """The program begins to go over data, or trains."""
        self._now += 1
        self._passed = self._now

    def operation(self, what: Action) -> None:
        """The program does something with a library."""
        if not what.answers.isdisjoint(_WAITING) or (what.owner.endswith("GradScaler") and what.name == "step"):
            self.wait()
        elif AnyCall("backward") in what.answers:
            self.go_over()
