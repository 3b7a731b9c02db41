"""Nodes that come together at an endpoint of this machine, or do not."""

from __future__ import annotations

import socket
import stat
import threading
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from accel_advisor.tuning.nodes.meeting import Follows, Leads, MeetingError, Reception, meet
from accel_advisor.tuning.nodes.meeting_key import VARIABLE, KeyFaultError, MeetingKey
from accel_advisor.tuning.nodes.node_messages import NodeFacts
from accel_advisor.tuning.nodes.rendezvous import Rendezvous

A = NodeFacts("a", "1.0", "tune train.py", 2, "train.py", "ab12", None, 4.0, 1 << 30, None)
B, C = replace(A, name="b"), replace(A, name="c")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv(VARIABLE, raising=False)
    yield tmp_path
    assert list(tmp_path.iterdir()) == []


def place(nodes: int = 2, number: int | None = None) -> Rendezvous:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return Rendezvous(nodes, "localhost", probe.getsockname()[1], "run", number, number is not None)


class Nodes:
    """Nodes in threads of their own; what they say is kept."""

    def __init__(self) -> None:
        self.said: list[str] = []
        self._threads = ThreadPoolExecutor()

    def come(self, where: Rendezvous, facts: NodeFacts, seconds: float = 20.0) -> Future[Leads | Follows]:
        return self._threads.submit(meet, where, facts, seconds, self.said.append)

    def wait(self, begin: str) -> None:
        while not any(one.startswith(begin) for one in list(self.said)):
            threading.Event().wait(0.01)


def led(future: Future[Leads | Follows]) -> Leads:
    met = future.result()
    assert isinstance(met, Leads)
    return met


def followed(future: Future[Leads | Follows]) -> Follows:
    met = future.result()
    assert isinstance(met, Follows)
    return met


def end(*ones: Leads | Follows) -> None:
    for one in ones:
        for link in one.links.values() if isinstance(one, Leads) else [one.link]:
            link.close()
        if isinstance(one, Leads):
            one.reception.close()


def test_the_first_at_the_endpoint_leads_and_the_others_are_counted_as_they_say(home: Path) -> None:
    nodes, where = Nodes(), place(3)
    first = nodes.come(where, A)
    nodes.wait("Node a leads")
    second, third = nodes.come(where, replace(B, number=2)), nodes.come(where, replace(C, number=1))
    leads = led(first)
    assert [one.name for one in leads.nodes] == ["a", "c", "b"]
    assert sorted((followed(one).name, followed(one).number) for one in (second, third)) == [("b", 2), ("c", 1)]
    assert nodes.said[0] == f"Node a leads, and waits at {where.endpoint} for 2 more nodes."
    end(leads, followed(second), followed(third))


def test_the_node_0_leads_although_another_is_there_first(home: Path) -> None:
    nodes, where = Nodes(), place(2, 1)
    second = nodes.come(where, replace(B, number=1))
    nodes.wait("Node b follows")
    first = nodes.come(replace(where, number=0), replace(A, number=0))
    assert [one.name for one in led(first).nodes] == ["a", "b"]
    end(led(first), followed(second))


def test_two_nodes_of_one_name_are_told_apart(home: Path) -> None:
    nodes, where = Nodes(), place()
    first = nodes.come(where, A)
    nodes.wait("Node a leads")
    second = nodes.come(where, A)
    assert followed(second).names == ("a (0)", "a (1)")
    end(led(first), followed(second))


@pytest.mark.parametrize(
    ("other", "said"),
    [
        ({"version": "0.9"}, "node a runs accel-advisor 1.0 and node b 0.9: install the same version on all nodes"),
        ({"ranks": 4}, "node a starts 2 processes and node b 4: give --nproc-per-node the same number on all nodes"),
        (
            {"line": "tune train.py -- --lr 1"},
            "the command lines of nodes a (`tune train.py`) and b (`tune train.py -- --lr 1`) differ: run the same",
        ),
        ({"text": "cd34"}, "train.py has one text on node a and another on node b: bring all nodes to the same"),
    ],
)
def test_nodes_that_differ_are_both_told_in_what(home: Path, other: dict[str, object], said: str) -> None:
    nodes, where = Nodes(), place()
    first = nodes.come(where, A)
    nodes.wait("Node a leads")
    second = nodes.come(where, replace(B, **other))
    for one in (first, second):
        with pytest.raises(MeetingError) as caught:
            one.result()
        assert said in str(caught.value)


def test_a_node_that_does_not_come_is_not_waited_for_without_end(home: Path) -> None:
    nodes, where = Nodes(), place(3)
    first = nodes.come(where, A, 1.5)
    nodes.wait("Node a leads")
    second = nodes.come(where, B, 20.0)
    for one in (first, second):
        with pytest.raises(MeetingError, match=r"^2 of 3 nodes came to localhost:\d+ within 2 s \(a, b\): start"):
            one.result()


def test_nobody_leads(home: Path) -> None:
    with pytest.raises(MeetingError, match=r"^after 0 s nobody leads at localhost:\d+ \(Connection refused\)"):
        Nodes().come(place(2, 1), B, 0.3).result()


def test_one_too_many_is_sent_away(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "a secret of all nodes")
    nodes, where = Nodes(), place()
    first = nodes.come(where, A)
    nodes.wait("Node a leads")
    second = nodes.come(where, B)
    end_of_both = led(first), followed(second)
    with pytest.raises(MeetingError, match="all nodes of this trial have come already"):
        nodes.come(where, C).result()
    end(*end_of_both)


def test_another_program_at_the_endpoint_is_no_node(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "a secret of all nodes")
    monkeypatch.setattr("accel_advisor.tuning.nodes.meeting._STRANGE_SECONDS", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as server:

        def greet() -> None:
            while True:
                try:
                    stream, _ = server.accept()
                except OSError:
                    return
                stream.sendall(b"SSH-2.0-OpenSSH_9.2\r\n".ljust(80))
                stream.close()

        threading.Thread(target=greet, daemon=True).start()
        where = Rendezvous(2, "localhost", server.getsockname()[1], "run")
        with pytest.raises(MeetingError, match=r"leads no trial .*: name another port$"):
            Nodes().come(where, A).result()
        with pytest.raises(MeetingError, match=r"cannot listen at .*: name another port$"):
            Nodes().come(replace(where, number=0, placed=True), A).result()


def test_a_machine_that_knows_its_own_name_by_a_loopback_address_is_found_from_elsewhere(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As Debian's 127.0.1.1: what it listens at is not what it takes itself for."""
    monkeypatch.setenv(VARIABLE, "a secret of all nodes")
    monkeypatch.setattr(socket, "gethostname", lambda: "this.host.invalid")
    nodes, where = Nodes(), replace(place(), host="this.host.invalid")
    first = nodes.come(where, A)
    nodes.wait("Node a leads")
    second = nodes.come(replace(where, host="127.0.0.2", number=1, placed=True), B)
    end(led(first), followed(second))


def test_a_host_that_is_not_known(home: Path) -> None:
    where = Rendezvous(2, "no.such.host.invalid", 29400, "run")
    with pytest.raises(MeetingError, match=r"no\.such\.host\.invalid is not known here"):
        Nodes().come(where, A).result()


def test_keys_that_differ(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    where = place()
    with socket.create_server(("127.0.0.1", where.port)) as listener:
        reception = Reception(listener, b"the key of the node that leads")
        monkeypatch.setenv(VARIABLE, "another key than that")
        with pytest.raises(MeetingError, match=r"has another key: set ACCEL_ADVISOR_KEY to the same secret on"):
            Nodes().come(replace(where, number=1, placed=True), B, 0.5).result()
        reception.close()


def test_a_home_that_the_nodes_do_not_share(home: Path) -> None:
    where = place()
    with socket.create_server(("127.0.0.1", where.port)) as listener:
        reception = Reception(listener, b"the key of the node that leads")
        with pytest.raises(MeetingError, match=r"is not to be seen here: if these nodes have no home in common, set"):
            Nodes().come(replace(where, number=1, placed=True), B, 0.5).result()
        reception.close()


def test_the_key_is_for_its_user_alone_and_gone_when_all_have_come(home: Path) -> None:
    nodes, where = Nodes(), place()
    key = MeetingKey(where.endpoint, where.name)
    key.file.write_bytes(b"that of a node that was killed")
    key.file.chmod(0o600)
    first = nodes.come(where, A)
    nodes.wait("Node a leads")
    assert stat.S_IMODE(key.file.stat().st_mode) == 0o600
    assert key.read() != b"that of a node that was killed"
    second = nodes.come(where, B)
    end(led(first), followed(second))
    assert not key.file.exists()


def test_a_key_that_others_may_read_is_none(home: Path) -> None:
    key = MeetingKey("localhost:1", "run")
    key.file.write_bytes(b"a key that everybody may read")
    key.file.chmod(0o644)
    with pytest.raises(KeyFaultError, match="is not of this user alone"):
        key.read()
    key.remove()


def test_a_secret_that_is_easily_guessed(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "secret")
    with pytest.raises(KeyFaultError, match=r"^ACCEL_ADVISOR_KEY has 6 characters: give all nodes the same secret"):
        MeetingKey("localhost:1", "run")
