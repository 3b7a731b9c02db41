"""What became of a child, in words."""

from __future__ import annotations

import signal

from accel_advisor.tuning.probe.channel.wire import BASELINE, Settings

_SAID_MOST = 120
"""How many characters are shown of what a script said last."""


def named(what: Settings | str) -> str:
    """What was being measured."""
    if isinstance(what, str):
        return f"the {what} measurement" if what != BASELINE else "the script as it is"
    return f"num_workers={what.num_workers}" + (
        f", prefetch_factor={what.prefetch_factor}" if what.prefetch_factor is not None else ""
    )


def last_words(output: str) -> str:
    """The line that says what went wrong: the first of an exception's message, or the last one of all. Hydra says it
    first, and how to learn more about it last."""
    lines = output.strip().splitlines()
    frames = [number for number, line in enumerate(lines) if line.startswith('  File "')]
    last = lines[:1] if "HYDRA_FULL_ERROR" in output else lines[-1:]
    after = [line for line in lines[frames[-1] :] if not line.startswith(" ")] if frames else last
    return after[0].rstrip(".: ") if after else ""


def unseen(said: str) -> str:
    """What may be the reason why a rank on one of several nodes found no file, from its last words."""
    if not said.startswith("FileNotFoundError"):
        return ""
    return " (during a trial the nodes do not see what another of them has written since it began)"


def died(status: int | None) -> str:
    """How a process came to its end, from its exit status; None where nobody knows."""
    if status is not None and status < 0:
        return f"was killed by {signal.Signals(-status).name}"
    return "ended" if status is None else f"ended with exit status {status}"


def slow_start(seconds: float, batches: int, output: str) -> str:
    """A startup that did not come to an end."""
    said = spoken(output)
    printed = f" (the last that it printed: {said})" if said else ""
    if batches:
        return f"the script took {batches} batches in {seconds:.0f} s, but its training loop was not warm then{printed}"
    return f"the script did not reach its first batch within {seconds:.0f} s{printed}"


def spoken(output: str) -> str:
    """What a script printed last, cut short; empty where it printed nothing."""
    lines = output.replace("\r", "\n").splitlines()
    return next((line.strip() for line in reversed(lines) if line.strip()), "")[:_SAID_MOST]
