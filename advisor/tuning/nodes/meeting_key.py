"""The key by which the nodes of a trial know each other: in the user's own environment, or in the user's own home."""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
import stat
import time
from pathlib import Path

VARIABLE = "ACCEL_ADVISOR_KEY"
LEAST_LENGTH = 16
"""Of a key that a person gives."""
_PREFIX = ".accel-advisor-meeting-"
_STALE_SECONDS = 24 * 3600


class KeyFaultError(ValueError):
    """There is no key that can be used; the message is one sentence with the remedy."""


class MeetingKey:
    """The key of one meeting, from the variable, or from a file in the home that the nodes share.

    The node that leads makes the file, which only its user may read, and removes it when all nodes have come.

    Args:
        endpoint: where the nodes meet.
        name: of the run.
    """

    def __init__(self, endpoint: str, name: str) -> None:
        given = os.environ.get(VARIABLE)
        if given is not None and len(given) < LEAST_LENGTH:
            raise KeyFaultError(
                f"{VARIABLE} has {len(given)} characters: give all nodes the same secret of {LEAST_LENGTH} or more"
            )
        self._given = given.encode() if given is not None else None
        mark = hashlib.sha256(f"{endpoint}\n{name}".encode()).hexdigest()[:16]
        self.file = Path.home() / f"{_PREFIX}{mark}"

    def make(self) -> bytes:
        """The key of the node that leads; makes the file where there has to be one.

        Raises:
            KeyFaultError: it cannot be made.
        """
        if self._given is not None:
            return self._given
        key = secrets.token_hex(32).encode()
        new = self.file.with_name(f"{self.file.name}.{os.getpid()}")
        try:
            self._remove_stale()
            descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with open(descriptor, "wb") as file:
                file.write(key)
            os.replace(new, self.file)
        except OSError as error:
            raise KeyFaultError(
                f"the key of the nodes cannot be put into {self.file.parent} ({error.strerror or error}): set "
                f"{VARIABLE} to the same secret on all nodes"
            ) from error
        return key

    def read(self) -> bytes | None:
        """The key of a node that follows; None as long as there is none.

        Raises:
            KeyFaultError: somebody else could have made or read it.
        """
        if self._given is not None:
            return self._given
        try:
            with open(self.file, "rb") as file:
                state = os.fstat(file.fileno())
                key = file.read(256)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise KeyFaultError(f"{self.file} cannot be read: {error.strerror or error}") from error
        others = hasattr(os, "getuid") and (state.st_uid != os.getuid() or stat.S_IMODE(state.st_mode) & 0o077)
        if others:
            raise KeyFaultError(f"{self.file} is not of this user alone: remove it, and start all nodes again")
        return key or None

    def remove(self) -> None:
        """Nobody else has to come."""
        if self._given is None:
            with contextlib.suppress(OSError):
                self.file.unlink()

    def _remove_stale(self) -> None:
        """Those of meetings whose leading node was killed."""
        for one in self.file.parent.glob(f"{_PREFIX}*"):
            with contextlib.suppress(OSError):
                if time.time() - one.stat().st_mtime > _STALE_SECONDS:
                    one.unlink()
