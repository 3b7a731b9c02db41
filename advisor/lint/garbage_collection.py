"""When Python looks for cycles among its objects."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def paused() -> Iterator[None]:
    """Syntax trees are many small objects that are all needed to the end of a program: to look through them for cycles
    again and again costs a tenth of the time of a parse."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


class Budget:
    """In a process that does not look for cycles by itself, when to do so.

    Args:
        characters: of source, after whose analysis it is time; what is known of them takes many times as many bytes.
    """

    def __init__(self, characters: int) -> None:
        self._characters = characters
        self._spent = 0

    def spend(self, characters: int) -> None:
        """So much more source was analysed, and is no longer needed."""
        self._spent += characters
        if self._spent >= self._characters and not gc.isenabled():
            self._spent = 0
            gc.collect()
