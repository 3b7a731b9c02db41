"""What is drawn of a run, as plain geometry: the template draws it and decides nothing.

Places are in per cent of the width, so that letters keep their size on a narrow screen.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from accel_advisor.tuning.page.scale import Scale, Tick
from accel_advisor.tuning.probe.channel.wire import BASELINE, NO_TRANSFER, NO_WAIT
from accel_advisor.tuning.record.phases import Phase, phases
from accel_advisor.tuning.record.schema import BlockRecord, Choice, Record, TriedRecord
from accel_advisor.tuning.search.settings import describe
from accel_advisor.tuning.trial.timeline import START
from accel_advisor.tuning.wording.figures import interval_text, label, rate_text, says, seconds_text, share_text
from accel_advisor.tuning.wording.kept_text import verdict_text

PARTS = {
    "wait": "waits for data",
    "transfer": "transfer",
    "compute": "compute",
    "host": "host",
    "start": "start of an epoch",
    "fetch": "fetches",
    "forward": "forward",
    "backward": "backward",
    "optimizer": "optimizer",
    "other": "other",
}
"""Parts of a step, in words. The last one is no part of the steady state: it is spread over the batches of an epoch."""
_WAITING = ("wait", "start", "fetch")
"""Parts of a step that data ready at once takes away."""
CEILINGS = {NO_WAIT: "data ready at once", NO_TRANSFER: "data on the device"}
_WRITABLE = 13
_BEYOND = 1.8
_START_SHOWS = 0.03
_LANE = 22.0


@dataclass(frozen=True, slots=True)
class Segment:
    """A part of a bar; ``text`` is written into it where there is room."""

    part: str
    name: str
    left: float
    width: float
    text: str
    time: str
    share: str


@dataclass(frozen=True, slots=True)
class StepBar:
    """One step, to scale: what it is of, its time, its parts."""

    name: str
    settings: str
    total: str
    segments: tuple[Segment, ...]


def step_bars(record: Record) -> tuple[StepBar, ...]:
    """The step before and after, and with data ready at once."""
    found: list[tuple[str, str, dict[str, float]]] = []
    if record.tried:
        settings = label(record.tried[0].settings) if record.loop is None else ""
        found.append(("Before" if record.applied else "Now", settings, _step(record, record.tried[0])))
    if record.recommended is not None:
        row = record.tried[record.recommended]
        found.append(("After" if record.applied else "Recommended", label(row.settings), _step(record, row)))
    if record.tried and NO_WAIT in record.ceilings:
        found.append(("The ceiling", CEILINGS[NO_WAIT], _ceiling(record, _step(record, record.tried[0]))))
    return _bars(found)


def _ceiling(record: Record, now: dict[str, float]) -> dict[str, float]:
    """Seconds a batch by part with data ready at once: what is left of ``now``, as long as the sentence says."""
    parts = {name: seconds for name, seconds in now.items() if name not in _WAITING}
    together, whole = sum(parts.values()), sum(now.values()) / record.ceilings[NO_WAIT].ratio
    return {name: seconds / together * whole for name, seconds in parts.items()} if together else {}


def _bars(found: list[tuple[str, str, dict[str, float]]]) -> tuple[StepBar, ...]:
    found = [(name, settings, parts) for name, settings, parts in found if sum(parts.values()) > 0]
    most = Scale(max((sum(parts.values()) for _, _, parts in found), default=0.0))
    return tuple(
        StepBar(name, settings, seconds_text(sum(parts.values())), _segments(parts, most))
        for name, settings, parts in found
    )


def compared_bars(records: Sequence[Record], names: Sequence[str]) -> tuple[StepBar, ...]:
    """The step of each script as it was left, to one scale."""
    found = []
    for record, name in zip(records, names, strict=True):
        number = record.recommended if record.applied and record.recommended is not None else 0
        if record.tried:
            row = record.tried[number]
            found.append((name, label(row.settings), _step(record, row)))
    return _bars(found)


def legend(bars: Sequence[StepBar]) -> dict[str, str]:
    """The parts that can be seen, by name."""
    seen = {one.part for bar in bars for one in bar.segments if one.width > 0}
    return {part: name for part, name in PARTS.items() if part in seen}


def _step(record: Record, row: TriedRecord) -> dict[str, float]:
    """Seconds a batch by part, with what the start of an epoch adds where that shows."""
    if record.loop is not None:
        return {name: price.share * record.loop.step for name, price in record.loop.parts.items()}
    parts = dict(row.step.known) if row.step is not None else {}
    steady, size = sum(parts.values()), record.trained.batch_size
    if parts and row.rate and size and record.trained.length:
        added = size / row.rate - steady
        if added > _START_SHOWS * steady:
            parts["start"] = added
    return parts


def _segments(parts: dict[str, float], scale: Scale) -> tuple[Segment, ...]:
    found, left, total = [], 0.0, sum(parts.values())
    for name, seconds in parts.items():
        width = scale.at(seconds)
        share = share_text(seconds / total)
        text = share if width >= _WRITABLE else ""
        found.append(Segment(name, PARTS[name], round(left, 3), width, text, seconds_text(seconds), share))
        left += width
    return tuple(found)


@dataclass(frozen=True, slots=True)
class Bar:
    """A candidate: its bar, and the interval of its rate where there is one."""

    name: str
    kind: str
    rate: str
    against: str
    remark: str
    width: float
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class Line:
    """A ceiling. One that lies beyond the picture stands at its edge and says so."""

    name: str
    text: str
    at: float
    beyond: bool


@dataclass(frozen=True, slots=True)
class Throughput:
    """Candidates by what they reach, the settings of the source first."""

    bars: tuple[Bar, ...]
    lines: tuple[Line, ...]
    ticks: tuple[Tick, ...]


def throughput(record: Record) -> Throughput:
    """Every candidate that was measured, the source's own settings first, then the fastest."""
    own = record.tried[0].rate if record.tried else None
    ceilings = {name: own * ratio.ratio for name, ratio in record.ceilings.items()} if own else {}
    tops = [max(row.rate, min(row.high or row.rate, 1.25 * row.rate)) for row in record.tried if row.rate]
    top = max(tops, default=0.0)
    near = [rate for rate in ceilings.values() if rate <= _BEYOND * top]
    scale = Scale(1.06 * max([top, *near]))
    lines = tuple(
        Line(CEILINGS.get(name, name), f"{rate_text(rate)} samples/s", scale.at(rate), rate > scale.most)
        for name, rate in ceilings.items()
    )
    numbers = sorted(range(len(record.tried)), key=lambda n: (n > 0, -(record.tried[n].rate or 0.0)))
    return Throughput(tuple(_bar(record, number, scale) for number in numbers), lines, scale.ticks(rate_text))


def _bar(record: Record, number: int, scale: Scale) -> Bar:
    row = record.tried[number]
    kind = kind_of(record, number)
    against = "" if number == 0 or row.gain is None else interval_text(row.gain)
    remark = row.failed or {"now": "now", "best": "recommended"}.get(kind, "")
    return _drawn(label(row.settings), "failed" if row.rate is None else kind, against, remark, row, scale)


def _drawn(name: str, kind: str, against: str, remark: str, measured: TriedRecord | Choice, scale: Scale) -> Bar:
    closed = measured.low is not None and measured.high is not None
    low, high = (scale.at(end) if closed and end is not None else None for end in (measured.low, measured.high))
    return Bar(name, kind, rate_text(measured.rate), against, remark, scale.at(measured.rate or 0.0), low, high)


def compared_rates(records: Sequence[Record], names: Sequence[str]) -> Throughput:
    """What each script reaches now and with what is recommended, to one scale."""
    found = []
    for record, name in zip(records, names, strict=True):
        found.append((name, "now", "now", record.trained.baseline))
        if record.kept is None and record.trained.recommended is not None:
            found.append((name, "best", "recommended", record.trained.recommended))
    rates = [max(choice.rate or 0.0, choice.high or 0.0) for *_, choice in found]
    scale = Scale(1.06 * max(rates, default=0.0))
    bars = tuple(
        _drawn(name, kind, "", f"{said}: {label(choice.settings)}", choice, scale)
        for name, kind, said, choice in found
        if choice.rate
    )
    return Throughput(bars, (), scale.ticks(rate_text))


def kind_of(record: Record, number: int) -> str:
    """``now``, ``best`` or ``other``: what a candidate is to the reader."""
    return "now" if number == 0 else "best" if number == record.recommended else "other"


@dataclass(frozen=True, slots=True)
class Slot:
    """A block in its lane: what it took to get going from ``left``, and the block itself, as high as its rate."""

    left: float
    width: float
    start: float
    measured: float
    top: float
    height: float
    said: str


@dataclass(frozen=True, slots=True)
class Lane:
    """Everything of one kind that was served, from left to right."""

    name: str
    kind: str
    slots: tuple[Slot, ...]


@dataclass(frozen=True, slots=True)
class Band:
    """A phase of the run; its number is written where there is room."""

    name: str
    number: int
    left: float
    width: float
    seconds: str


@dataclass(frozen=True, slots=True)
class Timeline:
    """What was served when."""

    lanes: tuple[Lane, ...]
    bands: tuple[Band, ...]
    ticks: tuple[Tick, ...]


def timeline(record: Record) -> Timeline | None:
    """The blocks in the order of time, a lane for each kind; None where a record has none."""
    if not record.blocks:
        return None
    scale = run_scale(record)
    groups: dict[tuple[str, int | None], list[BlockRecord]] = {}
    for block in record.blocks:
        groups.setdefault((block.what, block.tried), []).append(block)
    own = [block.rate for (what, _), blocks in groups.items() for block in blocks if block.rate and _real(what)]
    most = max(own, default=1.0)
    lanes = tuple(_lane(record, what, tried, blocks, scale, most) for (what, tried), blocks in groups.items())
    return Timeline(lanes, _bands(record, scale), scale.ticks(lambda seconds: f"{seconds:g} s"))


def run_scale(record: Record) -> Scale:
    """From the start of a run to its end, in seconds."""
    return Scale(max([record.seconds, *(block.began + block.seconds for block in record.blocks)]))


def _real(what: str) -> bool:
    return what not in (START, NO_WAIT, NO_TRANSFER)


def _lane(record: Record, what: str, tried: int | None, blocks: list[BlockRecord], scale: Scale, most: float) -> Lane:
    slots = tuple(_slot(block, scale, most) for block in blocks)
    if what in CEILINGS:
        return Lane(CEILINGS[what], "ceiling", slots)
    if what == START or tried is None:
        return Lane("start of the script" if what == START else what, "start", slots)
    name = "the script as it is" if what == BASELINE else label(record.tried[tried].settings)
    return Lane(name, kind_of(record, tried), slots)


def _slot(block: BlockRecord, scale: Scale, most: float) -> Slot:
    left, end = scale.at(block.began), scale.at(block.began + block.seconds)
    measured = min(block.measured or 0.0, block.seconds)
    start = scale.at(block.began + block.seconds - measured)
    height = round(_LANE * min(1.0, (block.rate or 0.0) / most), 2)
    said = f"{rate_text(block.rate)} samples/s" if block.rate else block.failed or "nothing measured"
    said = f"{block.began:.1f} s: {said} ({block.purpose})"
    width = max(round(end - start, 3), 0.15) if block.rate else 0.0
    return Slot(left, max(round(end - left, 3), 0.15), start, width, round(_LANE - height, 2), height, said)


def _bands(record: Record, scale: Scale) -> tuple[Band, ...]:
    return tuple(
        Band(one.name, number, scale.at(one.began), _width(scale, one), seconds_text(one.end - one.began))
        for number, one in enumerate(phases(record.blocks), 1)
    )


def _width(scale: Scale, one: Phase) -> float:
    return round(scale.at(one.end) - scale.at(one.began), 3)


@dataclass(frozen=True, slots=True)
class Answer:
    """What the reader came for: a large figure, what it says, the settings in words and as arguments. Where nothing
    wins, there are words alone."""

    figure: str
    said: str
    settings: str = ""
    arguments: str = ""


def answer(record: Record) -> Answer:
    """The answer that a run found."""
    choice, gain = record.trained.recommended, record.trained.gain
    if record.kept is not None or choice is None or gain is None:
        return Answer("", verdict_text(record.verdict, record.kept or ""))
    figure = f"{gain.ratio:.0f}×" if gain.ratio >= 10 else f"{gain.ratio:.2f}×"
    said = ""
    if gain.low is not None and gain.high is not None and says(gain):
        said = f"between {gain.low:.2f} and {gain.high:.2f} times, at 95\u00a0% confidence"
    elif gain.low is not None and gain.high is not None:
        said = f"a wide interval: between {gain.low:.2g} and {gain.high:.2g} times, at 95\u00a0% confidence"
    return Answer(figure, said, label(choice.settings), describe(choice.settings))
