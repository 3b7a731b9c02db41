"""Ranks on other nodes: the node that leads hears them like its own, the others relay theirs."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from accel_advisor.tuning.nodes.lead import Gone, Lead
from accel_advisor.tuning.nodes.node_link import LinkError, NodeLink
from accel_advisor.tuning.nodes.node_messages import FromRank, RankGone, RunEnded, RunRefused
from accel_advisor.tuning.nodes.place import Place
from accel_advisor.tuning.nodes.ranks import Ranks
from accel_advisor.tuning.probe.channel.wire import Block, Joined, Ready


@dataclass(frozen=True, slots=True)
class NodeEnded:
    """The command of another node has ended."""

    node: int
    status: int | None
    failure: str
    errors: str


@dataclass(frozen=True, slots=True)
class NodeStopped:
    """Another node is lost, or cannot go on; why, in words."""

    reason: str


class RanksOfNodes(Ranks):
    """The ranks of all nodes: those of this one are let in as always, and those of the others through their nodes.

    Args:
        lead: of the nodes.
        report: as :class:`Ranks` has it; also given :class:`NodeEnded` and :class:`NodeStopped`.
    """

    def __init__(self, lead: Lead, report: Callable[[Any], None]) -> None:
        super().__init__(lead.ranks * len(lead.nodes), report)
        self._lead = lead

    def from_node(self, number: int, message: Any) -> None:
        """Takes in what a node says of its run."""
        match message:
            case FromRank(rank, Joined()):
                self.join(rank, lambda told: self._lead.tell(number, rank, told))
            case FromRank(rank, said):
                self.hear(rank, said)
            case RankGone(rank):
                self.lose(rank)
            case RunEnded(status, failure, errors):
                self._report(NodeEnded(number, status, failure, errors))
            case RunRefused(reason):
                self._report(NodeStopped(f"node {self._lead.name(number)}: {reason}"))
            case Gone():
                self._report(NodeStopped(message.reason))


def on_all_nodes(
    lead: Lead, shown: Mapping[Path, bytes], *, extend: bool
) -> tuple[Place, Callable[[Callable[[Any], None]], RanksOfNodes]]:
    """A run on every node: where this one stands in it, and what starts it on the others and hears the ranks of all.

    Args:
        shown: what the script is to find in place of its files.
        extend: never end an epoch.
    """
    port = _free_port()

    def group(report: Callable[[Any], None]) -> RanksOfNodes:
        ranks = RanksOfNodes(lead, report)
        lead.start(port, shown, extend=extend, hear=ranks.from_node)
        return ranks

    return lead.place(port), group


def _free_port() -> int:
    """A port of this machine that nobody has."""
    with socket.socket() as probe:
        probe.bind(("", 0))
        port: int = probe.getsockname()[1]
        return port


class RelayedRanks:
    """The ranks of a node that follows: what they say goes to the node that leads.

    Args:
        count: how many there are here.
        link: to the node that leads.

    Attributes:
        ready: what the first of them to be warm reported.
    """

    def __init__(self, count: int, link: NodeLink) -> None:
        self.count = count
        self.ready: Ready | None = None
        self._link = link
        self._lock, self._passing = threading.Lock(), threading.Lock()
        self._closed = False
        self._reply: dict[int, Callable[[Any], None]] = {}

    def join(self, rank: int, reply: Callable[[Any], None]) -> None:
        """A rank is there."""
        with self._lock:
            self._reply[rank] = reply
        self._pass_on(FromRank(rank, Joined(rank)))

    def hear(self, rank: int, message: Any) -> None:
        """Passes on what a rank says. What the first rank of all says in more words than others is left out."""
        if isinstance(message, Ready):
            self.ready = self.ready or message
        if isinstance(message, Block):
            message = replace(message, watched=None, lines=None)
        self._pass_on(FromRank(rank, message))

    def lose(self, rank: int) -> None:
        """A rank's connection has ended."""
        self._pass_on(RankGone(rank))

    def tell(self, rank: int, message: Any) -> None:
        """Sends a rank a message; a rank that has ended is reported where its messages are received."""
        with self._lock:
            reply = self._reply.get(rank)
        if reply is not None:
            with contextlib.suppress(OSError):
                reply(message)

    def send(self, message: Any) -> bool:
        """Tells all ranks something; False where one of them is not there."""
        for rank in list(self._reply):
            self.tell(rank, message)
        return len(self._reply) == self.count

    def close(self) -> None:
        """Pass nothing on any more: the next run has ranks of the same numbers."""
        with self._passing:
            self._closed = True

    def _pass_on(self, message: Any) -> None:
        with self._passing, contextlib.suppress(LinkError):  # whoever receives there sees it
            if not self._closed:
                self._link.send(message)
