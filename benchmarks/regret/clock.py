"""Times training scripts as they are: a process that has imported torch, and forks for every script that it is given.

What is timed is the loop from one step of the optimizer to the next, by a hook that torch offers for it; the loader is
not touched. Each reading is a training of its own in a process of its own; only the import of torch is shared. The
group of processes is killed when the reading is complete, so a script may train forever.

    python clock.py            requests as lines of JSON on stdin, answers as lines on stdout
    python clock.py SCRIPT     runs the script up to its first step and ends, to time a start from nothing
"""

from __future__ import annotations

import json
import math
import os
import runpy
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any


@dataclass(frozen=True)
class Reading:
    """What to time.

    Attributes:
        warm: steps that are not counted.
        unit: the reading is a multiple of so many steps.
        seconds: it takes at least so long.
    """

    script: str
    warm: int
    unit: int
    seconds: float


class Stopwatch:
    """Counts steps; at the last one it answers, and leaves the process."""

    def __init__(self, reading: Reading, answer: int) -> None:
        self.reading, self.answer = reading, answer
        self.steps = 0
        self.began = math.inf

    def __call__(self, *_: Any) -> None:
        self.steps += 1
        now, counted = time.perf_counter(), self.steps - self.reading.warm
        if counted == 0:
            settle()
            self.began = time.perf_counter()
        elif counted > 0 and counted % self.reading.unit == 0 and now - self.began >= self.reading.seconds:
            settle()
            seconds = time.perf_counter() - self.began
            os.write(self.answer, json.dumps({"steps": counted, "seconds": seconds}).encode())
            os._exit(0)


def settle() -> None:
    """Waits for an accelerator, which is behind the host, to have done what it was given."""
    import torch

    if hasattr(torch, "accelerator") and torch.accelerator.is_available():
        torch.accelerator.synchronize()


def train(script: str, stepped: Callable[..., None]) -> None:
    """Runs a script and reports every step of its optimizer."""
    from torch.optim.optimizer import register_optimizer_step_post_hook

    register_optimizer_step_post_hook(stepped)
    sys.argv = [script]
    sys.path[0] = str(Path(script).parent)
    os.chdir(Path(script).parent)
    runpy.run_path(script, run_name="__main__")


def one_reading(reading: Reading) -> dict[str, Any]:
    """A reading in a process group of its own; ``{"failed": ...}`` where the script ended without one."""
    with tempfile.TemporaryFile() as errors:
        said = timed(reading, errors)
        errors.seek(0)
        last = errors.read().decode(errors="replace").strip().rpartition("\n")[2]
    return json.loads(said) if said else {"failed": last or "the script ended before it was timed"}


def timed(reading: Reading, errors: IO[bytes]) -> bytes:
    """What the stopwatch says; nothing where the script ended before."""
    answer, theirs = os.pipe()
    child = os.fork()
    if child == 0:
        os.setsid()
        os.dup2(os.open(os.devnull, os.O_RDWR), 0)
        os.dup2(errors.fileno(), 1)
        os.dup2(errors.fileno(), 2)
        try:
            train(reading.script, Stopwatch(reading, theirs))
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(1)
    os.close(theirs)
    said = os.read(answer, 4096)  # not to its end: workers hold the other end, too
    os.close(answer)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return said


def serve() -> None:
    """Answers requests until there are no more."""
    import torch._dynamo  # which the first optimizer imports
    import torch.utils.data  # noqa: F401 -- so that the children need not

    for line in sys.stdin:
        print(json.dumps(one_reading(Reading(**json.loads(line)))), flush=True)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        train(os.path.abspath(sys.argv[1]), lambda *_: os._exit(0))
    else:
        serve()
        os._exit(0)  # all is said, and the end of an interpreter with torch takes half a second
