"""Samples the stack of a thread while it is at work: which functions it was in, and for how long.

Time in compiled code is charged to the Python frame that called it, at the place of the call.
"""

from __future__ import annotations

import ctypes
import sys
import threading
from random import Random
from time import perf_counter, sleep
from types import CodeType, FrameType

INTERVAL = 0.003
"""Seconds between two samples, on average: they come at random, so that no rhythm of the work can fall in step."""
SWITCH_INTERVAL = 1e-5
"""A thread that computes in Python lets another in after so many seconds. With CPython's 5 ms a sample would be put off
to the next call that frees the interpreter, and be charged to that: each operation of torch is one. With 0.1 ms those
of a fetch that took 24 % of steps of a millisecond were charged with 33 % of it."""

Place = tuple[int, int]
"""The identity of a function's code, and the offset of the instruction that it was at."""
Key = tuple[str, tuple[Place, ...]]
"""What the thread was at, in a word, and its frames, outermost first."""


class Sampler:
    """Watches whichever thread says so, one at a time.

    Args:
        outermost: the function below which frames count.

    Attributes:
        task: what the watched thread is at, in a word; empty while it is at nothing that counts.
        thread: the identity of the watched thread.
        codes: every code that was seen, with the name of its module, by its identity. They are never hashed, which
            would read all of their instructions.
    """

    def __init__(self, outermost: CodeType) -> None:
        self.task = ""
        self.thread = 0
        self.codes: dict[int, tuple[CodeType, str]] = {}
        self._outermost = outermost
        self._sums: dict[Key, list[float]] = {}
        self._lock = threading.Lock()
        self._ended = False
        self._switch_interval = sys.getswitchinterval()
        sys.setswitchinterval(min(SWITCH_INTERVAL, self._switch_interval))
        threading.Thread(target=self._run, name="accel-advisor-sampler", daemon=True).start()

    def drain(self) -> dict[Key, list[float]]:
        """Seconds and squared seconds by what was seen since the last time. A sample stands for the time since the one
        before it, since compiled code that keeps the interpreter lets none in."""
        with self._lock:
            sums, self._sums = self._sums, {}
        return sums

    def close(self) -> None:
        """Sample no more."""
        self._ended = True
        sys.setswitchinterval(self._switch_interval)

    def _run(self) -> None:
        wake_on_time()
        random, before = Random(0), perf_counter()
        while not self._ended:
            sleep(random.uniform(0.5, 1.5) * INTERVAL)
            task, now = self.task, perf_counter()
            seconds, before = now - before, now
            frame = sys._current_frames().get(self.thread) if task else None
            places = self._places(frame)
            if places is None:
                continue
            with self._lock:
                sums = self._sums.setdefault((task, places), [0.0, 0.0])
                sums[0] += seconds
                sums[1] += seconds * seconds

    def _places(self, frame: FrameType | None) -> tuple[Place, ...] | None:
        """The frames inside of the outermost; None where it is not among them, since the thread went on meanwhile."""
        places: list[Place] = []
        while frame is not None:
            code = frame.f_code
            if code is self._outermost:
                return tuple(reversed(places))
            if id(code) not in self.codes:
                self.codes[id(code)] = code, str(frame.f_globals.get("__name__", ""))
            places.append((id(code), frame.f_lasti))
            frame = frame.f_back
        return None


def wake_on_time() -> None:
    """Have the system wake this thread when it asked to be, where Linux adds up to 50 µs to be woken with others: so
    long it would wait for the interpreter besides, and lose it to the next call that frees it."""
    if sys.platform.startswith("linux"):
        pr_set_timerslack, nanoseconds = 29, 1
        ctypes.CDLL(None).prctl(pr_set_timerslack, nanoseconds, 0, 0, 0)
