"""What a search makes of workers that cannot be kept, and of epochs whose length shows only when they end."""

from __future__ import annotations

from accel_advisor.tuning.probe.channel.wire import Block, Settings
from accel_advisor.tuning.search.readings import Loop
from accel_advisor.tuning.search.search import Answer, Request, Search
from accel_advisor.tuning.search.settings import Limits

START = 0.2


def served(request: Request, *, may_keep: bool, length: int | None) -> Answer:
    """A block of a loop of 4 ms steps and 20 ms fetches, whose workers take long to start."""
    settings = request.what if isinstance(request.what, Settings) else Settings()
    if settings.persistent_workers and not may_keep:
        return Answer(None, 0.1, "no worker outlives an epoch")
    workers, batches = settings.num_workers, max(request.measure.min_batches, 16)
    fetch = 0.0 if request.what == "no-wait" else 0.02 / max(workers, 1)
    step = max(0.004, fetch) if workers else 0.004 + fetch
    start = START if workers and not settings.persistent_workers else None
    block = Block(
        request.what,
        batches,
        batches,
        batches * step,
        batches * (step - 0.004),
        0.0,
        batches * 0.004,
        0.0,
        0.0,
        pool_seconds=START if workers else 0.0,
        epoch_seconds=start,
        epoch_batches=length,
    )
    return Answer(block, 0.5)


def searched(loop: Loop, *, may_keep: bool, length: int | None) -> Search:
    search = Search(loop, Limits(cores=8), budget=60)
    plan = search.plan()
    try:
        request = next(plan)
        while True:
            request = plan.send(served(request, may_keep=may_keep, length=length))
    except StopIteration:
        return search


def test_workers_that_cannot_be_kept_are_recommended_without() -> None:
    kept = searched(Loop(Settings(), 1000), may_keep=True, length=None).recommended
    assert kept is not None
    assert kept.persistent_workers
    search = searched(Loop(Settings(), 1000), may_keep=False, length=None)
    assert search.recommended is not None
    assert search.recommended.num_workers > 1
    assert not search.recommended.persistent_workers


def test_the_start_of_short_epochs_is_charged_once_their_length_is_known() -> None:
    assert searched(Loop(Settings(), None), may_keep=False, length=None).recommended is not None
    search = searched(Loop(Settings(), None), may_keep=False, length=3)
    assert search.readings.loop.length == 3
    assert search.recommended is None
    assert search.exhausted
