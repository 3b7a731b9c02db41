"""What a person reads at the end: the sentence, where the time goes, what was tried, what to change, what was done."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text

from accel_advisor.tuning.probe.channel.wire import NO_TRANSFER, NO_WAIT
from accel_advisor.tuning.record.outcome_record import recorded
from accel_advisor.tuning.record.place_text import place_text
from accel_advisor.tuning.record.schema import Choice, Explanation, Record, TriedRecord
from accel_advisor.tuning.record.turns_schema import FixesRecord, TurnsRecord, VerificationRecord
from accel_advisor.tuning.search.settings import describe
from accel_advisor.tuning.search.stops import Verdict
from accel_advisor.tuning.showing.energy_text import energy_text
from accel_advisor.tuning.showing.next_step import command, next_step
from accel_advisor.tuning.showing.price_text import price_lines
from accel_advisor.tuning.showing.race_text import race_lines, raced_ending
from accel_advisor.tuning.wording.figures import interval_text, rate_text, times, visible
from accel_advisor.tuning.wording.kept_text import verdict_text
from accel_advisor.tuning.wording.resource_text import use_text

if TYPE_CHECKING:
    from accel_advisor.tuning.record.outcome import Outcome

_RATIOS = (
    "How many times as fast is measured in turns with the settings in the source: it is more exact than the two rates."
)
_OPEN = "Whether there is a gain is undecided: a quiet machine or a longer --budget settles it."
_DIFF_STYLES = {"-": "red", "+": "green", "@": "cyan"}
CEILINGS = {NO_WAIT: "data ready at once", NO_TRANSFER: "data already on the device"}
"""What each ceiling takes away, in words."""


def print_report(outcome: Outcome, console: Console) -> None:
    """Prints the whole report, the sentence first and what was done last."""
    print_record(recorded(outcome), console)


def print_record(record: Record, console: Console) -> None:
    """As :func:`print_report`, from the record of a run."""
    if record.sentence is not None:
        console.print(_text(record.sentence, "bold"))
        console.print()
        _print_shares(record, console)
        for words in record.loop.advice if record.loop is not None else ():
            console.print(_text(f"{words}."))
    if record.prices is not None:
        console.print()
        for line, style in price_lines(record.prices):
            console.print(_text(line, style))
    for explanation in record.explained:
        _print_explanation(explanation, console)
    for advice in record.explained[-1].advice if record.explained else ():
        console.print(_text(f"{advice}."))
    if record.tried and record.loop is None:
        console.print()
        console.print(_table(record))
        if any(row.gain is not None for row in record.tried[1:]):
            console.print(_text(_RATIOS, "dim"))
    console.print()
    if record.interrupted:
        console.print("Interrupted; this is what was known by then.")
    choice = record.trained.recommended
    if record.kept is None and choice is not None:
        _print_recommendation(record, choice, console)
    else:
        console.print(_text(verdict_text(record.verdict, record.kept or "")))
    if record.turns is not None:
        _print_turns(record.turns, console)
    if record.fixes is not None:
        _print_fixes(record.fixes, console)
    for note in record.notes:
        console.print(_text(f"Note: {note}.", "dim"))
    if record.leaked:
        console.print(_text(f"Changed during the trial and not put back: {', '.join(record.leaked)}", "red"))
    if following := next_step(record):
        console.print(_text(f"Next: {following}."))
    console.print(_text(f"{record.seconds:.0f} s in all.", "dim"))


def built(record: Record) -> str:
    """Where the loader is built and where its settings are decided, in words; empty where nobody knows."""
    if record.built is None:
        return ""
    named = f"{record.name}, " if record.name else ""
    decided = f"; decided by {record.origin}" if record.origin else ""
    return f"{named}built at {place_text(record.built)}{decided}"


def applying(record: Record) -> str:
    """The command that makes a run again and writes what it recommends."""
    return command(record, "--apply")


def verdict(record: Record, result: VerificationRecord) -> str:
    """What became of the change, in words."""
    text = _verdict(record.changed, result)
    return f"{text} {_OPEN}" if record.verdict == Verdict.UNDECIDED else text


def turned(turns: TurnsRecord) -> str:
    """What became of the knobs of the training that pay, in words; empty where none has a patch."""
    result = turns.verification
    if result is not None and (turns.written or not result.holds):
        return _verdict(turns.changed, result)
    if not turns.diff:
        return ""
    together = f"Together they run {interval_text(result.gain)} as fast. " if result and result.gain else ""
    return f"{together}This changes the training. Run again with --apply --unsafe-fixes to write it and verify it."


def _verdict(changed: tuple[str, ...], result: VerificationRecord) -> str:
    names = ", ".join(changed)
    measured = f": the new source runs {interval_text(result.gain)} as fast" if result.gain is not None else ""
    if result.holds:
        return f"Applied and verified{measured}. Changed: {names}."
    return f"Left as it was, byte for byte: {names}. {_sentence(result.reason)}{measured}."


def _print_shares(record: Record, console: Console) -> None:
    parts = [f"{name} {share:.1%}".replace("%", " %") for name, share in record.shares.known.items()]
    if record.loop is not None:
        parts = [f"{name} {price.figures}" for name, price in record.loop.parts.items()]
    console.print(Text(f"Each step     {'   '.join(parts)}"))
    for name, ceiling in record.ceilings.items():
        console.print(_text(f"Ceiling       {interval_text(ceiling)} with {CEILINGS.get(name, name)}"))
    if record.tried:
        _print_use(record.tried[0], console)
    if record.recommended is None:
        _print_energy(record, console)


def _print_explanation(found: Explanation, console: Console) -> None:
    console.print()
    console.print(_text(f"Where a batch comes from with {describe(found.settings)}", "bold"))
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(overflow="fold")
    table.add_column(justify="right", overflow="fold")
    table.add_column(overflow="fold")
    for stage in found.stages:
        if stage.seconds:
            table.add_row(_text(stage.name), f"{1e3 * stage.seconds:.3g} ms", f"{stage.share:.0%} of its way")
        for one in found.functions:
            if one.stage == stage.name:
                place = f"  {one.function}  {place_text(one)}" + (f"  {one.calls}" if one.calls else "")
                share = f"{one.share:.0%} ({one.low:.0%}-{one.high:.0%}) of the fetching"
                table.add_row(_text(place), f"{1e3 * one.seconds:.3g} ms", share)
    console.print(table)


def _print_use(row: TriedRecord, console: Console) -> None:
    if row.device is not None and row.device.sentence:
        console.print(_text(f"GPU           {row.device.sentence}"))


def _print_energy(record: Record, console: Console) -> None:
    if record.energy is not None:
        console.print(_text(f"Energy        {energy_text(record.energy)}"))


def _table(record: Record) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading, justify in (("Tried", "left"), ("samples/s", "right"), ("against now (95 %)", "left"), ("", "left")):
        table.add_column(heading, justify=justify, overflow="fold")  # type: ignore[arg-type]
    for number, cells in enumerate(tried_cells(record)):
        table.add_row(*(_text(cell) for cell in cells), style="green" if number == record.recommended else "")
    return table


def tried_cells(record: Record) -> Iterator[tuple[str, str, str, str]]:
    """Of each candidate, its settings, its rate, that against now, and a remark."""
    for number, row in enumerate(record.tried):
        against = "" if number == 0 or row.gain is None else interval_text(row.gain)
        remark = row.failed or ("now" if number == 0 else "recommended" if number == record.recommended else "")
        yield describe(row.settings), rate_text(row.rate), against, remark


def _print_recommendation(record: Record, choice: Choice, console: Console) -> None:
    gain, pairs = record.trained.gain, record.trained.pairs
    measured = ""
    if gain is not None:
        ends = f", between {gain.low:.2f} and {gain.high:.2f}" if gain.low is not None and gain.high is not None else ""
        measured = f"   {times(gain.ratio)} as fast{ends} (95 %, {pairs} pairs)"
    console.print(Text.assemble(("Recommended   ", "bold"), (describe(choice.settings), "bold green"), measured))
    if record.built is not None:
        console.print(_text(f"Loader        {built(record)}"))
    if record.use is not None:
        where = ", on each node" if record.nodes else ""
        console.print(_text(f"Takes         {use_text(record.use)}{where}"))
    if record.recommended is not None:
        _print_use(record.tried[record.recommended], console)
        _print_energy(record, console)
    if record.diff:
        console.print()
        _print_diff(record.diff, console)
    for refusal in record.refusals:
        console.print(_text(f"Not edited: {refusal.rstrip('.')}."))
    result = record.verification
    if result is not None:
        console.print(_text(verdict(record, result), "green" if result.holds else "yellow"))
    elif record.diff and not record.interrupted:
        console.print("Run again with --apply to write this and verify it.")


def _print_turns(turns: TurnsRecord, console: Console) -> None:
    console.print()
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("Of the training")
    table.add_column("against now (95 %)", no_wrap=True)
    table.add_column("loss", justify="right", no_wrap=True)
    table.add_column("warm-up", justify="right", no_wrap=True)
    table.add_column("", overflow="fold")
    for turn in turns.tried:
        gain = interval_text(turn.gain) if turn.gain is not None else ""
        loss = "" if turn.loss is None else f"{turn.loss:+.2%}".replace("%", " %")
        warm_up = "" if turn.warm_up is None else f"{turn.warm_up:+.1f} s"
        remark = turn.refused or f"{turn.setting}{'; ' if turn.caution else ''}{turn.caution or ''}"
        style = "" if turn.refused else "green"
        table.add_row(*(_text(cell) for cell in (turn.name, gain, loss, warm_up, remark)), style=style)
    console.print(table)
    console.print()
    for turn in turns.tried:
        if turn.remedy and not turn.refused:
            console.print(_text(f"By hand: {turn.remedy.rstrip('.')}."))
            if turn.diff:
                _print_diff(turn.diff, console)
    if turns.diff:
        _print_diff(turns.diff, console)
    _print_ending(turned(turns), turns, console)


def _print_fixes(fixes: FixesRecord, console: Console) -> None:
    console.print()
    for line, style in race_lines(fixes):
        console.print(_text(line, style))
    if fixes.diff:
        console.print()
        _print_diff(fixes.diff, console)
    _print_ending(raced_ending(fixes), fixes, console)


def _print_ending(ending: str, found: TurnsRecord | FixesRecord, console: Console) -> None:
    if ending:
        failed = found.verification is not None and not found.verification.holds
        console.print(_text(ending, "yellow" if failed else "green" if found.written else ""))


def _print_diff(diff: str, console: Console) -> None:
    """Every line whole, whatever the width: a diff is there to be copied."""
    for line in diff.splitlines():
        style = "bold" if line.startswith(("---", "+++")) else _DIFF_STYLES.get(line[:1], "")
        console.print(_text(line, style), soft_wrap=True)
    console.print()


def _text(text: str, style: str = "") -> Text:
    """Names of files and records from elsewhere may hold what would steer a terminal."""
    return Text(visible(text), style=style)


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]
