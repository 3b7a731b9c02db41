"""Real DataLoaders over the user's own data set, one at a time, fed from one stream of indices."""

from __future__ import annotations

import contextlib
import threading
import warnings
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path
from time import perf_counter, sleep
from typing import Any

from accel_advisor.tuning.probe.channel.wire import Settings, Watched
from accel_advisor.tuning.probe.measuring.loader_profile import Profile

Draw = tuple[Any, bool]
"""One batch's worth of indices, and whether it opens an epoch."""


class IndexStream:
    """The indices of one loader, epoch after epoch, whoever serves them.

    What a pool was given and did not serve goes to the next pool, so that a change of candidate neither skips nor
    repeats a sample.
    """

    def __init__(self, sampler: Any, current: Iterator[Any] | None) -> None:
        self._sampler = sampler
        self._current = current
        self._opening = False
        self._silent = False
        self._pending: deque[Draw] = deque()
        self._given: deque[Draw] = deque()
        self.gated = False

    def __len__(self) -> int:
        return len(self._sampler)

    def __iter__(self) -> Iterator[Any]:
        return self

    def _draw(self) -> Draw:
        for _ in range(2):
            if self._current is None:
                self._current = iter(self._sampler)
                self._opening = not self._silent
                self._silent = False
            try:
                draw = next(self._current), self._opening
            except StopIteration:
                self._current = None
                continue
            self._opening = False
            return draw
        raise StopIteration

    def __next__(self) -> Any:
        """The next indices, for a pool to fetch."""
        if self.gated:
            raise StopIteration
        draw = self._pending.popleft() if self._pending else self._draw()
        self._given.append(draw)
        return draw[0]

    def skip(self) -> None:
        """The loop was served something else in place of the next batch: the epoch goes on all the same."""
        if self._pending:
            self._pending.popleft()
            return
        with contextlib.suppress(StopIteration):
            self._draw()

    def served(self) -> Any:
        """A batch has reached the loop: its indices are done with, and returned."""
        return self._given.popleft()[0] if self._given else None

    def postpone(self) -> bool:
        """The next batch is to be fetched once more, behind all that are under way; False, with nothing changed, where
        one of those opens an epoch, to which the batch would be lost."""
        if not self._given or any(opens for _, opens in (*self._given, *self._pending)):
            return False
        self._pending.append(self._given.popleft())
        return True

    def take_back(self) -> None:
        """The pool is gone: what it did not serve is pending again."""
        self._pending.extendleft(reversed(self._given))
        self._given.clear()

    def at_epoch_end(self) -> bool:
        """Whether the next batch opens a new epoch."""
        if self._given:
            return self._given[0][1]
        if not self._pending:
            try:
                self._pending.append(self._draw())
            except StopIteration:
                return True
        return self._pending[0][1]

    def open_epoch(self) -> bool:
        """The loop asked for a new epoch; False where it had left the last one before its end.

        Then the sampler begins again behind what is in flight already, and this epoch has no end of its own: the caller
        counts.
        """
        if not self.at_epoch_end():
            self._current = None
            self._silent = True
            for queue in (self._given, self._pending):
                for place, (indices, _) in enumerate(queue):
                    queue[place] = indices, False
            return False
        for queue in (self._given, self._pending):
            if queue:
                queue[0] = queue[0][0], False
                break
        return True


def twin(loader: Any) -> Any:
    """A loader with the attributes of another, its subclass included, that no constructor has seen."""
    other = object.__new__(type(loader))
    other.__dict__.update(loader.__dict__)
    return other


class Making(threading.local):
    """Whether the probe itself asks a loader for its iterator, and what torch made then: a subclass may wrap it."""

    active: bool = False
    iterator: Any = None


MAKING = Making()


def own_iterator(loader: Any, make: Callable[[Any], Any]) -> tuple[Any, Any]:
    """What ``make`` gives to iterate a loader by, and torch's own iterator within."""
    before, MAKING.active, MAKING.iterator = MAKING.active, True, None
    try:
        batches = make(loader)
    finally:
        MAKING.active = before
    return batches, batches if MAKING.iterator is None else MAKING.iterator


class Pool:
    """A DataLoader's iterator under some Settings: its workers, its queue, and how full that is."""

    def __init__(self, loader: Any, settings: Settings, stream: IndexStream | None, *, watch: bool = False) -> None:
        self.settings = settings
        self.workers = settings.num_workers
        self.buffer = self.workers * (settings.prefetch_factor or 2)
        if not self.workers and (loader.multiprocessing_context is not None or loader.timeout):
            # DataLoader refuses both where there are no workers, so the source could not be given this number.
            raise ValueError("num_workers=0 goes neither with multiprocessing_context nor with timeout")
        self._loader = clone = twin(loader)
        clone.__dict__.update(
            num_workers=self.workers,
            prefetch_factor=(settings.prefetch_factor or 2) if self.workers else None,
            # Workers that outlive an epoch let the pool run on across epochs; what their start costs is measured apart.
            persistent_workers=self.workers > 0,
            pin_memory=settings.pin_memory,
            _iterator=None,
        )
        if stream is not None:
            clone.__dict__["batch_sampler" if loader.batch_sampler is not None else "sampler"] = stream
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            self.profile = Profile(clone) if watch else None
            self._batches, self._iterator = self._open()
        if self.profile is not None:
            self.profile.watch(self._iterator)

    def serves(self, settings: Settings) -> bool:
        """Whether its workers and its queue are those of these settings."""
        own = self.settings
        return (own.num_workers, own.prefetch_factor, own.pin_memory) == (
            settings.num_workers,
            settings.prefetch_factor,
            settings.pin_memory,
        )

    def _open(self) -> tuple[Any, Any]:
        from torch.utils.data.dataloader import _BaseDataLoaderIter

        kind = type(self._loader)
        batches, within = own_iterator(self._loader, kind._get_iterator)
        if not isinstance(within, _BaseDataLoaderIter):
            raise TypeError(f"{kind.__qualname__} makes iterators of its own, which cannot be fed")
        return batches, within

    def next(self) -> Any:
        """The next batch.

        Raises:
            StopIteration: an iterable data set is exhausted.
            RuntimeError: a worker died.
        """
        try:
            return next(self._batches)
        except (OSError, EOFError) as error:
            # A batch was being handed over by a worker that died: what broke is the connection, why is the worker.
            status = self._dead_worker()
            if status is None:
                raise
            raise RuntimeError(f"a DataLoader worker exited unexpectedly with status {status}") from error

    def _dead_worker(self) -> int | None:
        """The exit status of a worker that is gone, or goes within moments; None where all live on."""
        deadline = perf_counter() + 2
        workers = self._iterator._workers if self.workers else ()
        while workers:
            for worker in workers:
                if not worker.is_alive():
                    return int(worker.exitcode or 0)
            if perf_counter() > deadline:
                break
            sleep(0.05)
        return None

    def reset(self) -> None:
        """Begin an epoch again with the same workers."""
        if self.workers:
            self._iterator._reset(self._loader)
        else:
            self._batches, self._iterator = self._open()
            if self.profile is not None:
                self.profile.watch(self._iterator)

    @property
    def outstanding(self) -> int:
        """Batches that were asked for and not yet served."""
        return len(self._iterator._task_info) if self.workers else 0

    def ready(self) -> int | None:
        """Batches that lie ready for the loop; None where that is not known."""
        if not self.workers:
            return 0
        iterator = self._iterator
        try:
            count = sum(len(info) > 1 for info in iterator._task_info.values()) + int(iterator._data_queue.qsize())
            if iterator._data_queue is not iterator._worker_result_queue:
                count += int(iterator._worker_result_queue.qsize())
        except (AttributeError, NotImplementedError):  # another torch, or macOS, where queues have no size
            return None
        return count

    def worker_bytes(self) -> int:
        """Memory that belongs to the workers alone, in bytes; 0 where the system does not report it."""
        total = 0
        for worker in self._iterator._workers if self.workers else ():
            try:
                lines = Path(f"/proc/{worker.pid}/smaps_rollup").read_text().splitlines()
            except OSError:
                continue
            total += sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("Private_"))
        return total

    def watched(self) -> Watched | None:
        """What was seen of it during the block; None where it is not watched."""
        return self.profile.result() if self.profile is not None else None

    def close(self) -> float:
        """Stop the workers; seconds that it took."""
        began = perf_counter()
        if self.workers:
            self._iterator._shutdown_workers()
        if self.profile is not None:
            self.profile.close()
        self._iterator = self._batches = None
        return perf_counter() - began


class Settling:
    """Decides when a pool that has just started, or was left alone, runs steadily.

    At least two rounds of the workers and a batch; then until the ready queue is full, empty, or no longer changes
    over a round of the workers; at most two buffers more.
    """

    def __init__(self, pool: Pool | None) -> None:
        self._pool = pool
        self._ready: list[int | None] = []
        self._least = 2 * pool.workers + 1 if pool is not None else 2
        self._most = self._least + 2 * pool.buffer if pool is not None else 2
        self.batches = 0

    def batch(self) -> None:
        """One more batch was served."""
        self.batches += 1
        if self._pool is not None:
            self._ready.append(self._pool.ready())

    @property
    def done(self) -> bool:
        """Whether the block may begin."""
        if self.batches < self._least:
            return False
        if self.batches >= self._most or self._pool is None:
            return True
        window = self._ready[-max(self._pool.workers, 2) - 1 :]
        first, last = window[0], window[-1]
        if first is None or last is None:
            return False
        return last == 0 == first or last >= self._pool.buffer - self._pool.workers or abs(last - first) <= 1
