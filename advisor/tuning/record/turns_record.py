"""What was run in turns, as a record has it."""

from __future__ import annotations

import math
from pathlib import Path

from accel_advisor.finding import Finding
from accel_advisor.source.program_lines import place_of
from accel_advisor.tuning.applying.project_code import display_name
from accel_advisor.tuning.knobs.raced_fixes import RacedFix, RacedFixes
from accel_advisor.tuning.knobs.tried_knobs import TriedKnobs
from accel_advisor.tuning.record.turns_schema import (
    FixesRecord,
    FixPlace,
    FixRecord,
    Ratio,
    TurnRecord,
    TurnsRecord,
    VerificationRecord,
)
from accel_advisor.tuning.search.statistics import Interval
from accel_advisor.tuning.search.verification import Verification


def verification_of(found: Verification | None) -> VerificationRecord | None:
    """Old source against new."""
    if found is None:
        return None
    return VerificationRecord(found.holds, ratio_of(found.gain) if found.gain else None, found.reason)


def turns_record(turns: TriedKnobs, root: Path) -> TurnsRecord:
    """The knobs of the training."""
    return TurnsRecord(
        tried=tuple(
            TurnRecord(
                turn.name,
                turn.setting,
                ratio_of(turn.gain) if turn.gain else None,
                turn.loss,
                None if turn.warm_up is None else round(turn.warm_up, 3),
                turn.refused or None,
                turn.diff,
                turn.remedy or None,
                turn.caution or None,
            )
            for turn in turns.tried
        ),
        diff=turns.rewrite.diff,
        changed=tuple(display_name(path, root) for path in turns.rewrite.after),
        written=turns.written,
        verification=verification_of(turns.verification),
    )


def ratio_of(found: Interval) -> Ratio:
    """A gain."""
    return Ratio(found.ratio, *ends_of(found))


def ends_of(found: Interval | None) -> tuple[float | None, float | None]:
    """An open end is null: JSON has no infinity."""
    closed = found is not None and found.low > 0 and math.isfinite(found.high)
    return (found.low, found.high) if found is not None and closed else (None, None)


def fixes_record(fixes: RacedFixes, root: Path) -> FixesRecord:
    """The fixes of lint."""
    return FixesRecord(
        tuple(_fix(one, root) for one in fixes.raced),
        diff=fixes.rewrite.diff,
        changed=tuple(display_name(path, root) for path in fixes.rewrite.after),
        written=fixes.written,
        verification=verification_of(fixes.verification),
        elsewhere=fixes.elsewhere,
        left_out=fixes.left_out,
    )


def _fix(fix: RacedFix, root: Path) -> FixRecord:
    return FixRecord(
        tuple(_place(one, root) for one in fix.findings),
        fix.safe,
        fix.verdict.value,
        fix.said,
        ratio_of(fix.gain) if fix.gain is not None else None,
        fix.loss,
        None if fix.warm_up is None else round(fix.warm_up, 3),
        fix.written,
        fix.rewrite.diff if fix.pays else "",
    )


def _place(finding: Finding, root: Path) -> FixPlace:
    title = finding.fix.title if finding.fix is not None else ""
    cell, row = place_of(finding.span.start)
    return FixPlace(finding.code, finding.name, display_name(finding.filename, root), row, title, cell)
