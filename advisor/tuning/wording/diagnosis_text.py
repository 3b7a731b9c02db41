"""The diagnosis in sentences."""

from __future__ import annotations

from accel_advisor.tuning.probe.channel.wire import NO_TRANSFER, NO_WAIT
from accel_advisor.tuning.search.diagnosis import Diagnosis
from accel_advisor.tuning.search.headroom import HEADROOM
from accel_advisor.tuning.search.straggler import Cause, Straggler
from accel_advisor.tuning.wording.figures import percent, times

_EPOCH_SHOWS = 0.02
_CAUSES = {
    Cause.WAITS: "waits for data",
    Cause.TRANSFERS: "moves data",
    Cause.RUNS_PYTHON: "runs Python of its own",
}


def diagnosis_text(found: Diagnosis) -> str:
    """What is said first of a run."""
    straggler = straggler_text(found.straggler) if found.straggler is not None else ""
    return " ".join(
        part for part in (_waiting(found), _crowding(found), straggler, _starts(found), _transfers(found)) if part
    )


def straggler_text(found: Straggler) -> str:
    """Which rank the others wait for, and why."""
    rest = "the other waits" if found.ranks == 2 else "the others wait"
    return f"Rank {found.rank} {_CAUSES[found.cause]} {percent(found.share)} of each step; {rest} for it."


def _waiting(found: Diagnosis) -> str:
    share = f"{_percent(found.shares.wait)} of each step waits for data"
    ceiling = found.ceilings.get(NO_WAIT)
    if ceiling is None:
        return f"{share}."
    if ceiling.ratio < HEADROOM:
        return f"{share}; with data ready at once this script would run no faster that could be measured."
    return f"{share}; with data ready at once this script would run {times(ceiling.ratio)} as fast."


def _crowding(found: Diagnosis) -> str:
    if found.crowding is None:
        return ""
    return (
        f"What is left of a step takes {times(found.crowding.ratio)} as long beside the loader's workers as without "
        "them: they take the cores that the training uses."
    )


def _starts(found: Diagnosis) -> str:
    if found.epoch_share < _EPOCH_SHOWS:
        return ""
    return (
        f"Each epoch begins with {found.epoch_start:.2g} s of waiting for its workers, "
        f"{_percent(found.epoch_share)} of its time."
    )


def _transfers(found: Diagnosis) -> str:
    ready, moved = found.ceilings.get(NO_WAIT), found.ceilings.get(NO_TRANSFER)
    if moved is None or ready is None or moved.ratio / max(1.0, ready.ratio) < HEADROOM:
        return ""
    return f"With the data already on the device it would run {times(moved.ratio)} as fast."


def _percent(share: float) -> str:
    return "under 1 %" if 0 < share < 0.01 else percent(share)
