"""When the process of the script looks for garbage: neither while it imports torch nor within a block.

A full collection looks through all that importing torch has made, which takes a tenth of a second and more. What is a
result of an import is nearly all in use, so it is put beside what collections have found in use, without a look.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def uncollected() -> Iterator[None]:
    """No garbage collection, unless it is off anyway; what was made meanwhile is taken for what is in use."""
    if not gc.isenabled():
        yield
        return
    put_off_collections()
    gc.disable()
    try:
        yield
    finally:
        _take_for_used()
        gc.enable()


def put_off_collections() -> None:
    """Collects what is young, and counts anew until a full collection is due. Does nothing where collections are off:
    who sees to garbage himself is left alone."""
    if gc.isenabled():
        gc.collect(1)
        _take_for_used()


def _take_for_used() -> None:
    """Puts all objects into the oldest generation, as a full collection does that finds no garbage."""
    if gc.get_freeze_count():  # by the script: they are to stay so
        gc.collect()
        return
    gc.freeze()
    gc.unfreeze()
