"""Which lines of the script a step takes its time at: samples of the loop's stack while the clock of a block runs, and
a trace of the lines that the steps before it ran.

The trace is there to tell a line that costs next to nothing from one that does not run. It slows Python down, so it is
over before anything is timed; the samples leave the script's code as it is.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Sequence
from random import Random
from time import perf_counter, sleep
from types import CodeType, FrameType
from typing import Any

from accel_advisor.tuning.probe.channel.wire import Frame, LoopSamples, LoopStack
from accel_advisor.tuning.probe.measuring.stack_sampler import SWITCH_INTERVAL, Place, wake_on_time
from accel_advisor.tuning.probe.script.stack import capture, is_library, is_probe, place

INTERVAL = 0.002
"""Seconds between two samples on average. They come as a Poisson process, so that each moment is as likely as others
and no rhythm of the loop can fall in step."""
TRACED_BATCHES = 4
"""Batches of the warm-up whose lines are traced."""
LOOKS = 4
"""How often a sample looks where the thread is, until that stays as it is for so long."""
SERVING = ("ServedIterator.__next__", "ReplayedCall._asked.<locals>.take")
"""The probe's functions below which a batch is fetched."""
COMPUTING = ("Hooks._wrap_module.<locals>.__call__", "Hooks._wrap_backward.<locals>.wrap.<locals>.training")
"""Those below which a module or a backward pass computes."""


class LineWatch:
    """Watches the thread that makes it: traces until :meth:`begin`, samples from there to :meth:`end`.

    Args:
        counts: whether the clock of the block runs.
    """

    def __init__(self, counts: Callable[[], bool]) -> None:
        self._counts = counts
        self._thread = threading.get_ident()
        self._codes: dict[int, CodeType] = {}
        self._seen: dict[tuple[Place, ...], int] = {}
        self._samples: list[tuple[int, float]] = []
        self._ended = threading.Event()
        self._sampling: threading.Thread | None = None
        self._switch_interval = sys.getswitchinterval()
        self._asks: tuple[Frame, ...] = ()
        self._trace = _Trace()

    def begin(self, asks: tuple[Frame, ...] | None = None) -> None:
        """Trace no more, and sample from now on.

        Args:
            asks: the frames that ask for a batch; those of the caller where it is called while one is being fetched.
        """
        self._trace.close()
        self._asks = tuple(one for one in (capture() if asks is None else asks) if _is_own(one.filename))
        sys.setswitchinterval(min(SWITCH_INTERVAL, self._switch_interval))
        self._sampling = threading.Thread(target=self._run, name="accel-advisor-lines", daemon=True)
        self._sampling.start()

    def close(self) -> None:
        """Watch no more."""
        self._trace.close()
        self._ended.set()
        if self._sampling is not None:
            self._sampling.join()
            self._sampling = None
            sys.setswitchinterval(self._switch_interval)

    def end(self) -> LoopSamples:
        """Watch no more, and say what was seen."""
        self.close()
        stacks: dict[LoopStack, int] = {}
        numbers: list[int | None] = []
        for places in self._seen:
            stack = loop_stack([(self._codes[identity], instruction) for identity, instruction in places])
            numbers.append(None if stack is None else stacks.setdefault(stack, len(stacks)))
        samples = tuple((n, seconds) for number, seconds in self._samples if (n := numbers[number]) is not None)
        return LoopSamples(tuple(stacks), samples, tuple(sorted(self._trace.lines)), self._asks)

    def _run(self) -> None:
        wake_on_time()
        random = Random(0)
        while not self._ended.is_set():
            span, asked = random.expovariate(1 / INTERVAL), perf_counter()
            sleep(span)
            late = max(perf_counter() - asked - span, 0.0)
            places = self._now() if self._counts() else None
            if places is not None:
                number = self._seen.setdefault(places, len(self._seen))
                # Compiled code that keeps the interpreter lets no sample in: those that it put off count where it is.
                self._samples.append((number, INTERVAL + late))

    def _now(self) -> tuple[Place, ...] | None:
        """Where the thread is; None where it would not stay so long."""
        for _ in range(LOOKS):
            frame = sys._current_frames().get(self._thread)
            places = self._places(frame)
            # A thread that went on meanwhile was never at the inner and the outer of these places at once.
            if sys._current_frames().get(self._thread) is frame:
                return places
        return None

    def _places(self, frame: FrameType | None) -> tuple[Place, ...]:
        places: list[Place] = []
        while frame is not None:
            code = frame.f_code
            self._codes[id(code)] = code
            places.append((id(code), frame.f_lasti))
            frame = frame.f_back
        return tuple(reversed(places))


def loop_stack(calls: Sequence[tuple[CodeType, int]]) -> LoopStack | None:
    """Where the loop was at work.

    Args:
        calls: the code of each frame and the offset of the instruction that it was at, outermost first.

    Returns:
        None where the probe was at work itself, between the loop that asks for a batch and what fetches it.
    """
    frames, fetching, computing, fetched = [], None, 0, False
    for code, instruction in calls:
        if not is_probe(code.co_filename):
            fetched = fetched or fetching is not None
            if _is_own(code.co_filename):
                frames.append(place(code, instruction))
        elif code.co_qualname in SERVING and fetching is None:
            fetching = len(frames)
        elif code.co_qualname in COMPUTING:
            computing = len(frames)
    return None if fetching is not None and not fetched else LoopStack(tuple(frames), fetching, computing)


class _Trace:
    """The lines that this thread runs of code that is neither a library's nor the probe's, until it is closed. Does
    nothing where something else traces, such as a debugger."""

    def __init__(self) -> None:
        self.lines: set[tuple[str, int]] = set()
        self._frames: list[FrameType] = []
        self._closed = sys.gettrace() is not None
        if self._closed:
            return
        frame: FrameType | None = sys._getframe()
        while frame is not None:
            if _is_own(frame.f_code.co_filename) and frame.f_trace is None:
                frame.f_trace = self._line
                self._frames.append(frame)
            frame = frame.f_back
        sys.settrace(self._call)

    def close(self) -> None:
        """Trace no more."""
        if self._closed:
            return
        self._closed = True
        sys.settrace(None)
        for frame in self._frames:
            frame.f_trace = None
        self._frames.clear()

    def _call(self, frame: FrameType, event: str, argument: Any) -> Any:
        return self._line(frame, event, argument) if _is_own(frame.f_code.co_filename) else None

    def _line(self, frame: FrameType, event: str, argument: Any) -> Any:
        self.lines.add((frame.f_code.co_filename, frame.f_lineno))
        return self._line


def _is_own(filename: str) -> bool:
    return not filename.startswith("<") and not is_probe(filename) and not is_library(filename)
