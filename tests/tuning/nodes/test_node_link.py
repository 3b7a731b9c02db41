"""Two ends of a connection: who has the key is let in, and what is not signed is not looked at."""

from __future__ import annotations

import hmac
import json
import socket
import struct
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from accel_advisor.tuning.nodes import node_link
from accel_advisor.tuning.nodes.node_link import (
    LinkError,
    NodeLink,
    OtherKeyError,
    StrangerError,
    enter,
    welcome,
)
from accel_advisor.tuning.nodes.node_messages import Leaving, Met, ToRank
from accel_advisor.tuning.probe.channel.wire import Stop

KEY = b"a key of this test"


def linked(one: bytes = KEY, other: bytes = KEY) -> tuple[NodeLink, NodeLink]:
    here, there = pair()
    with ThreadPoolExecutor() as threads:
        leads, follows = threads.submit(welcome, here, one), threads.submit(enter, there, other)
        try:
            return leads.result(), follows.result()
        except LinkError:
            here.close()
            there.close()
            raise


def pair() -> tuple[socket.socket, socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        there = socket.create_connection(listener.getsockname()[:2])
        return listener.accept()[0], there


def test_both_sides_hear_what_the_other_says_in_its_order() -> None:
    leads, follows = linked()
    for number in range(50):
        leads.send(ToRank(number, Stop()))
        follows.send(Met(("a" * 1000,), number))
    assert [follows.receive(5) for _ in range(50)] == [ToRank(number, Stop()) for number in range(50)]
    assert [leads.receive(5).number for _ in range(50)] == list(range(50))
    assert leads.receive(0.0) is None
    leads.close()
    with pytest.raises(LinkError, match="closed"):
        follows.receive(5)
    follows.close()


def test_a_last_word_arrives_although_there_is_more_to_hear() -> None:
    leads, follows = linked()
    leads.send(ToRank(0, Stop()))
    leaving = threading.Thread(target=follows.part, args=(Leaving("it was ended"),))
    leaving.start()
    assert leads.receive(5) == Leaving("it was ended")
    leads.close()
    leaving.join()


def test_another_key_is_seen_by_both() -> None:
    here, there = pair()
    with ThreadPoolExecutor() as threads:
        leads = threads.submit(welcome, here, KEY)
        follows = threads.submit(enter, there, b"another key")
        with pytest.raises(OtherKeyError):
            leads.result()
        here.close()
        with pytest.raises(OtherKeyError):
            follows.result()
        there.close()


def test_a_node_that_leads_without_the_key_is_not_followed() -> None:
    """It can repeat what a node says to it, and no more."""
    here, there = pair()
    with ThreadPoolExecutor() as threads:
        follows = threads.submit(enter, there, KEY)
        here.sendall(node_link.GREETING + bytes(32))
        answer = here.recv(4096)
        here.sendall(answer[-32:])
        with pytest.raises(OtherKeyError):
            follows.result()
    here.close()
    there.close()


@pytest.mark.parametrize(
    "greeting", [b"SSH-2.0-OpenSSH_9.2\r\n" + bytes(64), b"HTTP/1.1 400 Bad Request\r\n" + bytes(64)]
)
def test_a_stranger_is_no_node(greeting: bytes) -> None:
    here, there = pair()
    here.sendall(greeting)
    with pytest.raises(StrangerError, match="no accel-advisor of this version"):
        enter(there, KEY)
    here.close()
    there.close()


def test_a_stranger_that_says_nothing_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(node_link, "GREETING_SECONDS", 0.2)
    here, there = pair()
    with pytest.raises(StrangerError, match="says nothing"):
        enter(there, KEY)
    here.close()
    there.close()


def test_what_is_not_signed_or_comes_again_is_not_taken() -> None:
    message = {"type": "Met", "fields": {"names": {"tuple": []}, "number": 1}}
    payload = json.dumps(message).encode()

    def signed(number: int, key: bytes = b"key of one direction") -> bytes:
        tag = hmac.digest(key, number.to_bytes(8, "big") + payload, "sha256")
        return struct.pack(">I", len(payload)) + tag + payload

    for frames, taken in (
        ([signed(0), signed(1)], 2),
        ([signed(0), signed(0)], 1),
        ([signed(0, b"key of the other one")], 0),
        ([signed(0)[:-1] + b" "], 0),
        ([struct.pack(">I", node_link.MOST_BYTES + 1)], 0),
    ):
        here, there = pair()
        link = NodeLink(there, b"key of the other one", b"key of one direction")
        here.sendall(b"".join(frames))
        for _ in range(taken):
            assert link.receive(5) == Met((), 1)
        if taken < 2:
            with pytest.raises(StrangerError):
                link.receive(5)
        link.close()
        here.close()


def test_a_node_that_falls_silent_is_lost_and_one_that_has_nothing_to_say_is_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(node_link, "ALIVE_SECONDS", 0.05)
    leads, follows = linked()
    monkeypatch.setattr(node_link, "SILENCE_SECONDS", 0.5)
    assert leads.receive(1.0) is None
    follows._hushed.set()  # its machine has stopped: the connection stays, and nothing comes
    with pytest.raises(LinkError, match="nothing was heard"):
        leads.receive(10)
    leads.close()
    follows.close()
