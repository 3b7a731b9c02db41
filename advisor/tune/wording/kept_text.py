"""Why the settings in the source are kept, in words."""

from __future__ import annotations

from accel_advisor.tune.search.stops import Kept, NoGain, Stop, TooShort

_STOPS = {
    Stop.NO_HEADROOM: "data is ready nearly always: there is nothing to gain from the loader",
    Stop.NOTHING_FASTER: "no other settings are faster than those in the source",
    Stop.CUT_SHORT: "the search did not come to its end",
    Stop.NO_KNOB: "no knob of the loader was to be turned",
}


def kept_text(kept: Kept) -> str:
    """Why nothing is recommended, with the remedy where there is one."""
    match kept:
        case Stop():
            return _STOPS[kept]
        case TooShort(budget, pair, enough):
            return (
                f"a budget of {budget:g} s was too short to compare the best settings found with those in the source, "
                f"since one comparison takes about {pair:.1f} s: try --budget {enough}"
            )
        case NoGain(found):
            ends = f"between {found.low:.2f} and {found.high:.2f} times as fast"
            if found.high < 1:
                return f"other settings are slower: the best of them run {ends}"
            return f"the best settings found run {ends}, no gain beyond doubt"
