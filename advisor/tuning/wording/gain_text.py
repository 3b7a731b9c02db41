"""How a gain was measured and how far it can be trusted, in words."""

from __future__ import annotations

from accel_advisor.tuning.search.headroom import Excess
from accel_advisor.tuning.wording.figures import interval_text

_LARGER = "than data ready at once allows"
_WHY = (
    "a step that has waited runs slower where threads have gone to sleep meanwhile, caches hold other data, or the "
    "loader takes the cores"
)
_MORE_EXACT = "the gain, which was measured in turns, is the more exact"


def gain_notes(excess: Excess | None, overtime: float, budget: float) -> list[str]:
    """What is noted of a comparison.

    Args:
        excess: of a gain that reads larger than the ceiling.
        overtime: seconds that it took beyond the ``budget``.
    """
    notes = []
    if overtime:
        notes.append(
            f"a gain looked likely and was not settled: the comparison took {overtime:.1f} s more than the budget of "
            f"{budget:g} s"
        )
    if excess is not None:
        notes.append(_excess(excess))
    return notes


def _excess(found: Excess) -> str:
    if found.rest is not None:
        return (
            f"the gain is larger {_LARGER}, and both are right: the ceiling takes what is left of a step for the same, "
            f"and that takes {interval_text(found.rest)} as long under the settings in the source, since {_WHY}"
        )
    if found.apart:
        return f"the gain is larger {_LARGER}, also after it was measured again: the two disagree, and {_MORE_EXACT}"
    return f"the gain reads larger {_LARGER}, by no more than their intervals leave open: {_MORE_EXACT}"
