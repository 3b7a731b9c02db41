"""Which of the loop's stacks are waiting for data, on stacks as they are recorded while real batches are served."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any

import pytest

from accel_advisor.tuning.probe.channel.wire import LoopStack
from accel_advisor.tuning.probe.measuring.blocks import Ceiling
from accel_advisor.tuning.probe.measuring.line_watch import loop_stack
from accel_advisor.tuning.probe.measuring.meter import Meter
from accel_advisor.tuning.probe.plain.replayed_call import ReplayedCall

torch = pytest.importorskip("torch")

Stack = list[tuple[CodeType, int]]


def recorded(work: Callable[[], object]) -> list[Stack]:
    """The stack at each call of a function in Python while something is done, from there on."""
    found: list[Stack] = []
    outermost = sys._getframe()

    def called(frame: FrameType | None, event: str, argument: Any) -> None:
        if event != "call":
            return
        stack: Stack = []
        while frame is not None and frame is not outermost:
            stack.append((frame.f_code, frame.f_lasti))
            frame = frame.f_back
        found.append(stack[::-1])

    sys.setprofile(called)
    try:
        work()
    finally:
        sys.setprofile(None)
    return found


def kept(stacks: list[Stack], innermost: str) -> list[LoopStack | None]:
    return [loop_stack(stack) for stack in stacks if stack[-1][0].co_qualname == innermost]


@pytest.fixture(scope="module")
def stacks() -> list[Stack]:
    """Of one batch that is asked for and fetched by a function whose place a probe has taken."""

    def read() -> Any:
        return torch.utils.data.default_collate([torch.zeros(2), torch.zeros(2)])

    meter = Meter()
    ReplayedCall(meter, Ceiling(meter), read.__code__)
    return recorded(lambda: read())


def test_what_fetches_is_waiting_for_data(stacks: list[Stack]) -> None:
    inside = [
        *kept(stacks, "stacks.<locals>.read"),
        *kept(stacks, "default_collate"),
        *kept(stacks, "collate"),
    ]
    assert len(inside) >= 3
    assert all(stack is not None and stack.fetching is not None for stack in inside)


def test_what_the_probe_does_about_it_is_not(stacks: list[Stack]) -> None:
    own = [*kept(stacks, "Meter.begin_wait"), *kept(stacks, "Meter.end_wait"), *kept(stacks, "ReplayedCall._keep")]
    assert own == [None, None, None]


def test_the_loop_itself_is_kept_as_no_wait() -> None:
    (call,) = kept(recorded(lambda: torch.utils.data.default_collate([1])), "default_collate")
    assert call is not None
    assert call.fetching is None
