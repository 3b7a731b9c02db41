"""Garbage collection while the process of the script imports torch: none, and no look through the result behind it.

A full collection looks through all that importing torch has made, which takes a tenth of a second and more. What an
import leaves is nearly all in use, so it is put beside what collections have found in use, without a look.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def uncollected() -> Iterator[None]:
    """No garbage collection, unless it is off anyway: a script that sees to it is left alone. What was made meanwhile
    goes to the oldest generation, as what a full collection finds in use does; so does what was young before, once its
    garbage is collected."""
    if not gc.isenabled():
        yield
        return
    gc.collect(1)
    gc.disable()
    try:
        yield
    finally:
        if gc.get_freeze_count():  # by the script, for which it is to stay so
            gc.collect()
        else:
            gc.freeze()
            gc.unfreeze()
        gc.enable()
