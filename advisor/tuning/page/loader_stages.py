"""Where the batches come from, as plain geometry: stages of their way to the loop, and the functions inside."""

from __future__ import annotations

from dataclasses import dataclass

from accel_advisor.tuning.page.scale import Scale
from accel_advisor.tuning.record.place_text import place_text
from accel_advisor.tuning.record.schema import Explanation, FunctionTime, Record
from accel_advisor.tuning.wording.figures import label, seconds_text, share_text

_IDLE_SHOWS = 0.01


@dataclass(frozen=True, slots=True)
class Stretch:
    """A stage, or a function that the stage spends its time in: its bar, and of a function the interval."""

    kind: str
    name: str
    place: str
    calls: str
    time: str
    share: str
    width: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Way:
    """The way of a batch under some settings; ``idle`` is a sentence, empty where there is nothing to say."""

    name: str
    batches: int
    idle: str
    stretches: tuple[Stretch, ...]


def ways(record: Record) -> tuple[Way, ...]:
    """A way for each of the settings that were watched, all to one scale of seconds a batch."""
    spans = [stage.seconds for one in record.explained for stage in one.stages]
    spans += [_seconds(one, one.high) for found in record.explained for one in found.functions]
    scale = Scale(max(spans, default=0.0))
    return tuple(_way(one, scale) for one in record.explained)


def _way(found: Explanation, scale: Scale) -> Way:
    stretches: list[Stretch] = []
    for stage in found.stages:
        if stage.seconds:
            share = f"{share_text(stage.share)} of its way"
            width = scale.at(stage.seconds)
            stretches.append(Stretch("stage", stage.name, "", "", seconds_text(stage.seconds), share, width))
        stretches += [_function(one, scale) for one in found.functions if one.stage == stage.name]
    idle = ""
    if found.idle >= _IDLE_SHOWS:
        idle = f"{share_text(found.idle)} of the fetching neither computes nor waits for a core: it waits for storage, "
        idle += "a network or a lock."
    return Way(label(found.settings), found.batches, idle, tuple(stretches))


def _function(one: FunctionTime, scale: Scale) -> Stretch:
    return Stretch(
        "function",
        one.function,
        place_text(one),
        one.calls,
        seconds_text(one.seconds),
        f"{share_text(one.share)} ({100 * one.low:.0f}-{100 * one.high:.0f})",
        scale.at(one.seconds),
        scale.at(_seconds(one, one.low)),
        scale.at(_seconds(one, one.high)),
    )


def _seconds(one: FunctionTime, share: float) -> float:
    """Seconds a batch of another share than the function's own."""
    return one.seconds * share / one.share if one.share > 0 else 0.0
