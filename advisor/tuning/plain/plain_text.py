"""What is said of a loop without a loader."""

from __future__ import annotations

from dataclasses import replace

from accel_advisor.source.program_lines import named_line
from accel_advisor.tuning.probe.channel.plain_loop import Unreplayed
from accel_advisor.tuning.record.plain_record import PlainRecord
from accel_advisor.tuning.record.schema import Prices
from accel_advisor.tuning.search.headroom import HEADROOM
from accel_advisor.tuning.search.statistics import WORTH, Interval
from accel_advisor.tuning.wording.figures import times

UNREPLAYED = {
    Unreplayed.NOT_FOUND: "no function of the script's own gives the model what it takes in every step",
    Unreplayed.GENERATOR: "it is a generator, which runs already when the loop is measured",
    Unreplayed.NOT_A_FUNCTION: "it is no plain function, whose calls could be left out",
    Unreplayed.NEEDS_GRADIENTS: "what it gives is a part of the graph that backward goes through",
    Unreplayed.NOT_COPIED: "what it gives cannot be copied",
}
"""Why the speed with data ready at once was not measured."""
DISAGREE = (
    "how fast the loop would run with data ready at once is not settled, since that share and what was measured "
    "without the calls, in turns, disagree: a quiet machine or a longer --budget settles it"
)
"""What is said where the two differ beyond their intervals, as they do where other work comes and goes."""
LOADER_AHEAD = (
    "the source names a DataLoader, and no batch came from one as long as the trial lasted: if another loop trains "
    "later, a longer --budget reaches it"
)
_LEAST_SHARE = 0.03


def place(loop: PlainRecord) -> str:
    """Where what fetches stands."""
    assert loop.row is not None
    return f"{loop.filename}:{named_line(loop.cell, loop.row)}"


def called(loop: PlainRecord) -> str:
    """What fetches, with its place."""
    return f"`{loop.function}`, {place(loop)},"


def sentence(loop: PlainRecord, ceiling: Interval | None, *, overlaps: bool = False) -> str:
    """What is said first of a run. Where an accelerator computes while the host fetches (``overlaps``), what was timed
    of the fetching is how long the device stands idle for it, and bounds no gain."""
    if loop.text is not None and loop.fetch is not None:
        return (
            f"The loop makes its batches in lines of its own, most of all `{loop.text}`, {place(loop)}: "
            f"that {loop.fetch.words}; the speed with data ready at once could not be measured: {loop.unreplayed}"
            f"{_most(loop)}."
        )
    if loop.function is None:
        return (
            "The loop takes its batches from no DataLoader, and what fetches them is not known: "
            f"{loop.unreplayed}. What the lines of a step take says where the time goes."
        )
    share = loop.fetch
    takes = share.words if share is not None else "was never found at work"
    if overlaps and "fetch" in loop.parts and share is not None and share.measurable:
        takes = f"leaves the device idle for {share.figures} of each step"
    if loop.unreplayed == DISAGREE:
        return f"{called(loop)} {takes}; {DISAGREE}."
    if ceiling is None:
        why = (
            f"; the speed with data ready at once could not be measured: {loop.unreplayed or 'the time was too short'}"
        )
        return f"{called(loop)} {takes}{why}{_most(loop)}."
    if not ceiling.wins and ceiling.high >= WORTH:
        return f"{called(loop)} {takes}; how fast the loop would run with data ready at once is not settled."
    if ceiling.ratio < HEADROOM:
        return f"{called(loop)} {takes}; with data ready at once the loop would run no faster that could be measured."
    return f"{called(loop)} {takes}; with data ready at once the loop would run {times(ceiling.ratio)} as fast."


def _most(loop: PlainRecord) -> str:
    share = loop.fetch
    if share is None or not share.measurable or share.high >= 1:
        return ""
    return f". By its share the loop would run at most {times(1 / (1 - share.high))} as fast"


def advice(loop: PlainRecord, ceiling: Interval | None, prices: Prices | None, length: int) -> PlainRecord:
    """The record with what to do about the function that fetches, which has ``length`` lines."""
    said = []
    if loop.function is not None and loop.row is not None and prices is not None:
        said += [
            f"Lint finds in `{loop.function}`: {one.code} {one.filename}:{named_line(one.cell, one.row)}: {one.message}"
            for one in prices.findings
            if (one.filename, one.cell) == (loop.filename, loop.cell) and 0 <= one.row - loop.row < length
        ]
    share = loop.fetch
    if (ceiling is None or ceiling.ratio >= WORTH) and share is not None and share.low >= _LEAST_SHARE:
        doer = f"make `{loop.function}` do less" if loop.function is not None else "do less in these lines"
        data = "it" if loop.function is not None else "what they do"
        said.append(
            f"To take the fetching out of the step: {doer}, or give {data} to a DataLoader as a data set whose workers "
            "fetch while the model computes; tune then finds the workers"
        )
    return replace(loop, advice=tuple(said))
