"""Other work on the machine, in words: what it took of the cores, and where that is the reason of an answer."""

from __future__ import annotations

from accel_advisor.tuning.search.stops import Kept, NoGain, NoSettings, Stop, Verdict, verdict_of

_LEAST_CORES, _LEAST_SHARE = 0.25, 0.1
"""Less than so many cores, or than such a share of them, is no reason for anything."""


def other_work_text(taken: float | None, cores: float) -> str:
    """What other work takes, as a clause; empty where it takes next to nothing, or where that is not known."""
    if taken is None or taken < max(_LEAST_CORES, _LEAST_SHARE * cores):
        return ""
    return f"other work on the machine takes {taken:.1f} of the {cores:g} cores"


def kept_beside(kept: Kept, words: str, other_work: str) -> str:
    """Why settings are kept, ``words``, beside other work."""
    if not other_work or not in_sentence(kept):
        return words
    if verdict_of(kept) is Verdict.NOTHING:
        return f"{words} while {other_work}; on a free one there may be"
    return f"{words} ({other_work})"


def in_sentence(kept: Kept | None) -> bool:
    """Whether other work belongs into the sentence that says why settings are kept: where cores decide it, since
    workers need them, or where quieter readings would settle it."""
    if kept is None or kept is Stop.NO_HEADROOM or (isinstance(kept, NoSettings) and kept.ceiling is None):
        return False
    return kept is Stop.NOTHING_FASTER or isinstance(kept, NoGain) or verdict_of(kept) is Verdict.UNDECIDED
