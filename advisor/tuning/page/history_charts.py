"""A history as plain geometry: heights in pixels, places in per cent of the width."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from accel_advisor.tuning.page.scale import Tick, round_step
from accel_advisor.tuning.record.history import Entry, History, best
from accel_advisor.tuning.wording.figures import rate_text

_TOP, _BOTTOM = 16.0, 160.0
_MARGIN = 4.0


@dataclass(frozen=True, slots=True)
class Point:
    """A run. ``top`` and ``bottom`` are the ends of its interval, None where it is open."""

    x: float
    y: float
    top: float | None
    bottom: float | None
    kind: str
    said: str


@dataclass(frozen=True, slots=True)
class Join:
    """A line from one run to the next."""

    x1: float
    y1: float
    x2: float
    y2: float


@dataclass(frozen=True, slots=True)
class Course:
    """The runs of one script on one kind of machine."""

    name: str
    machine: str
    said: str
    points: tuple[Point, ...]
    joins: tuple[Join, ...]
    ticks: tuple[Tick, ...]
    best: float
    first: str
    last: str
    entries: tuple[Entry, ...]

    @property
    def metered(self) -> bool:
        """Whether the energy of any run is known."""
        return any(entry.joules is not None for entry in self.entries)


def courses(history: History) -> tuple[Course, ...]:
    """A course for each key, in the order of their first runs."""
    return tuple(_course(history.of(key)) for key in history.keys)


def headline(history: History) -> str:
    """What the last run of the history came to, in a sentence."""
    if not history.entries:
        return "There is no run in this history yet."
    last = history.entries[-1]
    runs = history.of(last.key)
    top = best(runs[:-1])
    reached = f"{last.script} reached {rate_text(last.rate)} samples a second"
    if top is None:
        return f"{reached} in its first run."
    if last.rate >= top.rate:
        return f"{reached}, the best of {len(runs)} runs."
    return f"{reached}, {100 * last.rate / top.rate:.0f}\u00a0% of its best."


def _course(entries: tuple[Entry, ...]) -> Course:
    last, top = entries[-1], best(entries)
    assert top is not None
    most = 1.05 * max(min(entry.top, 1.25 * entry.rate) for entry in entries)
    step = round_step(most / 4)

    def height(rate: float) -> float:
        return round(_BOTTOM - (_BOTTOM - _TOP) * min(rate / most, 1.0), 2)

    points = tuple(
        Point(
            _place(number, len(entries)),
            height(entry.rate),
            height(entry.high) if entry.low is not None and entry.high is not None else None,
            height(entry.low) if entry.low is not None and entry.high is not None else None,
            "best" if entry is last else "now",
            f"{entry.at[:10]}: {rate_text(entry.rate)} samples/s",
        )
        for number, entry in enumerate(entries)
    )
    said = f"{len(entries)} runs; best {rate_text(top.rate)}, last {rate_text(last.rate)} samples a second"
    return Course(
        " ".join([last.script, *last.args]),
        ", ".join(part for part in (last.machine, last.device) if part),
        said,
        points,
        tuple(Join(a.x, a.y, b.x, b.y) for a, b in pairwise(points)),
        tuple(Tick(height(n * step), rate_text(n * step)) for n in range(int(most / step) + 1)),
        height(top.rate),
        entries[0].at[:10],
        last.at[:10],
        entries,
    )


def _place(number: int, count: int) -> float:
    return 50.0 if count == 1 else round(_MARGIN + 4 + (96 - 2 * _MARGIN) * number / (count - 1), 3)
