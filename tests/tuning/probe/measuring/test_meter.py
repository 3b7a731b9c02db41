"""The clock of a block on a device with a clock of its own: what is launched, what waits, what is hidden."""

from __future__ import annotations

from typing import Any

import pytest

from accel_advisor.tuning.probe.measuring import meter as metering
from accel_advisor.tuning.probe.measuring.meter import COMPUTE, TRANSFER, Device, Meter


class Event:
    """A moment: that at which the device came to it."""

    def __init__(self, time: float) -> None:
        self.time = time

    def elapsed_time(self, later: Event) -> float:
        return 1e3 * (later.time - self.time)


class Bench(Device):
    """A host and a device, whose clocks advance as they are set. What is launched takes its turn on the device."""

    capturing = False  # type: ignore[assignment]

    def __init__(self) -> None:
        self.now = 100.0
        self.free = 0.0

    def clock(self) -> float:
        return self.now

    def synchronize(self) -> None:
        self.now = max(self.now, self.free)

    def event(self) -> Any:
        return Event(max(self.now, self.free))

    def launch(self, seconds: float) -> None:
        self.free = max(self.now, self.free) + seconds

    def host(self, seconds: float) -> None:
        self.now += seconds


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Bench:
    bench = Bench()
    monkeypatch.setattr(metering, "perf_counter", bench.clock)
    return bench


@pytest.fixture
def meter(bench: Bench) -> Meter:
    meter = Meter()
    meter.device = bench
    meter.start()
    return meter


def launched(meter: Meter, bench: Bench, kind: int, seconds: float, *, wait: bool = False) -> None:
    token = meter.enter(kind)
    bench.launch(seconds)
    if wait:
        bench.synchronize()
    meter.leave(kind, token)


def waited(meter: Meter, bench: Bench, seconds: float) -> None:
    asked = meter.begin_wait()
    bench.host(seconds)
    meter.end_wait(asked)


def parts(meter: Meter) -> tuple[float, ...]:
    """Wait, transfer, compute, host."""
    whole, *found = meter.finish()
    assert sum(found) == pytest.approx(whole)
    return tuple(round(part, 9) for part in found)


def test_nothing_is_nothing(meter: Meter) -> None:
    assert parts(meter) == (0, 0, 0, 0)


def test_an_idle_device_computes_nothing(meter: Meter, bench: Bench) -> None:
    waited(meter, bench, 3)
    bench.host(2)
    assert parts(meter) == (3, 0, 0, 2)


def test_a_graph_that_is_captured_holds_no_events(meter: Meter, bench: Bench) -> None:
    bench.capturing = True
    assert meter.enter(COMPUTE) is None
    bench.capturing = False
    meter.leave(COMPUTE, None)
    token = meter.enter(COMPUTE)
    bench.capturing = True
    meter.leave(COMPUTE, token)
    bench.capturing = False
    bench.host(1)
    assert parts(meter) == (0, 0, 0, 1)


def test_what_the_device_hides_is_lost_to_nobody(meter: Meter, bench: Bench) -> None:
    launched(meter, bench, COMPUTE, 5)
    bench.host(1)
    waited(meter, bench, 6)
    assert parts(meter) == (2, 0, 5, 0)


@pytest.mark.parametrize(("fetch", "step"), [(0.04, 0.1), (0.1, 0.04), (0.05, 0.05)])
def test_the_first_fetch_of_a_block_is_hidden_like_the_others(
    meter: Meter, bench: Bench, fetch: float, step: float
) -> None:
    for _ in range(10):
        asked = meter.begin_wait()
        bench.host(fetch)
        meter.end_wait(asked)
        bench.host(0.002)
        token = meter.enter(COMPUTE)
        bench.launch(step)
        meter.leave(COMPUTE, token)
        if bench.free > bench.now + step:
            bench.now = bench.free - step  # the host is one step ahead at most
    seconds, wait, _, compute, _ = meter.finish()
    steady = max(fetch + 0.002, step)
    assert seconds / 10 == pytest.approx(steady, abs=0.0005)
    assert compute / 10 == pytest.approx(step)
    assert wait / 10 == pytest.approx(max(fetch - step, 0.0), abs=0.0025)


def test_a_copy_that_blocks_waits_for_what_was_launched(meter: Meter, bench: Bench) -> None:
    launched(meter, bench, COMPUTE, 5)
    launched(meter, bench, TRANSFER, 3, wait=True)
    assert parts(meter) == (0, 3, 5, 0)


def test_a_copy_that_does_not_block_delays_what_comes_after_it(meter: Meter, bench: Bench) -> None:
    launched(meter, bench, TRANSFER, 3)
    launched(meter, bench, COMPUTE, 5)
    assert parts(meter) == (0, 3, 5, 0)


def test_what_a_module_moves_is_no_computing(meter: Meter, bench: Bench) -> None:
    token = meter.enter(COMPUTE)
    bench.launch(2)
    launched(meter, bench, TRANSFER, 3, wait=True)
    bench.launch(4)
    meter.leave(COMPUTE, token)
    assert parts(meter) == (0, 3, 6, 0)


def test_what_the_loader_moves_is_waited_for(meter: Meter, bench: Bench) -> None:
    asked = meter.begin_wait()
    launched(meter, bench, TRANSFER, 3, wait=True)
    meter.end_wait(asked)
    assert parts(meter) == (3, 0, 0, 0)


def test_modules_within_modules_count_once(meter: Meter, bench: Bench) -> None:
    token = meter.enter(COMPUTE)
    launched(meter, bench, COMPUTE, 3)
    meter.leave(COMPUTE, token)
    assert parts(meter) == (0, 0, 3, 0)


def test_work_between_sections_is_computed_as_far_as_the_device_is_behind(meter: Meter, bench: Bench) -> None:
    launched(meter, bench, COMPUTE, 2)
    bench.launch(4)
    launched(meter, bench, COMPUTE, 1)
    bench.launch(5)
    assert parts(meter) == (0, 0, 12, 0)


def test_work_that_the_script_waited_for_is_its_own(meter: Meter, bench: Bench) -> None:
    """Nothing shows when the device was done with it."""
    launched(meter, bench, COMPUTE, 2)
    bench.launch(4)
    bench.synchronize()
    launched(meter, bench, COMPUTE, 1)
    assert parts(meter) == (0, 0, 3, 4)


def test_what_happens_while_the_clock_stands_does_not_count(meter: Meter, bench: Bench) -> None:
    launched(meter, bench, COMPUTE, 2)
    meter.pause()
    bench.host(50)
    meter.resume()
    waited(meter, bench, 1)
    assert parts(meter) == (1, 0, 2, 0)
    assert meter.stretches == ((100.0, 102.0), (152.0, 153.0))


def test_on_the_host_sections_are_what_they_take(bench: Bench) -> None:
    meter = Meter()
    meter.start()
    waited(meter, bench, 1)
    token = meter.enter(COMPUTE)
    bench.host(2)
    inner = meter.enter(COMPUTE)
    bench.host(3)
    meter.leave(COMPUTE, inner)
    meter.leave(COMPUTE, token)
    bench.host(4)
    assert parts(meter) == (1, 0, 5, 4)
