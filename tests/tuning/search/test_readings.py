"""What the start of an epoch costs, against epochs worked out by hand, batch by batch."""

from __future__ import annotations

import pytest

from accel_advisor.tuning.probe.channel.wire import BASELINE, NO_WAIT, Block, Measure, Settings
from accel_advisor.tuning.search.purposes import Purpose
from accel_advisor.tuning.search.readings import Loop, Readings, Tried
from accel_advisor.tuning.search.search import Request

from .simulation import Simulation, Workload, true_rate

STEP, HANDOVER = 0.010, 0.001
BATCHES = 60


def block(what: Settings | str, per: float, wait: float, *, pool: float = 0.0, epoch: float | None = None) -> Block:
    compute = BATCHES * (per - wait)
    return Block(
        what, BATCHES, BATCHES, BATCHES * per, BATCHES * wait, 0.0, compute, 0.0, 0.0, pool, epoch, epoch_batches=None
    )


def readings(length: int, *, starved: Settings | None = None) -> Readings:
    """Of a loop with steps of 10 ms, in which workers fetch a batch in 30 ms, and hand it over in one."""
    found = Readings(Loop(Settings(), length))
    found.add(NO_WAIT, block(NO_WAIT, STEP, 0.0))
    found.add(BASELINE, block(BASELINE, STEP + 0.03, 0.03))
    for settings in (Settings(4), *([starved] if starved else [])):
        found.tried[settings] = Tried(settings)
    found.add(Settings(4), block(Settings(4), STEP + HANDOVER, HANDOVER, pool=0.1, epoch=0.1))
    if starved is not None:
        per = max(STEP + HANDOVER, 0.03 / starved.num_workers)
        found.add(starved, block(starved, per, per - STEP, pool=0.1, epoch=0.1))
    return found


def test_an_epoch_of_workers_that_keep_up_waits_for_the_whole_of_its_first_fetch() -> None:
    """30 ms to the first batch, then six steps: the first of them comes on top of the waiting."""
    found, kept = readings(6), Settings(4, persistent_workers=True)
    found.tried[kept] = Tried(kept)
    seen = block(kept, STEP + HANDOVER, HANDOVER, epoch=0.03)
    found.add(kept, seen)
    epoch = 0.03 + 6 * (STEP + HANDOVER)
    assert 6 * found.charged(kept, seen) == pytest.approx(epoch)
    assert 6 * found.charged_itself(kept, seen) == pytest.approx(epoch)


def test_workers_that_are_late_have_the_first_batch_of_each_ready_together() -> None:
    """Two workers, six batches: two of them at 30, 60 and 90 ms each, and two steps behind the last. Evenly spread, as
    a block sees them, they come every 15 ms."""
    two = Settings(2)
    found = readings(6, starved=two)
    epoch = 0.1 + 0.06 + 2 * (STEP + HANDOVER)  # workers that start take 70 ms more
    charged = 6 * found.charged(two, found.blocks(two)[0])
    assert charged == pytest.approx(epoch, rel=0.05)


def test_what_stopping_workers_takes_is_charged_to_a_block_that_could_not_see_it() -> None:
    """The first pool of a process follows none; every epoch's workers but the first's do."""
    four, found = Settings(4), readings(10)
    later = block(four, STEP + HANDOVER, HANDOVER, pool=0.1, epoch=0.14)
    found.add(four, later)
    first = found.blocks(four)[0]
    assert first.epoch_seconds == first.pool_seconds
    assert found.charged_itself(four, first) == pytest.approx(found.charged_itself(four, later))


def test_only_workers_that_start_with_every_epoch_are_started_again_to_be_measured() -> None:
    found, kept = readings(10), Settings(4, persistent_workers=True)
    found.tried[kept] = Tried(kept)
    found.add(kept, block(kept, STEP + HANDOVER, HANDOVER, epoch=0.1))
    assert found.starts_anew(Settings(4))
    assert found.starts_matter(kept)
    assert not found.starts_anew(kept)
    assert not readings(10_000).starts_anew(Settings(4))


@pytest.mark.parametrize("workers", [1, 2, 3, 6])
@pytest.mark.parametrize("length", [6, 20, 60])
def test_short_epochs_are_charged_as_long_as_they_are(workers: int, length: int) -> None:
    """A steady block and one start give the rate of whole epochs."""
    loop = Workload(fetch_io=0.024, step_cpu=0.001, step_device=0.009, length=length, cores=4)
    settings, found = Settings(workers), Readings(Loop(Settings(), length))
    simulation = Simulation(loop, Settings())
    for what in (NO_WAIT, BASELINE, Settings(8), settings):
        seen = simulation.answer(Request(Measure(what, 16, 1.0, True), Purpose.CEILINGS)).block
        assert seen is not None
        if isinstance(what, Settings):
            found.tried[what] = Tried(what)
        found.add(what, seen)
    assert found.seconds(settings) == pytest.approx(1 / true_rate(loop, settings), rel=0.06)
