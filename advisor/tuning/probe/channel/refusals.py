"""Which candidates mean nothing to a loop, and what an error says."""

from __future__ import annotations

import re

from accel_advisor.tuning.probe.channel.reasons import Meaningless, Raised
from accel_advisor.tuning.probe.channel.wire import NO_TRANSFER, NO_WAIT, Settings

OUT_OF_MEMORY = re.compile(r"out of memory|OutOfMemory|allocate memory|MemoryError")
"""What torch, numpy and Python say where memory ends: torch has no class of its own for the memory of the CPU."""


def meaningless(
    what: Settings | str, own: Settings, on_cpu: bool, rebuilt: bool, nothing_kept: bool
) -> Meaningless | None:
    """Why ``what`` the parent wants measured has no meaning here; None where it has. What the script itself asks for
    without effect is in force under no candidate, and bars none.

    Args:
        own: the settings that the script gave.
        on_cpu: there is no accelerator.
        rebuilt: the script builds its loader again for every epoch.
        nothing_kept: there is no batch that a ceiling could be served from.
    """
    if what == NO_TRANSFER and on_cpu:
        return Meaningless.NO_TRANSFERS
    if isinstance(what, Settings):
        pins = what.pin_memory > own.pin_memory or what.non_blocking > own.non_blocking
        if on_cpu and pins:
            return Meaningless.NO_PINNING
        if rebuilt and what.persistent_workers > own.persistent_workers:
            return Meaningless.NOTHING_PERSISTS
    if what in (NO_WAIT, NO_TRANSFER) and nothing_kept:
        return Meaningless.NOTHING_KEPT
    return None


def raised(error: Exception) -> Raised:
    """The kind of an error and the line of it that says most."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    if lines and lines[0].startswith("Caught ") and len(lines) > 1:
        lines = [lines[-1]]  # the last line of a worker's own traceback
    kind = type(error).__name__
    words = f"{kind}: {lines[0]}" if lines else kind
    return Raised(words, bool(OUT_OF_MEMORY.search(words)))
