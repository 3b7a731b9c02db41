"""Watches a pool at work: what each batch costs in the data set and in the collate function, how long it is under way
to the loop, and what the fetching thread was doing, from samples of its stack.

Only a pool that is opened to be watched is touched. In a worker everything begins in its ``worker_init_fn``, so that it
holds for every start method; what it saw comes back through a file, which can neither block it nor die with it.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import tempfile
import threading
from collections import deque
from collections.abc import Callable
from pathlib import Path
from time import perf_counter, thread_time
from typing import Any

from accel_advisor.tuning.probe.channel.wire import COLLATE, DATA_SET, Frame, Passage, Stack, Watched
from accel_advisor.tuning.probe.measuring.stack_sampler import Place, Sampler
from accel_advisor.tuning.probe.script.stack import is_probe, place

_MOST_PASSAGES = 4096


class Recorder:
    """Times the fetcher of one process, and writes down what it and the sampler saw.

    Args:
        write: takes one line, plain data; may be called from two threads.
        hands_over: whether batches are pickled for another process: a line is then written only once that is done.
    """

    def __init__(self, write: Callable[[list[Any]], None], *, hands_over: bool) -> None:
        self._write = write
        self._sampler = Sampler(_fetching.__code__)
        self._frames: dict[Place, int | None] = {}
        self._numbers = 0
        self._pending: deque[tuple[Any, list[Any]]] | None = deque() if hands_over else None
        self._queue = _RunQueue()
        self._collate = 0.0
        self.last = 0.0

    def watch(self, fetcher: Any) -> None:
        """Take hold of a fetcher of torch's."""
        fetch, collate = fetcher.fetch, fetcher.collate_fn

        def collating(samples: Any) -> Any:
            self._sampler.task, began = COLLATE, perf_counter()
            try:
                return collate(samples)
            finally:
                self._collate += perf_counter() - began
                self._sampler.task = DATA_SET

        fetcher.collate_fn = collating
        fetcher.fetch = lambda indices: self._fetch(fetch, indices)

    def _fetch(self, fetch: Callable[[Any], Any], indices: Any) -> Any:
        self._flush()
        self._collate = 0.0
        self._sampler.thread, self._sampler.task = threading.get_ident(), DATA_SET
        queued, busy, began = self._queue.seconds(), thread_time(), perf_counter()
        try:
            batch = _fetching(fetch, indices)
        finally:
            self.last = ended = perf_counter()
            self._sampler.task = ""
        idle = ended - began - (thread_time() - busy) - (self._queue.seconds() - queued)
        line = ["batch", None, began, ended, self._collate, max(idle, 0.0)]
        if self._pending is None:
            self._write(line)
        else:
            self._pending.append((batch, line))
        return batch

    def pickled(self, message: Any, began: float) -> None:
        """The queue's thread has pickled ``message`` since ``began``."""
        ended = perf_counter()
        pending = self._pending
        if pending and isinstance(message, tuple) and len(message) == 2 and message[1] is pending[0][0]:
            line = pending.popleft()[1]
            line[1] = message[0]
            self._write([*line, began, ended])

    def _flush(self) -> None:
        sums = self._sampler.drain()
        if not sums:
            return
        new: list[tuple[Any, ...]] = []
        stacks = []
        for (task, places), (seconds, squares) in sums.items():
            for one in places:
                if one not in self._frames:
                    self._frames[one] = self._number(one, new)
            numbers = [number for one in places if (number := self._frames[one]) is not None]
            stacks.append((task, numbers, seconds, squares))
        for start in range(0, len(new), 16):
            self._write(["frames", new[start : start + 16]])
        self._write(["stacks", perf_counter(), stacks])

    def _number(self, one: Place, new: list[tuple[Any, ...]]) -> int | None:
        code, module = self._sampler.codes[one[0]]
        if is_probe(code.co_filename):
            return None
        frame = place(code, one[1])
        name = f"{module}.{getattr(code, 'co_qualname', code.co_name)}".lstrip(".")
        new.append((frame.filename, name, frame.row, frame.column, frame.end_row, frame.end_column))
        self._numbers += 1
        return self._numbers - 1

    def close(self) -> None:
        """Watch no more."""
        self._sampler.close()
        self._queue.close()


def _fetching(fetch: Callable[[Any], Any], indices: Any) -> Any:
    """The outermost function of every stack that is sampled."""
    return fetch(indices)


class _RunQueue:
    """How long this thread was ready to run and no core was free; 0 where the system does not report it."""

    def __init__(self) -> None:
        self._thread = 0
        self._file = -1

    def seconds(self) -> float:
        if self._thread != threading.get_native_id():
            self.close()
            self._thread = threading.get_native_id()
            with contextlib.suppress(OSError):
                self._file = os.open(f"/proc/self/task/{self._thread}/schedstat", os.O_RDONLY)
        try:
            return int(os.pread(self._file, 128, 0).split()[1]) / 1e9 if self._file >= 0 else 0.0
        except (OSError, IndexError):
            return 0.0

    def close(self) -> None:
        if self._file >= 0:
            os.close(self._file)
            self._file = -1


class _WorkerStart:
    """The ``worker_init_fn`` of a watched pool: the user's own first, then a recorder for the worker."""

    def __init__(self, folder: str, own: Callable[[int], Any] | None) -> None:
        self._folder = folder
        self._own = own

    def __call__(self, worker: int) -> None:
        if self._own is not None:
            self._own(worker)
        import multiprocessing.queues as queues

        from torch.utils.data import _DatasetKind

        kind: Any = _DatasetKind
        number = os.open(f"{self._folder}/{worker}", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)

        def write(line: list[Any]) -> None:
            with contextlib.suppress(OSError):
                os.write(number, json.dumps(line).encode() + b"\n")

        recorder, create = Recorder(write, hands_over=True), kind.create_fetcher
        pickler: Any = queues._ForkingPickler  # type: ignore[attr-defined]

        def create_fetcher(*args: Any, **kwargs: Any) -> Any:
            fetcher = create(*args, **kwargs)
            recorder.watch(fetcher)
            return fetcher

        class Pickler(pickler):  # type: ignore[misc]
            @classmethod
            def dumps(cls, obj: Any, protocol: Any = None) -> Any:
                began = perf_counter()
                pickled = pickler.dumps(obj, protocol)
                recorder.pickled(obj, began)
                return pickled

        kind.create_fetcher = staticmethod(create_fetcher)
        queues._ForkingPickler = Pickler  # type: ignore[attr-defined]


class Profile:
    """Everything that is seen of one pool.

    Args:
        loader: the pool's own twin of the user's loader, before its iterator is made.
    """

    def __init__(self, loader: Any) -> None:
        self._since = 0.0
        self._lines: list[list[Any]] = []
        self._recorder: Recorder | None = None
        self._folder: str | None = None
        self._arrivals: dict[int, list[tuple[float, float]]] = {}
        self._pinned: dict[int, list[float]] = {}
        if loader.num_workers:
            self._folder = tempfile.mkdtemp(prefix="accel-advisor-profile-")
            loader.__dict__["worker_init_fn"] = _WorkerStart(self._folder, loader.worker_init_fn)
        else:
            self._recorder = Recorder(self._lines.append, hands_over=False)

    def watch(self, iterator: Any) -> None:
        """Take hold of the pool's iterator; also of the one that follows it in the next epoch."""
        if self._recorder is None:
            self._watch_queues(iterator)
            return
        self._recorder.watch(iterator._dataset_fetcher)
        if iterator._pin_memory:
            recorder, next_data = self._recorder, iterator._next_data

            def pinning() -> Any:
                batch = next_data()
                self._pinned.setdefault(-1, []).append(perf_counter() - recorder.last)
                return batch

            iterator._next_data = pinning

    def _watch_queues(self, iterator: Any) -> None:
        results, ready = iterator._worker_result_queue, iterator._data_queue
        if getattr(results, "get", None) is None or "get" in results.__dict__:
            return
        from torch._utils import ExceptionWrapper
        from torch.utils.data._utils.worker import _IterableDatasetStopIteration, _ResumeIteration

        no_batch, receive = (ExceptionWrapper, _IterableDatasetStopIteration, _ResumeIteration), results.get

        def get(*args: Any, **kwargs: Any) -> Any:
            began = perf_counter()
            message = receive(*args, **kwargs)
            if not isinstance(message[1], no_batch):
                self._arrivals.setdefault(message[0], []).append((began, perf_counter()))
            return message

        results.get = get
        if ready is results:
            return
        give = ready.put

        def put(message: Any, *args: Any, **kwargs: Any) -> None:
            known = self._arrivals.get(message[0])
            if known:
                self._pinned.setdefault(message[0], []).append(perf_counter() - known[-1][1])
            give(message, *args, **kwargs)

        ready.put = put

    def begin(self) -> None:
        """What was seen until now does not count."""
        self._since = perf_counter()

    def result(self) -> Watched:
        """What was seen since :meth:`begin`."""
        passages: list[Passage] = []
        sums: dict[tuple[str, tuple[Frame, ...]], list[float]] = {}
        for lines in self._sources():
            self._read(lines, passages, sums)
        stacks = tuple(Stack(task, frames, *found) for (task, frames), found in sums.items())
        return Watched(tuple(passages[-_MOST_PASSAGES:]), stacks)

    def _sources(self) -> list[list[list[Any]]]:
        if self._folder is None:
            return [self._lines]
        found = []
        for path in sorted(Path(self._folder).iterdir()):
            whole, _, _ = path.read_bytes().rpartition(b"\n")
            found.append([json.loads(line) for line in whole.splitlines()])
        return found

    def _read(
        self,
        lines: list[list[Any]],
        passages: list[Passage],
        sums: dict[tuple[str, tuple[Frame, ...]], list[float]],
    ) -> None:
        frames: list[Frame] = []
        seen: dict[int, int] = {}
        for kind, *line in lines:
            if kind == "frames":
                frames += [Frame(*fields) for fields in line[0]]
            elif kind == "stacks" and line[0] >= self._since:
                for task, numbers, seconds, squares in line[1]:
                    total = sums.setdefault((task, tuple(frames[number] for number in numbers)), [0.0, 0.0])
                    total[0] += seconds
                    total[1] += squares
            elif kind == "batch":
                turn = seen.get(line[0], 0)
                seen[line[0]] = turn + 1
                passage = self._passage(turn, *line)
                if passage is not None and line[1] >= self._since:
                    passages.append(passage)

    def _passage(
        self,
        turn: int,
        number: int | None,
        began: float,
        ended: float,
        collate: float,
        idle: float,
        pickling: float = 0.0,
        pickled: float = 0.0,
    ) -> Passage | None:
        """One batch on its way; None where it has not arrived yet, or nobody saw it arrive."""
        data_set = ended - began - collate
        if number is None:
            pins = self._pinned.get(-1, [])
            return Passage(data_set, collate, idle, 0.0, pins[turn] if turn < len(pins) else 0.0)
        arrivals, pins = self._arrivals.get(number, []), self._pinned.get(number, [])
        # An epoch that begins again numbers its batches from the start.
        if turn >= len(arrivals):
            return None
        asked, arrived = arrivals[turn]
        # What lies ready until the loop asks for it costs nothing.
        if asked <= ended:
            hand_over = arrived - ended
        else:
            hand_over = pickled - pickling + arrived - max(asked, pickled)
        return Passage(data_set, collate, idle, max(hand_over, 0.0), pins[turn] if turn < len(pins) else 0.0)

    def close(self) -> None:
        """Watch no more, and leave nothing behind."""
        if self._recorder is not None:
            self._recorder.close()
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
