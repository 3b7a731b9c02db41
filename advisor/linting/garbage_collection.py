"""When garbage collection runs."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def paused() -> Iterator[None]:
    """Switches it off within. Syntax trees are many small objects that are all needed to the end of a program: to look
    through them again and again costs a tenth of the time of a parse."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


MOST_OBJECTS = 4_000_000
"""New containers, less those that are gone again, after which it is worth its time: some 400 MB. Up to half of that are
the trees that are kept; programs refer to themselves in few places, once they were taken apart."""


def collect_now_and_then(most: int = MOST_OBJECTS) -> None:
    """Collects garbage in a process in which that is switched off, once there is enough to look through. What is left
    then, mostly syntax trees that hold no cycles, is not looked through again.

    Args:
        most: how many new containers there may be before.
    """
    if not gc.isenabled() and gc.get_count()[0] >= most:
        gc.collect()
        gc.freeze()


MOST_YOUNG = 100_000
"""The same for a process that runs for days: some 10 MB."""
MOST_ROUNDS = 20
"""Looks through what is new, after which everything is looked through."""


def collect_what_is_new(most: int = MOST_YOUNG) -> None:
    """Collects garbage among new containers in a process in which that is switched off, once there are enough of them,
    and now and then among all. Python itself would wait until there is a quarter more of them than before, all syntax
    trees that are kept included.

    Args:
        most: how many new containers there may be before.
    """
    if not gc.isenabled() and gc.get_count()[0] >= most:
        gc.collect(2 if gc.get_count()[2] >= MOST_ROUNDS else 1)
