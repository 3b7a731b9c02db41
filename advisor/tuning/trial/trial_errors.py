"""How a trial ends without a number. The classes carry the meaning; the reasons are for people."""

from __future__ import annotations


class TrialError(Exception):
    """Something that a trial has to say instead of a number.

    Attributes:
        reason: one sentence for the user.
        remedy: what helps; empty where that depends.
        out_of_memory: whether memory was most likely too small.
    """

    remedy = ""

    def __init__(self, reason: str, *, out_of_memory: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.out_of_memory = out_of_memory

    @property
    def sentence(self) -> str:
        """The reason with its remedy."""
        return f"{self.reason}: {self.remedy}" if self.remedy else self.reason


class CandidateError(TrialError):
    """Only this candidate failed; the trial goes on and takes the next :meth:`Trial.measure`."""


class TrialEnded(TrialError):  # noqa: N818
    """The child is gone. Another trial must be started to measure on, without the candidate that was being measured
    where there was one (it crashed or hung)."""


class ScriptFailed(TrialEnded):
    """The script came to a bad end of its own. ``traceback`` is its own, without the probe's frames (or the end of its
    stderr where it had none); ``status`` its exit status; ``batches`` how many it had taken, as far as is known."""

    def __init__(
        self, reason: str, traceback: str, status: int, batches: int = 0, *, out_of_memory: bool = False
    ) -> None:
        super().__init__(reason, out_of_memory=out_of_memory)
        self.traceback = traceback
        self.status = status
        self.batches = batches


class ScriptFinished(TrialEnded):
    """The script trained, and ended well before it could be measured. Start again with ``extend_epochs``."""


class NotMeasurable(TrialEnded):
    """The shape of the loop cannot be measured; ``reason`` says why."""


class LoaderCame(NotMeasurable):
    """A loop without a loader was measured, and one with a loader came after it. Start again with ``awaits_loader``."""


class NoLoader(NotMeasurable):
    """The script ended well and never iterated a DataLoader."""


class NeverTrained(NotMeasurable):
    """The script iterated DataLoaders and ended well, but no training step was ever seen between their batches."""


class TimedOut(TrialEnded):
    """The deadline, or the limit on the startup, passed; the child was killed."""

    remedy = "give it a longer --budget"


class SlowStart(TimedOut):
    """It was the limit on the startup."""

    remedy = "give it longer with --start-timeout SECONDS"


class NoRoom(TrialEnded):
    """What the script writes would have filled the disk."""


class NodesParted(TrialEnded):
    """Another node of the trial is gone, or cannot go on, and no further trial can be started."""
