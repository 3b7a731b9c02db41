"""Feeds the training loop from candidates: block after block as the parent says, on through the loop's epochs."""

from __future__ import annotations

import threading
from dataclasses import replace
from time import perf_counter
from typing import Any

from accel_advisor.tuning.probe.channel import wire
from accel_advisor.tuning.probe.channel.connection import ParentLink
from accel_advisor.tuning.probe.channel.reasons import CandidateReason, Meaningless, TooFewBatches
from accel_advisor.tuning.probe.channel.refusals import meaningless, raised
from accel_advisor.tuning.probe.channel.wire import (
    FETCHING,
    SCRIPT,
    STARTING_WORKERS,
    Block,
    CandidateFailed,
    Measure,
    Settings,
)
from accel_advisor.tuning.probe.measuring import batches
from accel_advisor.tuning.probe.measuring.blocks import Ceiling, Running
from accel_advisor.tuning.probe.measuring.line_watch import LineWatch
from accel_advisor.tuning.probe.measuring.meter import Meter
from accel_advisor.tuning.probe.measuring.seen_loaders import LoaderRecord, Records, length_of, settings_of
from accel_advisor.tuning.probe.measuring.worker_pools import IndexStream, Pool, Settling

RESETTLE_MOST = 4
"""How often a block waits for the workers to run steadily again after the loop's pause between two epochs."""


class Feed:
    """Serves one loop, from one pool of workers at a time.

    Args:
        loader: a twin of the loop's own loader.
        sampled: what the loop's own iterator still had to draw indices from, if any.
        record: what was seen of it.
        device: the device that the model is on, as torch writes it.
        extend_epochs: never end the loop's epoch.

    Attributes:
        non_blocking: whether transfers are asynchronous under the settings that are being served.
    """

    def __init__(
        self,
        session: ParentLink,
        records: Records,
        meter: Meter,
        ceiling: Ceiling,
        *,
        loader: Any,
        sampled: Any,
        record: LoaderRecord,
        device: str,
        extend_epochs: bool,
    ) -> None:
        from torch.utils.data.dataloader import _DatasetKind

        self._session = session
        self._records = records
        self._meter = meter
        self._ceiling = ceiling
        self._loader = loader
        self._record = record
        iterable = loader._dataset_kind == _DatasetKind.Iterable
        self._length = (record.natural_length if iterable else None) or length_of(loader)
        self._stream = None if iterable else IndexStream(loader._index_sampler, sampled)
        self._device = device
        self._ranked = session.ranks > 1
        self._extend = extend_epochs
        self._lock = threading.RLock()
        self._pool: Pool | None = None
        self._worker_error: RuntimeError | None = None
        self._mid_epoch = False
        self._broken_off = False
        self._exhausted = False
        self._paused: float | None = None
        self._ready = 0
        self._running: Running | None = None
        self._teardown: dict[int, float] = {}
        self._epoch_known: set[Settings] = set()
        self.non_blocking = False

    def worker_failed(self, error: RuntimeError) -> bool:
        """A worker died; True where the loop is in the script's own code, and the next batch will say so."""
        if self._pool is None or self._session.phase != SCRIPT:
            return False
        self._worker_error = error
        return True

    def new_epoch(self) -> None:
        """The loop asked the trained loader, or one that was built in its place, for a new epoch."""
        with self._lock:
            # A loop that breaks off an epoch may count on a whole one next time.
            self._broken_off = not self._stream.open_epoch() if self._stream is not None else self._mid_epoch
            self._mid_epoch = False
            self._drop_pile()
            running = self._running
            if running is None or not running.counting or self._paused is None or running.settings is None:
                return
            # The workers went on while the loop did something else: what they piled up must not count as speed.
            paused, self._paused = perf_counter() - self._paused, None
            long = running.resettled < RESETTLE_MOST and paused * running.batches > self._meter.elapsed()
            if any(self._together(running, long)):
                running.resettled += 1
                running.again = Settling(self._pool)

    def _drop_pile(self) -> None:
        """Let batches be fetched once more that became ready while the loop did something else, as far as more are
        ready than were then. In a short epoch they would otherwise pass for the speed of the workers."""
        pool, stream = self._pool, self._stream
        if pool is None or stream is None or self._paused is None:
            return
        try:
            for _ in range(pool.buffer):
                if (pool.ready() or 0) <= self._ready or not stream.postpone():
                    return
                pool.next()
        except Exception as error:
            self._fail(raised(error))

    def next(self, served_in_epoch: int) -> Any:
        """The next batch for the loop; StopIteration at the end of an epoch."""
        with self._lock:
            dry = 0
            ask = True
            while True:
                if ask:
                    self._boundary()
                ask = not self._ranked
                if served_in_epoch and not self._extend and self._epoch_over(served_in_epoch):
                    self._end_epoch(served_in_epoch)
                    raise StopIteration
                try:
                    batch = self._fetch()
                except StopIteration:
                    if served_in_epoch and not self._extend and not (self._broken_off and self._length):
                        self._end_epoch(served_in_epoch)
                        raise
                    dry += 1
                    if dry > 1:
                        self._fail(Meaningless.NO_BATCH)
                        dry = 0
                except Exception as error:
                    self._fail(raised(error))
                else:
                    self._session.batches += 1
                    self._session.phase = SCRIPT
                    self._records.events_without_batch = 0
                    self._mid_epoch = True
                    return batch

    def _end_epoch(self, served: int) -> None:
        if self._stream is not None and self._length is None and not self._broken_off:
            self._length = served
        self._mid_epoch = False
        self._meter.pause()
        self._paused = perf_counter()
        self._ready = (self._pool.ready() or 0) if self._pool is not None else 0
        self._session.phase = SCRIPT

    # -- blocks -------------------------------------------------------------------------------------------------

    def _together(self, running: Running, mine: Any) -> tuple[Any, ...]:
        """What all ranks say at this batch, by rank; nothing where the block has failed on one of them and is therefore
        given up on all."""
        said = self._session.gather((mine, running.failed))
        if any(failed for _, failed in said):
            self._give_up(running, running.failed)
            return ()
        return tuple(each for each, _ in said)

    def _steady(self, running: Running, settling: Settling | None) -> bool:
        if settling is None:
            return True
        said = self._together(running, settling.done)
        return bool(said) and all(said)

    def _reached(self, running: Running) -> bool:
        """Whether the block is long enough, by its own clock and in whole rounds of the workers. Ranks, whose clocks
        differ, ask each other at as few batches as may be."""
        if running.batches < running.due:
            return False
        if not self._ranked:
            running.due += running.workers
            return self._meter.elapsed() >= running.measure.min_seconds
        said = self._together(running, self._meter.elapsed())
        if said and min(said) >= running.measure.min_seconds:
            return True
        running.postpone(min(said, default=0.0))
        return False

    def _boundary(self) -> None:
        """Between two batches: end what is over, begin what is due, wait for the parent when there is nothing."""
        if self._session.stopping:
            self._session.leave()
        if self._running is not None:
            self._advance(self._running)
        running = self._running
        if running is not None and perf_counter() > running.until and running.block is None and not running.failed:
            self._fail(TooFewBatches(running.settling.batches + running.batches, running.measure.most_seconds))
        while self._running is None:
            self._begin(self._session.command())

    def _advance(self, running: Running) -> None:
        if running.counting:
            if self._reached(running):
                self._end_block(running)
            elif running is self._running and not self._meter.running and self._steady(running, running.again):
                running.again = None
                self._meter.resume()
        elif running.block is None and running.warm and self._steady(running, running.settling):
            running.counting = True
            running.postpone(0.0)
            if running.lines is not None:
                running.lines.begin()
            if self._pool is not None and self._pool.profile is not None:
                self._pool.profile.begin()
            running.began = self._meter.start()
        if running.draining and self._pool is not None and not self._pool.outstanding:
            self._stream_on(running)

    def _begin(self, measure: Measure) -> None:
        own = settings_of(self._loader)
        reason = meaningless(measure.what, own, self._device == "cpu", self._record.rebuilt, self._ceiling.empty)
        if reason is not None:
            self._session.send(CandidateFailed(measure.what, reason))
            return
        if measure.what in (wire.NO_WAIT, wire.NO_TRANSFER):
            self._close_pool()
            self.non_blocking = False
            try:
                self._ceiling.prepare(self._device if measure.what == wire.NO_TRANSFER else None)
            except RuntimeError as error:  # there is no such room on the device
                self._session.send(CandidateFailed(measure.what, raised(error)))
                return
            self._running = Running(measure, None, Settling(None))
            return
        settings = own if measure.what == wire.BASELINE else measure.what
        assert isinstance(settings, Settings)
        self._ceiling.release()
        if self._record.rebuilt:
            settings = replace(settings, persistent_workers=False)
        self.non_blocking = settings.non_blocking
        pool, fresh = self._pool, measure.fresh or measure.watch
        if pool is not None and (fresh or pool.profile is not None or not pool.serves(settings)):
            self._close_pool()
        running = Running(measure, settings, Settling(self._pool))
        if measure.lines:
            running.lines = LineWatch(lambda: self._meter.running)
        self._running = running
        if self._pool is None:
            try:
                self._open_pool(running, settings)
            except Exception as error:
                self._fail(raised(error))
        if self._ranked:
            self._together(running, None)

    def _open_pool(self, running: Running, settings: Settings) -> None:
        self._session.phase = STARTING_WORKERS
        began = perf_counter()
        self._pool = Pool(self._loader, settings, self._stream, watch=running.measure.watch)
        self._exhausted = False
        running.settling = Settling(self._pool)
        running.pool_seconds = -began

    def _epoch_over(self, served: int) -> bool:
        if self._stream is not None:
            return self._stream.at_epoch_end() or (
                self._broken_off and self._length is not None and served >= self._length
            )
        # An iterable data set ends by itself, but a pool that took over in the middle starts it again.
        return self._length is not None and served >= self._length

    def _fetch(self) -> Any:
        running = self._running
        assert running is not None
        if running.settings is None or running.failed:
            return self._cached(running)
        if self._pool is None:
            self._open_pool(running, running.settings)
        assert self._pool is not None
        self._session.phase = STARTING_WORKERS if running.pool_seconds < 0 else FETCHING
        if self._worker_error is not None:
            error, self._worker_error = self._worker_error, None
            raise error
        restarts, asked = self._exhausted, self._meter.begin_wait()
        try:
            if restarts:
                self._exhausted = False
                self._pool.reset()
            batch = self._pool.next()
        except StopIteration:
            self._exhausted = True
            raise
        finally:
            self._meter.end_wait(asked)
        if restarts and running.settings.persistent_workers:
            running.epoch_seconds = perf_counter() - asked
        indices = self._stream.served() if self._stream is not None else None
        if running.pool_seconds < 0:
            self._pool_started(running)
        size = len(indices) if isinstance(indices, (list, tuple)) else batches.samples(batch)
        self._count(running, size)
        if running.block is not None and not running.draining:
            self._answer(replace(running.block, epoch_seconds=running.epoch_seconds))
        return batch

    def _pool_started(self, running: Running) -> None:
        running.pool_seconds += perf_counter()
        settings = running.settings
        if settings is not None and not settings.persistent_workers:
            running.epoch_seconds = running.pool_seconds + self._teardown.get(settings.num_workers, 0.0)

    def _cached(self, running: Running) -> Any:
        if self._stream is not None:
            self._stream.skip()
        batch, size = self._ceiling.hand_out()
        self._count(running, size)
        return batch

    def _count(self, running: Running, size: int) -> None:
        if running.again is not None:
            running.again.batch()
        elif running.counting:
            running.batches += 1
            running.samples += size
        elif running.block is None:
            running.settling.batch()

    def _end_block(self, running: Running) -> None:
        running.counting = False
        running.block = running.finished(self._meter, self._pool, self._length)
        settings = running.settings
        if (
            settings is not None
            and settings.persistent_workers
            and self._stream is not None
            and not self._ranked
            and settings not in self._epoch_known
        ):
            # What an epoch's start costs workers that outlive it: let the queue run dry, then begin again.
            self._epoch_known.add(settings)
            self._stream.gated = running.draining = True
            return
        self._answer(running.block)

    def _stream_on(self, running: Running) -> None:
        if self._stream is not None:
            self._stream.gated = False
        running.draining = False
        self._exhausted = True

    def _answer(self, message: Block | CandidateFailed) -> None:
        self._running = None
        self._session.phase = SCRIPT
        self._session.send(message)

    def _fail(self, reason: CandidateReason) -> None:
        running = self._running
        if self._ranked and running is not None:
            # The others take this batch and wait for this rank in its step: serve what was kept until they can hear.
            running.failed = reason
            self._close_pool()
            self._ceiling.prepare(None)
        else:
            self._give_up(running, reason)

    def _give_up(self, running: Running | None, reason: CandidateReason | None) -> None:
        self._meter.pause()
        self._close_pool()
        if running is not None:
            if running.lines is not None:
                running.lines.close()
            self._answer(CandidateFailed(running.measure.what, reason))

    def _close_pool(self) -> None:
        if self._pool is None:
            return
        pool, self._pool = self._pool, None
        self._worker_error = None
        if self._stream is not None:
            self._stream.gated = False
            self._stream.take_back()
        self._teardown[pool.workers] = pool.close()
