"""One connection between two nodes: a key proves each to the other, and every message is signed with it.

Nothing that a stranger sends is looked into further than its signature. What is said is not secret: settings, times,
names of files and what the script last wrote are readable to whoever reads the network.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import secrets
import selectors
import socket
import struct
import threading
import time
from collections.abc import Iterator
from typing import Any

from accel_advisor.tuning.nodes.node_messages import Alive
from accel_advisor.tuning.nodes.plain_data import ForeignMessageError, decode, encode

GREETING = b"accel-advisor nodes 1\n"
"""What the node that leads says first; the number is that of the messages."""
GREETING_SECONDS = 5.0
ALIVE_SECONDS = 1.0
"""How often each says that it is there."""
SILENCE_SECONDS = 20.0
"""After so long without a word the other node is taken for lost: a machine that stops says nothing."""
FAREWELL_SECONDS = 5.0
MOST_BYTES = 64 << 20
"""Of one message."""
_NONCE, _TAG = 32, hashlib.sha256().digest_size
_HEAD = struct.Struct(">I")


class LinkError(OSError):
    """A connection that cannot go on; the message says why."""


class StrangerError(LinkError):
    """What answers is no accel-advisor, or one of another version."""


class OtherKeyError(LinkError):
    """The other node has another key."""


class NodeLink:
    """The messages of one connection. Any thread may send; one thread receives.

    Args:
        stream: where both sides have proved their key.
        sending, receiving: the keys that messages of either direction are signed with.
    """

    def __init__(self, stream: socket.socket, sending: bytes, receiving: bytes) -> None:
        stream.settimeout(SILENCE_SECONDS)
        stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._stream = stream
        self._sending, self._receiving = sending, receiving
        self._sent = self._received = 0
        self._buffer = bytearray()
        self._lock = threading.Lock()
        self._heard = time.monotonic()
        self._closed = False
        self._hushed = threading.Event()
        self._ready = selectors.DefaultSelector()
        self._ready.register(stream, selectors.EVENT_READ)
        threading.Thread(target=self._live, name="accel-advisor-node", daemon=True).start()

    def send(self, message: Any) -> None:
        """Sends a message.

        Raises:
            LinkError: the other side is gone.
        """
        payload = encode(message)
        with self._lock:
            tag = _tag(self._sending, self._sent, payload)
            self._sent += 1
            try:
                self._stream.sendall(_HEAD.pack(len(payload)) + tag + payload)
            except OSError as error:
                raise LinkError(error.strerror or str(error)) from error

    def receive(self, seconds: float) -> Any:
        """The next message; None where none comes within ``seconds``.

        Raises:
            LinkError: the other side is gone, says nothing any more, or says what it cannot have signed.
        """
        limit = time.monotonic() + seconds
        while True:
            payload = self._message()
            if payload is not None:
                try:
                    message = decode(payload)
                except ForeignMessageError as error:
                    raise StrangerError(str(error)) from error
                if not isinstance(message, Alive):
                    return message
                continue
            if self._closed or self._ready.select(min(max(limit - time.monotonic(), 0.0), ALIVE_SECONDS)):
                self._read()
            elif time.monotonic() - self._heard > SILENCE_SECONDS:
                raise LinkError(f"nothing was heard for {SILENCE_SECONDS:.0f} s")
            elif time.monotonic() >= limit:
                return None

    def hush(self) -> None:
        """Says nothing more; the other side hears that, after all that was said."""
        self._hushed.set()
        with contextlib.suppress(OSError):
            self._stream.shutdown(socket.SHUT_WR)

    def part(self, message: Any) -> None:
        """Says the last word, and waits a little until the other side has taken it in: a connection that is closed
        before may take the word with it."""
        with contextlib.suppress(LinkError):
            self.send(message)
            self.hush()
            limit = time.monotonic() + FAREWELL_SECONDS
            while time.monotonic() < limit:
                self._stream.settimeout(max(limit - time.monotonic(), 0.01))
                self._read()
        self.close()

    def close(self) -> None:
        """Ends the connection."""
        self._hushed.set()
        self._closed = True
        with contextlib.suppress(OSError):
            self._stream.shutdown(socket.SHUT_RDWR)
        self._stream.close()

    def _read(self) -> None:
        try:
            data = self._stream.recv(1 << 20)
        except OSError as error:
            raise LinkError(error.strerror or str(error)) from error
        if not data:
            raise LinkError("the connection was closed")
        self._heard = time.monotonic()
        self._buffer += data

    def _message(self) -> bytes | None:
        """The content of the next whole message that has come."""
        if len(self._buffer) < _HEAD.size:
            return None
        (length,) = _HEAD.unpack_from(self._buffer)
        if length > MOST_BYTES:
            raise StrangerError("a message is too long")
        whole = _HEAD.size + _TAG + length
        if len(self._buffer) < whole:
            return None
        tag, payload = (
            bytes(self._buffer[_HEAD.size : _HEAD.size + _TAG]),
            bytes(self._buffer[_HEAD.size + _TAG : whole]),
        )
        del self._buffer[:whole]
        if not hmac.compare_digest(tag, _tag(self._receiving, self._received, payload)):
            raise StrangerError("a message is not signed with the key")
        self._received += 1
        return payload

    def _live(self) -> None:
        with contextlib.suppress(OSError):
            while not self._hushed.wait(ALIVE_SECONDS):
                self.send(Alive())


def welcome(stream: socket.socket, key: bytes) -> NodeLink:
    """The side of the node that leads: lets in who has the key.

    Raises:
        LinkError: the other side has not, or says something else.
    """
    stream.settimeout(GREETING_SECONDS)
    mine = secrets.token_bytes(_NONCE)
    with _broken_off():
        stream.sendall(GREETING + mine)
        answer = _exactly(stream, len(GREETING) + _NONCE + _TAG)
    if not answer.startswith(GREETING):
        raise StrangerError("it is no accel-advisor of this version")
    theirs, proof = answer[len(GREETING) : len(GREETING) + _NONCE], answer[-_TAG:]
    if not hmac.compare_digest(proof, _proof(key, b"follows", mine, theirs)):
        raise OtherKeyError("it has another key")
    with _broken_off():
        stream.sendall(_proof(key, b"leads", mine, theirs))
    to, back = (_proof(key, way, mine, theirs) for way in (b"to a node that follows", b"to the node that leads"))
    return NodeLink(stream, to, back)


def enter(stream: socket.socket, key: bytes) -> NodeLink:
    """The side of a node that follows.

    Raises:
        LinkError: what answers does not lead a trial of this version, or has another key.
    """
    stream.settimeout(GREETING_SECONDS)
    mine = secrets.token_bytes(_NONCE)
    try:
        greeting = _exactly(stream, len(GREETING) + _NONCE)
    except TimeoutError as error:
        raise StrangerError("it says nothing") from error
    except OSError as error:
        raise LinkError(str(error)) from error
    if not greeting.startswith(GREETING):
        raise StrangerError("it is no accel-advisor of this version")
    theirs = greeting[len(GREETING) :]
    with _broken_off():
        stream.sendall(GREETING + mine + _proof(key, b"follows", theirs, mine))
    try:
        proof = _exactly(stream, _TAG)
    except OSError as error:
        raise OtherKeyError("it has another key") from error  # which is why it hangs up
    if not hmac.compare_digest(proof, _proof(key, b"leads", theirs, mine)):
        raise OtherKeyError("it has another key")
    back, to = (_proof(key, way, theirs, mine) for way in (b"to a node that follows", b"to the node that leads"))
    return NodeLink(stream, to, back)


@contextlib.contextmanager
def _broken_off() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise LinkError(error.strerror or str(error)) from error


def _exactly(stream: socket.socket, count: int) -> bytes:
    """So many bytes, within the time for a greeting.

    Raises:
        OSError: they do not come.
    """
    found = b""
    limit = time.monotonic() + GREETING_SECONDS
    while len(found) < count:
        stream.settimeout(max(limit - time.monotonic(), 0.01))
        more = stream.recv(count - len(found))
        if not more:
            raise LinkError("the connection was closed")
        found += more
    return found


def _proof(key: bytes, words: bytes, leads: bytes, follows: bytes) -> bytes:
    return hmac.digest(key, words + b"\0" + leads + follows, "sha256")


def _tag(key: bytes, number: int, payload: bytes) -> bytes:
    return hmac.digest(key, number.to_bytes(8, "big") + payload, "sha256")
