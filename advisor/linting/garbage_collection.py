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


MOST_OBJECTS = 2_000_000
"""New containers, fewer those that are gone again, after which it is time to look for cycles: some 200 MB."""


def collect_now_and_then(most: int = MOST_OBJECTS) -> None:
    """Looks for cycles in a process that does not do so by itself, once there is enough to look through. What is left
    then, mostly syntax trees that hold no cycles, is not looked through again.

    Args:
        most: how many new containers there may be before.
    """
    if not gc.isenabled() and gc.get_count()[0] >= most:
        gc.collect()
        gc.freeze()
