"""The parent's side of a trial: start the user's command under the probe, feed it candidates, watch it, reap it.

The parent decides, the child obeys. Search and statistics live with the caller; this module only keeps the child
honest: a deadline, a heartbeat, and an end that leaves no process, segment or file behind.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from accel_advisor.tune.probe.wire import Block, Ready, Settings, Stopped


@dataclass(frozen=True, slots=True)
class Command:
    """What the user runs: ``python script args`` or, where ``module`` is given, ``python -m module args``.

    Exactly one of ``script`` and ``module`` is set. ``python`` may be another interpreter than this one: the probe
    needs torch and the standard library there, nothing else.
    """

    script: Path | None
    module: str | None
    args: tuple[str, ...]
    cwd: Path
    python: str = sys.executable

    def __post_init__(self) -> None:
        if (self.script is None) == (self.module is None):
            raise ValueError("a command has either a script or a module")


class TrialError(Exception):
    """Something that a trial has to say instead of a number; ``reason`` is one sentence for the user."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class CandidateError(TrialError):
    """Only this candidate failed; the trial goes on and takes the next :meth:`Trial.measure`."""


class TrialEnded(TrialError):
    """The child is gone. Another trial must be started to measure on, without the candidate that was being measured
    where there was one (it crashed or hung)."""


class ScriptFailed(TrialEnded):
    """The script came to a bad end of its own. ``traceback`` is its own, without the probe's frames (or the end of its
    stderr where it had none); ``status`` its exit status; ``trained`` whether a loader was seen to train."""

    def __init__(self, reason: str, traceback: str, status: int, trained: bool = False) -> None:
        super().__init__(reason)
        self.traceback = traceback
        self.status = status
        self.trained = trained


class ScriptFinished(TrialEnded):
    """The script trained, and ended well before it could be measured. Start again with ``extend_epochs``."""

    def __init__(self, reason: str, batches: int) -> None:
        super().__init__(reason)
        self.batches = batches


class NotMeasurable(TrialEnded):
    """The shape of the loop cannot be measured; ``reason`` says why."""


class NoLoader(NotMeasurable):
    """The script ended well and never iterated a DataLoader."""


class NeverTrained(NotMeasurable):
    """The script iterated DataLoaders and ended well, but no training step was ever seen between their batches."""


class TimedOut(TrialEnded):
    """The deadline, or the limit on the start-up, passed; the child was killed."""


class Trial:
    """One run of the user's command under the probe, in a child process of its own session.

    A context manager: leaving it reaps the child, its workers and everything else that they started, removes the
    scratch folder, and fills :attr:`contained` and :attr:`leaked`.

    Args:
        command: what to run.
        deadline: on :func:`time.monotonic`, in seconds: the child is killed then, whatever it does.
        start_timeout: seconds from :meth:`start` to the first warm training step.
        stall_timeout: seconds without a single batch during :meth:`measure` after which the candidate counts as hung.
        extend_epochs: never end an epoch: for scripts that end before they can be measured.

    Attributes:
        contained: paths that the script wrote and that went to the scratch overlay, known after the end.
        leaked: paths under the project that changed nevertheless (written behind Python's back, or by somebody else
            meanwhile) and could not be put back, known after the end.
        restored: paths under the project that were changed behind Python's back and put back.
        notes: sentences about what could not be checked, such as a tree too large to compare.
    """

    def __init__(
        self,
        command: Command,
        *,
        deadline: float,
        start_timeout: float = 120.0,
        stall_timeout: float = 30.0,
        extend_epochs: bool = False,
    ) -> None:
        self.command = command
        self.deadline = deadline
        self.start_timeout = start_timeout
        self.stall_timeout = stall_timeout
        self.extend_epochs = extend_epochs
        self.contained: tuple[str, ...] = ()
        self.leaked: tuple[str, ...] = ()
        self.restored: tuple[str, ...] = ()
        self.notes: tuple[str, ...] = ()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        raise NotImplementedError

    def start(self) -> Ready:
        """Start the child and wait until its training loop is warm.

        Raises:
            ScriptFailed: the script failed before its training loop was warm.
            ScriptFinished: it trained, but ended before it was warm.
            NoLoader, NeverTrained, NotMeasurable: there is nothing to measure, and why.
            TimedOut: ``start_timeout`` or the deadline passed.
        """
        raise NotImplementedError

    def measure(
        self, what: Settings | str, *, min_batches: int = 16, min_seconds: float = 0.5, fresh: bool = False
    ) -> Block:
        """Serve one block under ``what`` (Settings, BASELINE, NO_WAIT or NO_TRANSFER) and return its measure.

        Raises:
            CandidateError: this candidate cannot be measured (a worker died, it cannot be pickled, no accelerator...);
                the trial goes on.
            ScriptFinished, ScriptFailed: the script came to its own end meanwhile.
            TimedOut: the deadline passed.
            TrialEnded: the child crashed or hung in this candidate and was killed.
        """
        raise NotImplementedError

    def stop(self) -> Stopped:
        """End the child without returning into user code, and return its last word."""
        raise NotImplementedError
