"""What became of the fixes of lint that were raced, in words."""

from __future__ import annotations

from collections.abc import Iterator

from accel_advisor.tuning.record.turns_schema import FixesRecord, FixRecord
from accel_advisor.tuning.wording.figures import interval_text

HEADING = "Fixes of lint, each in turns with the source as it is (95 %)"


def race_lines(fixes: FixesRecord) -> Iterator[tuple[str, str]]:
    """All of it but the change, line by line, each with its style."""
    yield HEADING, "bold"
    if not fixes.raced:
        yield "Lint offers no fix for what the training loop runs.", ""
    for one in fixes.raced:
        yield f"{fix_sentence(one)}.", "green" if one.verdict == "pays" else ""
    if fixes.elsewhere:
        many = "1 other fix is" if fixes.elsewhere == 1 else f"{fixes.elsewhere} other fixes are"
        yield f"{many} for code that the training loop was not seen to run.", "dim"
    yield from ((f"Not raced: {reason}.", "dim") for reason in fixes.left_out)


def fix_sentence(fix: FixRecord) -> str:
    """One race, as a clause: ``ACC201 train.py:40: no gain measured here (0.97 to 1.02)``."""
    together = len({(one.code, one.filename, one.row) for one in fix.places}) > 1
    safe = "safe, together" if fix.safe and together else "safe" if fix.safe else ""
    what = f"{fix.where} ({safe})" if safe else fix.where
    return f"{what}: {fix.said}"


def raced_ending(fixes: FixesRecord) -> str:
    """What became of the fixes that pay, in words; empty where none does."""
    result, names = fixes.verification, ", ".join(fixes.changed)
    measured = interval_text(result.gain) if result is not None and result.gain is not None else ""
    if result is not None and not result.holds:
        reason = result.reason[:1].upper() + result.reason[1:]
        ends = f": the new source runs {measured} as fast" if measured else ""
        return f"Left as it was, byte for byte: {names}. {reason}{ends}."
    left = [one for one in fixes.raced if one.verdict == "pays" and not one.written]
    done = f"Applied and verified: the new source runs {measured} as fast. Changed: {names}." if fixes.written else ""
    if not left:
        return done
    options = "--apply" if all(one.safe for one in left) else "--apply --unsafe-fixes"
    again = f"Run again with {options} to write {'the rest' if fixes.written else 'this'} and verify it."
    together = f"Together they run {measured} as fast. " if measured and not fixes.written else ""
    return f"{done} {again}" if done else f"{together}{again}"
