"""Why the settings in the source are kept, in words."""

from __future__ import annotations

from accel_advisor.tuning.search.settings import describe
from accel_advisor.tuning.search.statistics import WORTH, Interval
from accel_advisor.tuning.search.stops import (
    CutShort,
    Kept,
    NoGain,
    NoneRan,
    NoSettings,
    OpenHeadroom,
    Stop,
    TooShort,
    Unexplored,
    Verdict,
    verdict_of,
)
from accel_advisor.tuning.wording.figures import times

_STOPS = {
    Stop.NO_HEADROOM: "data is ready nearly always",
    Stop.NOTHING_FASTER: "no other settings are faster than those in the source",
    Stop.NO_KNOB: "no knob of the loader was to be turned",
}
_VERDICTS = {
    Verdict.NOTHING: "Nothing to gain",
    Verdict.UNDECIDED: "Undecided",
    Verdict.BY_HAND: "To be changed by hand",
}
_QUIET = "readings differ too much for a longer --budget to settle it, a quiet machine would"


def kept_text(kept: Kept) -> str:
    """Why nothing is recommended, and what would settle it where it is not settled."""
    match kept:
        case Stop():
            return _STOPS[kept]
        case NoSettings(ceiling, most):
            return _without_loader(ceiling, most)
        case OpenHeadroom(ceiling):
            return (
                "data seems to be ready nearly always, but with data ready at once it would run between "
                f"{ceiling.low:.2f} and {ceiling.high:.2f} times as fast: a quiet machine or a longer --budget "
                "settles it"
            )
        case TooShort(budget, pair, enough):
            return (
                f"a budget of {budget:g} s was too short to compare the best settings found with those in the source, "
                f"since one comparison takes about {pair:.1f} s: try --budget {enough}"
            )
        case Unexplored(budget, tried, enough):
            names = " and ".join(describe(settings) for settings in tried[:2]) + (" and others" if tried[2:] else "")
            only = f"more than {names}" if tried else "anything else"
            return f"a budget of {budget:g} s was too short to try {only}: try --budget {enough}"
        case NoneRan(settings, reason):
            return f"no other settings could be measured; {describe(settings)}: {reason}"
        case NoGain(found, enough):
            ends = f"between {found.low:.2f} and {found.high:.2f} times as fast"
            if found.high < 1:
                return f"other settings are slower: the best of them run {ends}"
            best = f"the best settings found run {ends}"
            if verdict_of(kept) is Verdict.NOTHING:
                return best
            return f"{best}: {_QUIET if enough is None else f'try --budget {enough}, or a quiet machine'}"
        case CutShort(why, leader):
            found_by_then = f"; {describe(leader[0])} had read {times(leader[1])} as fast by then" if leader else ""
            ended = why or "interrupted before the last comparison"
            return f"{ended}{found_by_then}: run it again to its end"


def _without_loader(ceiling: Interval | None, most: float | None) -> str:
    none = "the loop takes its batches from no DataLoader, so there is no setting to choose"
    if ceiling is None and most is not None:
        least = "nothing worth having" if most < WORTH else f"at most {times(most)} the speed, which was not measured"
        return f"{none}, and data ready at once would bring {least}"
    if ceiling is None:
        return f"{none}, and what data ready at once would bring was not measured"
    if ceiling.high < WORTH:
        return f"{none}, and data ready at once would bring nothing worth having"
    if not ceiling.wins:
        ends = (
            f"between {ceiling.low:.2f} and {ceiling.high:.2f} times as fast" if ceiling.low > 0 else "at an open speed"
        )
        return f"{none}; with data ready at once it would run {ends}: a quiet machine or a longer --budget settles it"
    ends = f"(between {ceiling.low:.2f} and {ceiling.high:.2f})"
    return f"{none}; with data ready at once it would run {times(ceiling.ratio)} as fast {ends}"


def verdict_text(verdict: str | None, kept: str) -> str:
    """What a run that recommends nothing says: its verdict, as JSON has it, and why in words."""
    known = next((words for one, words in _VERDICTS.items() if one == verdict), "The settings stay as they are")
    return f"{known}: {kept}."
