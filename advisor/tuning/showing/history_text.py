"""How a run stands among those of its history, in words."""

from __future__ import annotations

from accel_advisor.tuning.record.history import Entry, Rank, Standing
from accel_advisor.tuning.wording.figures import joules_text, percent, rate_text


def standing_text(found: Standing) -> str:
    """A sentence for the terminal, and which lines of the history were left out."""
    torn = f" Lines cut short and left out: {', '.join(map(str, found.torn))}." if found.torn else ""
    return _compared(found) + torn


def _compared(found: Standing) -> str:
    today, best = found.today, found.best
    if today is None:
        return "Nothing was added to the history: the run came to no rate."
    if best is None:
        return f"First run in this history: {recorded_rate(today)}."
    now, before = recorded_rate(today), f"{recorded_rate(best)} on {best.at[:10]}"
    if found.rank is Rank.BEST:
        return f"{now} now, the best on this kind of machine so far; before, {before}."
    against = f"the best recorded on this kind of machine is {before}"
    if found.rank is Rank.BEHIND:
        return f"Fallen behind: {now}, {percent(1 - today.rate / best.rate)} less; {against}."
    return f"{now} now; {against}."


def recorded_rate(entry: Entry) -> str:
    """What a run reached, with its interval where one is recorded, and with the energy where that is:
    ``120 samples/s (110-130), 0.42 J per sample``."""
    ends = f" ({rate_text(entry.low)}-{rate_text(entry.high)})" if entry.low is not None else ""
    energy = f", {joules_text(entry.joules)} per sample" if entry.joules is not None else ""
    return f"{rate_text(entry.rate)} samples/s{ends}{energy}"
