"""When Python looks for cycles among its objects."""

from __future__ import annotations

import atexit
import gc
from collections.abc import Iterator
from contextlib import contextmanager

SELDOM = 200_000
"""Objects that are made before a search: more than all imports of a lint make, and the trees of some files."""


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


def look_seldom() -> None:
    """For a process that lints and ends: modules and trees stay, so that to look for cycles among them finds nothing,
    and the search that the interpreter makes when it ends costs as much as the parse of a file."""
    gc.set_threshold(SELDOM)
    atexit.register(gc.freeze)
