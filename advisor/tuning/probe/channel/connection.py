"""The child's end of the wire: commands in, answers and heartbeats out, and the way to leave."""

from __future__ import annotations

import contextlib
import os
import queue
import signal
import threading
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any, NoReturn

from accel_advisor.tuning.probe.channel.wire import (
    SCRIPT,
    STARTING,
    WAITING,
    Gather,
    Gathered,
    Heartbeat,
    Joined,
    Measure,
    Stop,
    Stopped,
    Turned,
)

HEARTBEAT_SECONDS = 0.5
GUARD_SECONDS = 3.0
PATIENCE_SECONDS = 1.0
"""How long a stop waits for the loop to reach a batch boundary before the process is left where it stands."""


class ParentLink:
    """Speaks to the parent from whatever thread the loop runs in. In forked children it is mute.

    Args:
        rank, ranks: which of how many processes of the training this is; ``ranks`` is 1 where it is alone.

    Attributes:
        here: whether this is the process that the parent speaks to, not a fork of it.
        stopping: whether a stop waits to be obeyed; to be asked at batch boundaries.
        phase: what the child is doing, reported with every heartbeat: one of the phases of the wire.
        beats: called with every heartbeat, in its thread.
        turned: asked for the last word.
    """

    def __init__(
        self, connection: Connection, contained: Callable[[], tuple[str, ...]], *, rank: int = 0, ranks: int = 1
    ) -> None:
        self._connection = connection
        self._contained = contained
        self._commands: queue.SimpleQueue[Measure | Stop] = queue.SimpleQueue()
        self._gathered: queue.SimpleQueue[Gathered] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self.here = True
        self.stopping = False
        self.phase = STARTING
        self.batches = 0
        self.beats: Callable[[], None] = lambda: None
        self.turned: Callable[[], Turned | None] = lambda: None
        self.rank = rank
        self.ranks = ranks
        if ranks > 1:
            self.send(Joined(rank))
        os.register_at_fork(after_in_child=self._forked)
        threading.Thread(target=self._listen, name="accel-advisor-wire", daemon=True).start()
        threading.Thread(target=self._beat, name="accel-advisor-heartbeat", daemon=True).start()

    def send(self, message: Any) -> None:
        """Send the parent a message; if it is gone, so is this process."""
        if not self.here:
            return
        try:
            with self._lock:
                self._connection.send(message)
        except OSError:
            self._die()

    def command(self) -> Measure:
        """Wait for the parent's next wish. A stop is obeyed on the spot."""
        before, self.phase = self.phase, WAITING
        command = self._commands.get()
        self.phase = before
        if isinstance(command, Stop):
            self.leave()
        return command

    def gather(self, value: Any) -> tuple[Any, ...]:
        """What every rank says at this same batch, by rank; its own word alone where it is alone.

        Every rank must call this at the same batches: it waits for the last of them.
        """
        if self.ranks == 1:
            return (value,)
        self.phase = SCRIPT
        self.send(Gather(value))
        return self._gathered.get().values

    def leave(self) -> NoReturn:
        """Say the last word and leave the process: no exception, no ``finally``, no atexit handler of the script."""
        self.send(Stopped(self._contained(), self.turned()))
        while self.ranks > 1:
            # A rank that is gone breaks the others' collectives, into the user's code: the parent ends all at once.
            time.sleep(GUARD_SECONDS)
        os._exit(0)

    def refuse(self, message: Any) -> NoReturn:
        """Say why there is nothing to measure, then the last word."""
        self.send(message)
        self.leave()

    def _listen(self) -> None:
        while True:
            try:
                message = self._connection.recv()
            except (EOFError, OSError):
                self._die()
            if isinstance(message, Gathered):
                self._gathered.put(message)
                continue
            self._commands.put(message)
            if isinstance(message, Stop):
                self.stopping = True
                time.sleep(PATIENCE_SECONDS)
                self.leave()

    def _beat(self) -> None:
        while True:
            self.send(Heartbeat(self.batches, self.phase))
            self.beats()
            time.sleep(HEARTBEAT_SECONDS)

    def _die(self) -> NoReturn:
        # The parent is gone. The guard ends everything and frees what it holds; should it be gone too, end it here.
        time.sleep(GUARD_SECONDS)
        with contextlib.suppress(OSError):
            if os.getpgrp() == os.getpid():
                os.killpg(os.getpid(), signal.SIGKILL)
        os._exit(1)

    def _forked(self) -> None:
        self.here = False
        with contextlib.suppress(OSError):
            self._connection.close()
