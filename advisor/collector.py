"""When Python looks for cycles among its objects: not where all are needed, and not once more before it ends."""

from __future__ import annotations

import atexit
import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def paused() -> Iterator[None]:
    """Syntax trees and imported modules are many small objects that are all needed for long: to look through them for
    cycles again and again costs a tenth of the time of a parse or an import."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def spare_the_exit() -> None:
    """Lets the interpreter end without its last search for cycles, which costs as much as the parse of a file."""
    atexit.register(gc.freeze)
