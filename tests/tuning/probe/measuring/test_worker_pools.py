"""One stream of indices, whoever serves it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from torch.utils.data import DataLoader

from accel_advisor.tuning.probe.channel.wire import Settings
from accel_advisor.tuning.probe.measuring.worker_pools import IndexStream, Pool


def test_nothing_is_skipped_or_repeated_when_a_pool_is_closed_early() -> None:
    stream = IndexStream([[0], [1], [2], [3]], None)
    tap = iter(stream)
    assert [next(tap) for _ in range(3)] == [[0], [1], [2]]
    stream.served()
    stream.take_back()
    assert [next(iter(stream)) for _ in range(5)] == [[1], [2], [3], [0], [1]]


@given(st.integers(1, 6), st.lists(st.tuples(st.integers(0, 7), st.booleans()), max_size=20))
def test_every_epoch_is_whole_and_in_order(length: int, plan: list[tuple[int, bool]]) -> None:
    """Pools come and go with any number of batches in flight; the loop sees every epoch whole."""
    stream = IndexStream([[index] for index in range(length)], None)
    seen: list[int] = []
    in_epoch = 0
    flight = 0
    for ahead, switch in [*plan, (1, False)] * 2:
        while flight < ahead + 1:
            next(stream)
            flight += 1
        if in_epoch and stream.at_epoch_end():
            assert in_epoch == length
            assert stream.open_epoch()
            in_epoch = 0
        seen.extend(stream.served())
        flight -= 1
        in_epoch += 1
        if switch:
            stream.take_back()
            flight = 0
    assert seen == [index % length for index in range(len(seen))]


def test_a_batch_that_is_postponed_comes_behind_those_under_way() -> None:
    stream = IndexStream([[0], [1], [2], [3], [4]], None)
    for _ in range(3):
        next(stream)
    assert stream.open_epoch()
    assert stream.postpone()
    assert [next(stream), next(stream)] == [[0], [3]]
    assert [stream.served() for _ in range(4)] == [[1], [2], [0], [3]]


def test_no_batch_is_postponed_into_the_next_epoch() -> None:
    stream = IndexStream([[0], [1]], None)
    assert not stream.postpone()
    for _ in range(3):
        next(stream)
    assert stream.open_epoch()
    assert not stream.postpone()
    assert [stream.served() for _ in range(3)] == [[0], [1], [0]]


def test_an_empty_sampler_ends_instead_of_spinning() -> None:
    stream = IndexStream([], None)
    assert stream.at_epoch_end()
    assert list(iter(stream)) == []


def test_an_epoch_that_was_broken_off_is_followed_by_a_whole_one() -> None:
    stream = IndexStream([[0], [1], [2], [3]], None)
    for _ in range(3):
        next(stream)
    stream.served()
    assert not stream.open_epoch()
    taken = []
    for _ in range(4):
        assert not stream.at_epoch_end()
        next(stream)
        taken.append(stream.served())
    assert taken == [[1], [2], [0], [1]]
    for _ in range(4):  # in flight beyond the end of an epoch, which is then broken off too
        next(stream)
    assert not stream.open_epoch()
    for _ in range(5):
        assert not stream.at_epoch_end()
        next(stream)
        stream.served()


class _BrokenOff:
    """The iterator of a pool whose connection breaks while a batch is handed over."""

    def __init__(self, iterator: Any) -> None:
        self._workers = iterator._workers

    def __next__(self) -> Any:
        raise ConnectionResetError(104, "Connection reset by peer")


def test_a_worker_that_dies_while_handing_over_is_named() -> None:
    pool = Pool(DataLoader(range(64), batch_size=4), Settings(1, 2), None)  # type: ignore[arg-type]
    own = pool._iterator
    try:
        pool.next()
        pool._batches = pool._iterator = _BrokenOff(own)
        with pytest.raises(ConnectionResetError):
            pool.next()
        own._workers[0].kill()
        with pytest.raises(RuntimeError, match=r"exited unexpectedly with status -9|killed by signal"):
            pool.next()
    finally:
        own._shutdown_workers()


@pytest.mark.parametrize("given", [{"multiprocessing_context": "fork"}, {"timeout": 5}])
def test_no_workers_are_refused_where_the_call_could_not_be_given_them(given: dict[str, Any]) -> None:
    with pytest.raises((ValueError, AssertionError)):
        next(iter(DataLoader([0, 1], num_workers=0, **given)))
    with pytest.raises(ValueError, match="neither with multiprocessing_context nor with timeout"):
        Pool(DataLoader([0, 1], num_workers=1, **given), Settings(0), None)
