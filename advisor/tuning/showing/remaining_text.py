"""What was measured to be faster and is not in the source, in words."""

from __future__ import annotations

from accel_advisor.tuning.record.outcome import Outcome
from accel_advisor.tuning.search.settings import describe
from accel_advisor.tuning.wording.figures import interval_text


def remaining_text(outcome: Outcome) -> str:
    """What is left on the table, as a clause; empty where nothing is."""
    if not outcome.left_on_the_table:
        return ""
    found, turns = outcome.recommendation, outcome.turns
    if found is not None and not outcome.verified:
        measured = f"{describe(found.settings)} was measured to be {interval_text(found.gain)} as fast"
        undone = " and could not be verified" if outcome.verification is not None else ""
        return f"{measured}{undone}, and is not in the source"
    faster = [turn.name for turn in turns.tried if turn.faster] if turns is not None else []
    if outcome.fixes is not None:
        faster += [f"the fix of {one.findings[0].code}" for one in outcome.fixes.remaining]
    were = "was" if len(faster) == 1 else "were"
    return f"{', '.join(faster)} {were} measured to be faster, and the source does not have it"
