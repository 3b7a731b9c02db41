"""How a run stands among those of its history, in words."""

from __future__ import annotations

from accel_advisor.tuning.record.history import Entry, Rank, Standing
from accel_advisor.tuning.wording.figures import percent, rate_text


def standing_text(found: Standing) -> str:
    """A sentence for the terminal, and which lines of the history were left out."""
    torn = f" Lines cut short and left out: {', '.join(map(str, found.torn))}." if found.torn else ""
    return _compared(found) + torn


def _compared(found: Standing) -> str:
    today, best = found.today, found.best
    if today is None:
        return "Nothing was added to the history: the run came to no rate."
    if best is None:
        return f"First run in this history: {_rate(today)}."
    day = best.at[:10]
    if found.rank is Rank.BEST:
        return f"{_rate(today)} now, the best on this kind of machine so far; before, {_rate(best)} on {day}."
    against = f"the best recorded on this kind of machine is {_rate(best)} on {day}"
    if found.rank is Rank.BEHIND:
        return f"Fallen behind: {_rate(today)}, {percent(1 - today.rate / best.rate)} less; {against}."
    return f"{_rate(today)} now; {against}."


def _rate(entry: Entry) -> str:
    ends = f" ({rate_text(entry.low)}-{rate_text(entry.high)})" if entry.low is not None else ""
    return f"{rate_text(entry.rate)} samples/s{ends}"
