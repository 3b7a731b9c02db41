"""Several ranks of one training, heard as one child: what they say is merged, what they must agree on is exchanged."""

from __future__ import annotations

import contextlib
import re
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from accel_advisor.tuning.probe.channel.reasons import RanksMissing, Unmeasurable
from accel_advisor.tuning.probe.channel.wire import (
    FETCHING,
    STARTING_WORKERS,
    Block,
    CandidateFailed,
    Gather,
    Gathered,
    Heartbeat,
    Part,
    Ready,
    Refused,
    ScriptEnded,
    Stopped,
)

CAUSE_SECONDS = 0.2
"""A rank that dies breaks the collectives of the others, which then fail too: how much sooner the one that was first
may be heard later."""
STRAY_SECONDS = 60.0
"""How long ranks may wait for one that does not come to the batch that they have reached."""
_ROOT_CAUSE = re.compile(r"Root Cause.*?rank\s*:\s*(\d+)\s.*?exitcode\s*:\s*(-?\d+)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class RankLost:
    """The process of a rank is gone, and did not say why."""

    rank: int


class RankGroup(Protocol):
    """What hears ranks."""

    def join(self, rank: int, reply: Callable[[Any], None]) -> None:
        """A rank is there; ``reply`` sends it a message."""

    def hear(self, rank: int, message: Any) -> None:
        """Takes in what a rank says."""

    def lose(self, rank: int) -> None:
        """A rank's connection has ended."""

    def send(self, message: Any) -> bool:
        """Sends every rank a message; False where one of them is not there."""

    def close(self) -> None:
        """Wait for nobody any more."""


class Ranks:
    """The ranks of one training, wherever they are.

    Args:
        count: how many there are.
        report: is given what they say as one: the messages of the wire, and :class:`RankLost`.
        patience: seconds that ranks wait for another at a batch, before the loop is refused.
    """

    def __init__(self, count: int, report: Callable[[Any], None], *, patience: float = STRAY_SECONDS) -> None:
        self.count = count
        self._report = report
        self._patience = patience
        self._lock = threading.RLock()
        self._reply: dict[int, Callable[[Any], None]] = {}
        self._said: dict[int, Any] = {}
        self._answers: dict[int, Any] = {}
        self._beats: dict[int, Heartbeat] = {}
        self._ended: dict[int, ScriptEnded] = {}
        self._stopped: set[int] = set()
        self._over = False
        self._stray: threading.Timer | None = None

    def join(self, rank: int, reply: Callable[[Any], None]) -> None:
        """A rank is there; ``reply`` sends it a message."""
        with self._lock:
            self._reply[rank] = reply

    def send(self, message: Any) -> bool:
        """Sends every rank a message; False where one of them is not there."""
        with self._lock:
            for reply in self._reply.values():
                with contextlib.suppress(OSError):  # its end is reported by whoever hears it
                    reply(message)
            return len(self._reply) == self.count

    def hear(self, rank: int, message: Any) -> None:
        """Takes in what a rank says."""
        with self._lock:
            match message:
                case Gather():
                    self._gather(rank, message.value)
                case Ready() | Block() | CandidateFailed():
                    self._answers[rank] = message
                    if len(self._answers) == self.count:
                        answers = [self._answers[each] for each in range(self.count)]
                        self._answers.clear()
                        self._report(merged(answers))
                case Heartbeat():
                    self._beats[rank] = message
                    self._report(slowest(list(self._beats.values())))
                case ScriptEnded():
                    self._end(rank, message)
                case Stopped():
                    self._stopped.add(rank)
                    if len(self._stopped) == self.count:
                        self._report(message)
                case _:
                    self._report(message)

    def lose(self, rank: int) -> None:
        """A rank's connection has ended."""
        with self._lock:
            if rank not in self._ended and rank not in self._stopped and not self._over:
                self._over = True
                self._report(RankLost(rank))

    def close(self) -> None:
        """Wait for nobody any more."""
        with self._lock:
            self._over = True
            if self._stray is not None:
                self._stray.cancel()

    def _gather(self, rank: int, value: Any) -> None:
        self._said[rank] = value
        if self._stray is not None:
            self._stray.cancel()
        if len(self._said) == self.count:
            values = tuple(self._said[each] for each in range(self.count))
            self._said.clear()
            self.send(Gathered(values))
            return
        self._stray = _later(self._patience, self._miss)

    def _miss(self) -> None:
        with self._lock:
            missing = [rank for rank in range(self.count) if rank not in self._said]
            if not missing or not self._said or self._over:
                return
            self._report(Refused(RanksMissing(tuple(sorted(self._said)), tuple(missing), self._patience)))

    def _end(self, rank: int, ending: ScriptEnded) -> None:
        self._ended[rank] = replace(ending, rank=rank)
        if ending.status != 0 or ending.traceback:
            if not self._over:
                _later(CAUSE_SECONDS, self._fail)
        elif len(self._ended) == self.count and not self._over:
            self._over = True
            last = self._ended.values()
            self._report(replace(ending, trained=any(each.trained for each in last), rank=None))

    def _fail(self) -> None:
        with self._lock:
            if self._over:
                return
            self._over = True
            self._report(next(each for each in self._ended.values() if each.status != 0 or each.traceback))


def _later(seconds: float, then: Callable[[], None]) -> threading.Timer:
    timer = threading.Timer(seconds, then)
    timer.daemon = True
    timer.start()
    return timer


def merged(answers: Sequence[Any]) -> Any:
    """One answer for all ranks: a failure where one failed, all ranks' block or readiness otherwise."""
    failed = [(rank, each) for rank, each in enumerate(answers) if isinstance(each, CandidateFailed)]
    if failed:
        rank, first = next((one for one in failed if one[1].reason is not None), failed[0])
        alike = all(each.reason == first.reason for _, each in failed)
        return first if alike else replace(first, rank=rank)
    if all(isinstance(each, Block) for each in answers):
        return one_block(answers)
    if all(isinstance(each, Ready) for each in answers):
        gpus = tuple(one for each in answers for one in each.gpus)
        return replace(answers[0], gpus=gpus)
    return Refused(Unmeasurable.RANKS_PARTED)


def one_block(blocks: Sequence[Block]) -> Block:
    """The block that several ranks served together.

    Its time is the slowest rank's. A rank that waits for another in a collective does not see it: on its own clock that
    is computing. So the parts are those of the rank that computes least, for which the others wait.
    """
    first = blocks[0]
    seconds = max(block.seconds for block in blocks)
    late = min(blocks, key=lambda block: block.compute)
    scale = seconds / late.seconds if late.seconds else 1.0
    starts = [block.epoch_seconds for block in blocks if block.epoch_seconds is not None]
    return replace(
        first,
        samples=sum(block.samples for block in blocks),
        seconds=seconds,
        wait=scale * late.wait,
        transfer=scale * late.transfer,
        compute=scale * late.compute,
        host=scale * late.host,
        pool_seconds=max(block.pool_seconds for block in blocks),
        epoch_seconds=max(starts, default=None),
        warm_batches=max(block.warm_batches for block in blocks),
        worker_bytes=max(block.worker_bytes for block in blocks),
        ranks=tuple(Part(each.seconds, each.wait, each.transfer, each.compute, each.host) for each in blocks),
    )


def slowest(beats: Sequence[Heartbeat]) -> Heartbeat:
    """The heartbeat of the rank that has got least far; of several, of one that waits for its loader."""
    return min(beats, key=lambda beat: (beat.batches, beat.phase not in (FETCHING, STARTING_WORKERS)))


def root_cause(errors: str) -> tuple[int, int] | None:
    """The rank that died first, and its exit status (negative for a signal), from what torchrun wrote; None where it
    wrote nothing of the kind."""
    found = _ROOT_CAUSE.search(errors)
    return (int(found[1]), int(found[2])) if found else None
