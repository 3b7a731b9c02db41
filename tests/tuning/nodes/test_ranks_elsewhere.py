"""What a node relays of its ranks, and what it keeps to itself."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest

from accel_advisor.tuning.nodes.node_link import NodeLink, enter, welcome
from accel_advisor.tuning.nodes.node_messages import FromRank, RankGone
from accel_advisor.tuning.nodes.ranks_elsewhere import RelayedRanks
from accel_advisor.tuning.probe.channel.wire import BASELINE, Block, Heartbeat, Joined, LoopSamples, Stop, Watched

BLOCK = Block(BASELINE, 8, 32, 1.0, 0.5, 0.0, 0.4, 0.1, 7.0)


@pytest.fixture
def link() -> Iterator[tuple[NodeLink, NodeLink]]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        there = socket.create_connection(listener.getsockname())
        here, _ = listener.accept()
    with ThreadPoolExecutor() as threads:
        leads, follows = threads.submit(welcome, here, b"key"), threads.submit(enter, there, b"key")
    yield leads.result(), follows.result()
    leads.result().close()
    follows.result().close()


def test_ranks_are_heard_where_the_node_leads_and_told_what_it_says(link: tuple[NodeLink, NodeLink]) -> None:
    lead, own = link
    ranks = RelayedRanks(2, own)
    told: list[Any] = []
    ranks.join(3, told.append)
    ranks.hear(3, Heartbeat(8, "script"))
    ranks.hear(3, replace(BLOCK, watched=Watched((), ()), lines=LoopSamples((), (), (), ())))
    ranks.lose(3)
    assert [lead.receive(5) for _ in range(4)] == [
        FromRank(3, Joined(3)),
        FromRank(3, Heartbeat(8, "script")),
        FromRank(3, BLOCK),
        RankGone(3),
    ]
    ranks.tell(2, Stop())
    ranks.tell(3, Stop())
    assert told == [Stop()]


def test_a_run_that_is_over_is_not_heard_of_in_the_next(link: tuple[NodeLink, NodeLink]) -> None:
    lead, own = link
    earlier, later = RelayedRanks(1, own), RelayedRanks(1, own)
    earlier.close()
    earlier.lose(1)
    later.hear(1, BLOCK)
    assert lead.receive(5) == FromRank(1, BLOCK)
