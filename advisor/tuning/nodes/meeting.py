"""How the nodes of a trial come together: one of them listens where torchrun's rendezvous would, the others come there.

The node whose host is named by the endpoint leads, as it is with torchrun; of several on one machine the first.
"""

from __future__ import annotations

import contextlib
import errno
import ipaddress
import queue
import socket
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from accel_advisor.tuning.nodes.meeting_key import VARIABLE, MeetingKey
from accel_advisor.tuning.nodes.node_facts import difference, distinct
from accel_advisor.tuning.nodes.node_link import LinkError, NodeLink, OtherKeyError, StrangerError, enter, welcome
from accel_advisor.tuning.nodes.node_messages import Leaving, Met, NodeFacts, Over
from accel_advisor.tuning.nodes.rendezvous import Rendezvous

_LOOK_SECONDS = 0.2
_HELLO_SECONDS = 10.0
_STRANGE_SECONDS = 5.0
"""For so long a node comes again where what answers is a stranger: one that leads may be about to end."""
Say = Callable[[str], None]
"""Gets a line for people."""


class MeetingError(Exception):
    """The nodes do not come together; the message is one sentence with the remedy."""


@dataclass(frozen=True, slots=True)
class Leads:
    """This node leads: all nodes, itself first, and the links to the others by number."""

    nodes: tuple[NodeFacts, ...]
    links: dict[int, NodeLink]
    reception: Reception


@dataclass(frozen=True, slots=True)
class Follows:
    """This node follows the one at the other end of the link."""

    link: NodeLink
    names: tuple[str, ...]
    number: int

    @property
    def name(self) -> str:
        """Of this node."""
        return self.names[self.number]


class Reception:
    """Listens for nodes, and lets in those that have the key.

    Args:
        listener: bound to the endpoint.
        key: of the meeting.
    """

    def __init__(self, listener: socket.socket, key: bytes) -> None:
        self._listener = listener
        self._key = key
        self.came: queue.Queue[tuple[NodeFacts, NodeLink]] = queue.Queue()
        self.full = False
        threading.Thread(target=self._listen, name="accel-advisor-reception", daemon=True).start()

    def close(self) -> None:
        """Lets nobody in any more."""
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _listen(self) -> None:
        while True:
            try:
                stream, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._receive, args=(stream,), daemon=True).start()

    def _receive(self, stream: socket.socket) -> None:
        """Strangers are sent away without a word."""
        try:
            link = welcome(stream, self._key)
        except OSError:
            stream.close()
            return
        with contextlib.suppress(LinkError):
            facts = link.receive(_HELLO_SECONDS)
            if isinstance(facts, NodeFacts) and not self.full:
                self.came.put((facts, link))
                return
            if self.full:
                link.part(Over(2, "all nodes of this trial have come already: this one is too many", failed=True))
        link.close()


def meet(where: Rendezvous, mine: NodeFacts, seconds: float, say: Say) -> Leads | Follows:
    """Waits for the other nodes.

    Args:
        mine: the facts of this node.
        seconds: how long.

    Raises:
        MeetingError: they do not come, or do not fit together.
        KeyFaultError: no key can be had.
    """
    key = MeetingKey(where.endpoint, where.name)
    listener = _listener(where)
    if listener is None:
        return _follow(where, mine, key, seconds, say)
    try:
        reception = Reception(listener, key.make())
    except BaseException:
        listener.close()
        raise
    try:
        return _lead(where, mine, reception, seconds, say)
    except BaseException:
        reception.close()
        raise
    finally:
        key.remove()


def _lead(where: Rendezvous, mine: NodeFacts, reception: Reception, seconds: float, say: Say) -> Leads:
    missing = where.nodes - 1
    say(f"Node {mine.name} leads, and waits at {where.endpoint} for {_more(missing)}.")
    limit = time.monotonic() + seconds
    came: list[tuple[NodeFacts, NodeLink]] = []
    try:
        while len(came) < missing:
            try:
                came.append(reception.came.get(timeout=min(max(0.0, limit - time.monotonic()), _LOOK_SECONDS)))
            except queue.Empty:
                came = [one for one in came if _there(one[1])]
                if time.monotonic() >= limit:
                    raise MeetingError(_missed(where, mine, [facts for facts, _ in came], seconds)) from None
        reception.full = True
        came.sort(key=lambda one: where.nodes if one[0].number is None else one[0].number)
        nodes = distinct([mine, *(facts for facts, _ in came)])
        wrong = difference(nodes)
        if wrong:
            raise MeetingError(wrong)
        names = tuple(one.name for one in nodes)
        links = {number: link for number, (_, link) in enumerate(came, 1)}
        for number, link in links.items():
            link.send(Met(names, number))
        return Leads(tuple(nodes), links, reception)
    except BaseException as error:
        words = str(error) if isinstance(error, MeetingError) else f"node {mine.name} was ended"
        for _, link in came:
            link.part(Over(2, words, failed=True))
        if isinstance(error, LinkError):
            raise MeetingError(
                f"a node is gone again before the trial began ({error}): start all nodes again"
            ) from error
        raise


def _there(link: NodeLink) -> bool:
    """Whether a node still waits."""
    try:
        return not isinstance(link.receive(0.0), Leaving)
    except LinkError:
        link.close()
        return False


def _missed(where: Rendezvous, mine: NodeFacts, came: list[NodeFacts], seconds: float) -> str:
    there = ", ".join(one.name for one in distinct([mine, *came]))
    return (
        f"{1 + len(came)} of {where.nodes} nodes came to {where.endpoint} within {seconds:.0f} s ({there}): start the "
        "same command on every node, or give them longer with --start-timeout SECONDS"
    )


def _more(count: int) -> str:
    return "one more node" if count == 1 else f"{count} more nodes"


def _follow(where: Rendezvous, mine: NodeFacts, key: MeetingKey, seconds: float, say: Say) -> Follows:
    say(f"Node {mine.name} follows, and looks for the one that leads at {where.endpoint}.")
    limit = time.monotonic() + seconds
    strange = limit
    while True:
        began = time.monotonic()
        try:
            return _come(where, mine, key, limit)
        except StrangerError as error:
            strange = min(strange, began)
            if time.monotonic() - strange > _STRANGE_SECONDS:
                raise MeetingError(
                    f"what answers at {where.endpoint} leads no trial ({error}): name another port"
                ) from error
            time.sleep(_LOOK_SECONDS)
            continue
        except OtherKeyError:
            failure = f"the node at {where.endpoint} has another key: set {VARIABLE} to the same secret on all nodes"
        except LinkError as error:
            failure = f"nobody leads at {where.endpoint} ({error}): start the same command on every node"
        except _NoKeyError:
            failure = (
                f"{key.file}, which the node that leads makes, is not to be seen here: if these nodes have no home in "
                f"common, set {VARIABLE} to the same secret on all of them"
            )
        strange = limit
        if time.monotonic() >= limit:
            raise MeetingError(f"after {seconds:.0f} s {failure}")
        time.sleep(_LOOK_SECONDS)


class _NoKeyError(Exception):
    """There is no key yet."""


def _come(where: Rendezvous, mine: NodeFacts, key: MeetingKey, limit: float) -> Follows:
    try:
        stream = socket.create_connection((where.host, where.port), timeout=_STRANGE_SECONDS)
    except socket.gaierror as error:
        raise MeetingError(f"--rdzv-endpoint {where.endpoint}: {where.host} is not known here") from error
    except OSError as error:
        raise LinkError(error.strerror or str(error)) from error
    try:
        secret = key.read()
        if secret is None:
            raise _NoKeyError
        link = enter(stream, secret)
    except BaseException:
        stream.close()
        raise
    try:
        link.send(mine)
        while True:
            match link.receive(_LOOK_SECONDS):
                case Met(names, number):
                    return Follows(link, names, number)
                case Over(_, sentence):
                    raise MeetingError(sentence)
                case None:
                    continue
                case _:
                    raise StrangerError("it says something else")
    except KeyboardInterrupt:
        link.part(Leaving("it was interrupted"))
        raise
    except LinkError as error:
        link.close()
        if time.monotonic() < limit:
            raise
        raise MeetingError(f"the node that leads is gone ({error})") from error
    except BaseException:
        link.close()
        raise


def _listener(where: Rendezvous) -> socket.socket | None:
    """A socket that listens at the endpoint; None where another node is to lead, or does already.

    Raises:
        MeetingError: this node is to lead, and cannot.
    """
    if where.number != 0 if where.placed else not _is_here(where):
        return None
    try:
        # A machine may know its own name by a loopback address, at which no other node finds it.
        if where.host == "localhost" or _is_loopback(where.host):
            family, address = _addresses(where)[0]
            return socket.create_server((address, where.port), family=family)
        if socket.has_dualstack_ipv6():
            return socket.create_server(("", where.port), family=socket.AF_INET6, dualstack_ipv6=True)
        return socket.create_server(("", where.port))
    except OSError as error:
        if error.errno == errno.EADDRINUSE and not where.placed:
            return None
        raise MeetingError(
            f"this node cannot listen at {where.endpoint} ({error.strerror or error}): name another port"
        ) from error


def _is_here(where: Rendezvous) -> bool:
    """Whether the host is this machine, by its name or by an address.

    Raises:
        MeetingError: nobody knows the host.
    """
    if where.host in (socket.gethostname(), socket.getfqdn()):
        return True
    for family, address in _addresses(where):
        with socket.socket(family, socket.SOCK_STREAM) as probe, contextlib.suppress(OSError):
            probe.bind((address, 0))
            return True
    return False


def _addresses(where: Rendezvous) -> list[tuple[int, str]]:
    try:
        found = socket.getaddrinfo(where.host, where.port, type=socket.SOCK_STREAM)
    except socket.gaierror as error:
        raise MeetingError(f"--rdzv-endpoint {where.endpoint}: {where.host} is not known here") from error
    return list(dict.fromkeys((family, str(address[0])) for family, _, _, _, address in found))


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host.partition("%")[0]).is_loopback
    except ValueError:  # a name
        return False
