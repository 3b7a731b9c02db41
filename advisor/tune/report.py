"""What a person reads at the end: the sentence, where the time goes, what was tried, what to change, what was done."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text

from .diagnosis import Diagnosis, times
from .outcome import Outcome, Row, Verification
from .probe.wire import NO_TRANSFER, NO_WAIT
from .rewrite import Recommendation, own_frame
from .rewrite import display_name as shown
from .settings import describe

if TYPE_CHECKING:
    from .statistics import Interval

_WIDE = math.log(1.5)
_DIFF_STYLES = {"-": "red", "+": "green", "@": "cyan"}
_CEILINGS = {NO_WAIT: "data ready at once", NO_TRANSFER: "data already on the device"}


def print_report(outcome: Outcome, console: Console) -> None:
    """Prints the whole report, the sentence first and what was done last."""
    if outcome.diagnosis is not None:
        console.print(Text(outcome.diagnosis.sentence, style="bold"))
        console.print()
        _print_shares(outcome.diagnosis, console)
    if outcome.rows:
        console.print()
        console.print(_table(outcome))
    console.print()
    if outcome.interrupted:
        console.print("Interrupted; this is what was known by then.")
    if outcome.recommendation is not None:
        _print_recommendation(outcome, outcome.recommendation, console)
    else:
        console.print(Text(f"Nothing to change: {outcome.kept}."))
    for note in outcome.notes:
        console.print(Text(f"Note: {note}.", style="dim"))
    if outcome.leaked:
        console.print(Text(f"Changed during the trial and not put back: {', '.join(outcome.leaked)}", style="red"))
    console.print(Text(f"{outcome.seconds:.0f} s in all.", style="dim"))


def interval_text(found: Interval) -> str:
    """A ratio with its interval, for people: ``2.41x (2.30-2.52)``; without the interval where it is open or says
    nothing."""
    if found.half_width > _WIDE:
        return f"about {found.ratio:.2g}x"
    return f"{found.ratio:.2f}x ({found.low:.2f}-{found.high:.2f})"


def _print_shares(diagnosis: Diagnosis, console: Console) -> None:
    shares = diagnosis.shares
    parts = [
        f"{name} {getattr(shares, name):.1%}".replace("%", " %") for name in ("wait", "transfer", "compute", "host")
    ]
    console.print(Text(f"Each step     {'   '.join(parts)}"))
    for name, ceiling in diagnosis.ceilings.items():
        console.print(Text(f"Ceiling       {interval_text(ceiling)} with {_CEILINGS[name]}"))


def _table(outcome: Outcome) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading, justify in (("Tried", "left"), ("samples/s", "right"), ("against now (95 %)", "left"), ("", "left")):
        table.add_column(heading, justify=justify, overflow="fold")  # type: ignore[arg-type]
    best = outcome.recommendation.settings if outcome.recommendation else None
    for number, row in enumerate(outcome.rows):
        remark = row.failed or ("now" if number == 0 else "recommended" if row.settings == best else "")
        against = "" if number == 0 or row.against is None else interval_text(row.against)
        table.add_row(
            describe(row.settings), _rate(row), against, remark, style="green" if row.settings == best else ""
        )
    return table


def _rate(row: Row) -> str:
    return "" if row.rate is None else f"{row.rate:,.0f}" if row.rate >= 100 else f"{row.rate:.3g}"


def _print_recommendation(outcome: Outcome, found: Recommendation, console: Console) -> None:
    gain = found.gain
    console.print(
        Text.assemble(
            ("Recommended   ", "bold"),
            (describe(found.settings), "bold green"),
            f"   {times(gain.ratio)} as fast, between {gain.low:.2f} and {gain.high:.2f} (95 %, {gain.pairs} pairs)",
        )
    )
    frame = own_frame(outcome.loaders[0].stack, outcome.root)
    filename, row = (found.filename, found.row) if found.row else (frame.filename, frame.row) if frame else ("", 0)
    if row:
        named = f"{found.name}, " if found.name else ""
        decided = f"; decided by {found.origin}" if found.origin else ""
        console.print(Text(f"Loader        {named}built at {shown(filename, outcome.root)}:{row}{decided}"))
    if found.rewrite.diff:
        console.print()
        _print_diff(found.rewrite.diff, console)
    for refusal in found.refusals:
        console.print(Text(f"Not edited: {refusal.rstrip('.')}."))
    verification = outcome.verification
    if verification is not None:
        _print_verification(outcome, found, verification, console)
    elif found.editable and not outcome.interrupted:
        console.print("Run again with --apply to write this and verify it.")


def _print_diff(diff: str, console: Console) -> None:
    """Every line whole, whatever the width: a diff is there to be copied."""
    for line in diff.splitlines():
        style = "bold" if line.startswith(("---", "+++")) else _DIFF_STYLES.get(line[:1], "")
        console.print(Text(line, style=style), soft_wrap=True)
    console.print()


def _print_verification(outcome: Outcome, found: Recommendation, result: Verification, console: Console) -> None:
    names = ", ".join(shown(path, outcome.root) for path in found.rewrite.after)
    measured = f": the new source runs {interval_text(result.gain)} as fast" if result.gain is not None else ""
    if result.holds:
        console.print(Text(f"Applied and verified{measured}. Changed: {names}.", style="green"))
    else:
        console.print(Text(f"Put back byte for byte: {names}. {_sentence(result.reason)}{measured}.", style="yellow"))


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]
