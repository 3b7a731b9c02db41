"""The other nodes of a trial, as the one that leads sees them."""

from __future__ import annotations

import contextlib
import queue
import threading
import time
from collections.abc import Callable, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from accel_advisor.tuning.nodes.meeting import Leads
from accel_advisor.tuning.nodes.node_facts import stamp_of
from accel_advisor.tuning.nodes.node_link import FAREWELL_SECONDS, LinkError, NodeLink
from accel_advisor.tuning.nodes.node_messages import (
    Agreed,
    EndRun,
    FileText,
    Leaving,
    NodeFacts,
    Over,
    Rewriting,
    RunClosed,
    StartRun,
    ToRank,
)
from accel_advisor.tuning.nodes.place import Place
from accel_advisor.tuning.nodes.rendezvous import Rendezvous
from accel_advisor.tuning.probe.channel.wire import Settings

ANSWER_SECONDS = 60.0
"""How long a node may take to plan a rewrite, or to clean up after a run."""
_LOOK_SECONDS = 0.5
Hear = Callable[[int, Any], None]
"""Gets the number of a node and what it says of a run; a :class:`Gone` as its last word."""


class Gone:
    """A node is lost; ``reason`` says how."""

    def __init__(self, reason: str) -> None:
        self.reason = reason


class Lead:
    """Speaks to all nodes that follow, and hears each in a thread of its own.

    Args:
        met: what came of the meeting.
        where: of the rendezvous.
        root: the folder of the project that names are relative to.
        seconds: that one run may take, in any case.

    Attributes:
        nodes: the facts of all, this node first.
        lost: why the trial cannot go on; empty as long as all are there.
        answer: what came out, in a sentence, for all nodes to say.
        changed: whether files that all nodes had planned to change were changed here.
    """

    def __init__(self, met: Leads, where: Rendezvous, root: Path, seconds: float) -> None:
        self.nodes: tuple[NodeFacts, ...] = met.nodes
        self.lost = ""
        self.answer = ""
        self.changed = False
        self._where = where
        self._root = root.resolve()
        self._seconds = seconds
        self._links = met.links
        self._reception = met.reception
        self._hear: Hear | None = None
        self._answers: dict[int, queue.Queue[Any]] = {number: queue.Queue() for number in met.links}
        self._gone: set[int] = set()
        self._over = False
        self._listeners = [
            threading.Thread(target=self._listen, args=(number, link), daemon=True)
            for number, link in met.links.items()
        ]
        for one in self._listeners:
            one.start()

    @property
    def ranks(self) -> int:
        """Processes of the training on each node."""
        return self.nodes[0].ranks

    def name(self, number: int) -> str:
        """Of a node."""
        return self.nodes[number].name

    def start(self, port: int, shown: Mapping[Path, bytes], *, extend: bool, hear: Hear) -> None:
        """Lets every node start the command; ``hear`` is given what they say of it, also that one is not there.

        Args:
            port: of this host, where torchrun's agents meet.
            shown: what the script is to find in place of its files.
        """
        files = tuple((self._named(path), sha256(content).hexdigest()) for path, content in sorted(shown.items()))
        self._hear = hear
        self._tell_all(StartRun(port, extend, files, self._seconds))
        if self.lost:
            hear(0, Gone(self.lost))

    def place(self, port: int) -> Place:
        """Of this node in a run."""
        return Place(0, len(self.nodes), f"{self._where.host}:{port}", self._where.name)

    def tell(self, number: int, rank: int, message: Any) -> None:
        """Sends a rank of a node a message; a node that is gone is reported by its own link."""
        with contextlib.suppress(LinkError):
            self._links[number].send(ToRank(rank, message))

    def ask_to_end(self) -> None:
        """Lets every node end the command."""
        self._tell_all(EndRun())

    def closed(self) -> dict[int, RunClosed]:
        """What the command left on each node that is still there, once nothing of it runs there any more."""
        found = {number: self._answer(number, RunClosed) for number in self._links}
        self._hear = None
        return {number: one for number, one in found.items() if isinstance(one, RunClosed)}

    def agree(
        self, baseline: Settings, settings: Settings, before: Mapping[Path, bytes], after: Mapping[Path, bytes]
    ) -> str:
        """Lets every node plan the same change of its files; why that cannot be, in words, or nothing."""
        files = tuple(
            FileText(
                self._named(path),
                sha256(content).hexdigest(),
                sha256(after[path]).hexdigest(),
                stamp_of(path),
            )
            for path, content in sorted(before.items())
        )
        self._tell_all(Rewriting(baseline, settings, files))
        for number in self._links:
            answer = self._answer(number, Agreed)
            if answer is None:
                return self.lost or f"node {self.name(number)} did not answer in {ANSWER_SECONDS:.0f} s"
            if answer.reason:
                return f"node {self.name(number)}: {answer.reason}"
        return ""

    def close(self, over: Over) -> None:
        """The last word to all that are there."""
        self._over = True
        self._reception.close()
        self._tell_all(over)
        for link in self._links.values():
            link.hush()
        limit = time.monotonic() + FAREWELL_SECONDS
        for one in self._listeners:
            one.join(max(0.0, limit - time.monotonic()))
        for link in self._links.values():
            link.close()

    def _named(self, path: Path) -> str:
        return path.relative_to(self._root).as_posix() if path.is_relative_to(self._root) else str(path)

    def _tell_all(self, message: Any) -> None:
        for link in self._links.values():
            with contextlib.suppress(LinkError):
                link.send(message)

    def _answer(self, number: int, kind: type) -> Any:
        """The next answer of that kind; None where none comes."""
        limit = time.monotonic() + ANSWER_SECONDS
        while time.monotonic() < limit:
            with contextlib.suppress(queue.Empty):
                answer = self._answers[number].get(timeout=_LOOK_SECONDS)
                if isinstance(answer, kind):
                    return answer
            if self._answers[number].empty() and number in self._gone:
                return None
        return None

    def _listen(self, number: int, link: NodeLink) -> None:
        try:
            while True:
                message = link.receive(_LOOK_SECONDS)
                match message:
                    case None:
                        continue
                    case Agreed() | RunClosed():
                        self._answers[number].put(message)
                    case Leaving(reason):
                        return self._lose(number, f"node {self.name(number)} has left: {reason}")
                    case _ if self._hear is not None:
                        self._hear(number, message)
        except LinkError as error:
            self._lose(number, f"node {self.name(number)} is lost ({error}); nothing was changed")

    def _lose(self, number: int, reason: str) -> None:
        self._gone.add(number)
        if not self._over:
            self.lost = self.lost or reason
            if self._hear is not None:
                self._hear(number, Gone(self.lost))
        self._links[number].close()
