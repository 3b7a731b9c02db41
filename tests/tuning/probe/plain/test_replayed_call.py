"""Calls that are timed, left out and made up for, in this process."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from accel_advisor.tuning.probe.channel.plain_loop import Unreplayed
from accel_advisor.tuning.probe.measuring.blocks import Ceiling
from accel_advisor.tuning.probe.measuring.meter import Meter
from accel_advisor.tuning.probe.plain.replayed_call import ReplayedCall

torch = pytest.importorskip("torch")


class Reader:
    """Reads on from an index, to the end of what there is."""

    def __init__(self, end: int = 1000) -> None:
        self.at, self.end = 0, end

    def read(self, count: int, *, scale: float = 1.0) -> Any:
        if self.at >= self.end:
            raise IndexError("the end")
        self.at += count
        return torch.full((count,), self.at * scale)


def reader() -> Callable[..., Any]:
    """A function with variables of its own, anew each time."""
    at = [0]

    def read(count: int = 2) -> Any:
        at[0] += count
        return torch.full((count,), float(at[0]))

    return read


def taken(function: Any) -> ReplayedCall:
    meter = Meter()
    return ReplayedCall(meter, Ceiling(meter), function.__code__)


def test_calls_are_what_they_were() -> None:
    class Own(Reader):
        def read(self, count: int, *, scale: float = 1.0) -> Any:
            return super().read(count, scale=scale)

    taken(Own.read)
    own = Own()
    assert own.read(2).tolist() == [2.0, 2.0]
    assert own.read(2, scale=0.5).tolist() == [2.0, 2.0]
    assert own.at == 4


def test_calls_that_are_left_out_hand_out_what_was_kept_and_are_made_up_for() -> None:
    read = reader()
    call = taken(read)
    assert [read().tolist()[0] for _ in range(2)] == [2.0, 4.0]
    call.kept()
    assert call.unreplayed is None
    call.replay()
    assert [read().tolist()[0] for _ in range(5)] == [2.0, 4.0, 2.0, 4.0, 2.0]
    call.make_up()
    assert read().tolist() == [16.0, 16.0]


def test_random_numbers_go_on_where_a_real_run_has_them() -> None:
    def draw() -> Any:
        return torch.rand(3)

    def run(*, left_out: bool) -> Any:
        call = taken(draw)
        torch.manual_seed(0)
        draw()
        call.kept()
        if left_out:
            call.replay()
        draw()
        draw()
        call.make_up()
        return draw()

    assert torch.equal(run(left_out=True), run(left_out=False))


def test_an_error_is_raised_where_the_loop_asks_next() -> None:
    class Short(Reader):
        def read(self, count: int, *, scale: float = 1.0) -> Any:
            return Reader.read(self, count, scale=scale)

    call, short = taken(Short.read), Short(end=4)
    short.read(2)
    call.kept()
    call.replay()
    for _ in range(3):
        short.read(2)
    call.make_up()
    with pytest.raises(IndexError, match="the end"):
        short.read(2)


def test_an_evaluation_gets_batches_of_its_own() -> None:
    read = reader()
    call = taken(read)
    read()
    call.kept()
    call.replay()
    with torch.no_grad():
        assert read().tolist() == [4.0, 4.0]
    assert read().tolist() == [2.0, 2.0]


def test_what_belongs_to_the_graph_is_not_handed_out_again() -> None:
    weight = torch.ones(2, requires_grad=True)

    def embed() -> Any:
        return weight * 2

    call = taken(embed)
    embed()
    call.kept()
    assert call.unreplayed is Unreplayed.NEEDS_GRADIENTS


def test_what_cannot_be_copied_is_not_handed_out_again() -> None:
    class Stubborn:
        def __deepcopy__(self, memo: Any) -> Any:
            raise TypeError("not me")

    def fetch() -> Any:
        return torch.ones(2), Stubborn()

    call = taken(fetch)
    fetch()
    call.kept()
    assert call.unreplayed is Unreplayed.NOT_COPIED


def test_the_time_of_a_call_is_waiting() -> None:
    meter = Meter()
    read = reader()
    ReplayedCall(meter, Ceiling(meter), read.__code__)
    meter.start()
    read()
    seconds, wait, *_ = meter.finish()
    assert 0 < wait <= seconds
