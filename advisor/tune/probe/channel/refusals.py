"""Why something cannot be measured or failed, in a sentence for the parent."""

from __future__ import annotations

from accel_advisor.tune.probe.channel.wire import NO_TRANSFER, NO_WAIT, Settings


def unmeasurable(what: Settings | str, on_cpu: bool, rebuilt: bool, nothing_kept: bool) -> str | None:
    """Why ``what`` the parent wants measured has no meaning here; None where it has.

    Args:
        on_cpu: there is no accelerator.
        rebuilt: the script builds its loader anew for every epoch.
        nothing_kept: there is no batch that a ceiling could be served from.
    """
    if what == NO_TRANSFER and on_cpu:
        return "there is no accelerator, so there are no transfers to leave out"
    if isinstance(what, Settings) and on_cpu and (what.pin_memory or what.non_blocking):
        return "pin_memory and non_blocking have no effect without an accelerator"
    if isinstance(what, Settings) and what.persistent_workers and rebuilt:
        return "the script builds its loader anew for every epoch, so that no worker outlives one"
    if what in (NO_WAIT, NO_TRANSFER) and nothing_kept:
        return "no batch could be kept to serve at once"
    return None


def sentence(error: Exception) -> str:
    """The kind of an error and the line of it that says most."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    if lines and lines[0].startswith("Caught ") and len(lines) > 1:
        lines = [lines[-1]]  # the last line of a worker's own traceback
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__
