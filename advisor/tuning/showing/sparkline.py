"""A history in the terminal: one line of small bars for each script."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from accel_advisor.tuning.record.history import Entry, History, best
from accel_advisor.tuning.search.settings import describe
from accel_advisor.tuning.showing.history_text import recorded_rate
from accel_advisor.tuning.wording.figures import percent, visible

_BARS = "▁▂▃▄▅▆▇█"


def sparkline(values: Sequence[float]) -> str:
    """Values as bars: the highest is full, half of it or less the lowest bar."""
    most, steps = max(values, default=1.0), len(_BARS) - 1
    return "".join(_BARS[max(0, round(steps * (2 * value / most - 1)))] for value in values)


def print_history(history: History, console: Console) -> None:
    """Prints what each script reached on each machine: first, best, last."""
    for key in history.keys:
        entries = history.of(key)
        last, top = entries[-1], best(entries)
        assert top is not None
        console.print(Text(visible(" ".join([last.script, *last.args])), style="bold"))
        console.print(Text(visible(f"{last.machine}, {last.device}"), style="dim"))
        room = max(10, console.width - 12)
        console.print(Text(sparkline([entry.rate for entry in entries[-room:]]), style="cyan"))
        console.print(Text(f"last   {recorded_rate(last)} on {day_of(last)}, {describe(last.settings)}"))
        console.print(Text(f"best   {recorded_rate(top)} on {day_of(top)}, {describe(top.settings)}"))
        if last is not top:
            console.print(Text(f"       the last run reached {percent(last.rate / top.rate)} of the best"))
        console.print(Text(f"{len(entries)} {'run' if len(entries) == 1 else 'runs'} since {day_of(entries[0])}."))
        console.print()


def day_of(entry: Entry) -> str:
    """The day of a run."""
    return entry.at[:10] or "an unknown day"
