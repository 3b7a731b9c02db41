"""A trial of a loop without a loader, from the first block to the answer."""

from __future__ import annotations

import ast
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from accel_advisor.config import ConfigError
from accel_advisor.finding import Finding, Price
from accel_advisor.selection import SelectorError
from accel_advisor.source.program_lines import row_for_people
from accel_advisor.tuning.applying.project_code import display_name
from accel_advisor.tuning.plain.data_lines import data_lines
from accel_advisor.tuning.plain.plain_measure import PlainReadings, measure_plain
from accel_advisor.tuning.plain.plain_text import DISAGREE, LOADER_AHEAD, UNREPLAYED, advice, sentence
from accel_advisor.tuning.pricing.line_prices import priced, tree_of
from accel_advisor.tuning.pricing.linted_files import findings_in
from accel_advisor.tuning.pricing.sampled_shares import Shares
from accel_advisor.tuning.probe.channel.plain_loop import PlainLoop
from accel_advisor.tuning.probe.channel.wire import NO_WAIT, Block, LoopStack, Ready, Settings
from accel_advisor.tuning.record.outcome import Outcome, Row
from accel_advisor.tuning.record.plain_record import PlainRecord
from accel_advisor.tuning.record.schema import Prices
from accel_advisor.tuning.search.purposes import Purpose
from accel_advisor.tuning.search.statistics import interval
from accel_advisor.tuning.search.stops import NoSettings
from accel_advisor.tuning.trial.interrupts import Interrupts
from accel_advisor.tuning.trial.session import Session


def tune_plain(
    session: Session,
    ready: Ready,
    loop: PlainLoop,
    root: Path,
    *,
    budget: float,
    seed: int,
    watch: Callable[[Purpose, str], None],
    interrupts: Interrupts,
) -> Outcome:
    """Measures a loop that takes its batches from no loader, and says what it found.

    Raises:
        TrialEnded: nothing could be measured.
        LoaderCame: the loop is over, and one with a loader has begun.
    """
    readings = PlainReadings(overlaps=ready.device != "cpu")
    with suppress(KeyboardInterrupt), interrupts.heeded():
        replayable, ahead = loop.unreplayed is None, loop.names_loader
        measure_plain(session, readings, budget=budget, replayable=replayable, ahead=ahead, seed=seed, watch=watch)
    outcome = Outcome(root, ready.loaders, ready.device, ready.torch_version, rows=(_row(readings.own),))
    outcome.baseline_rate, outcome.baseline_interval = outcome.rows[0].rate, outcome.rows[0].interval
    outcome.cards = len(set(ready.gpus))
    ceiling = readings.ceiling
    outcome.kept = NoSettings(ceiling, None)
    if loop.names_loader:
        outcome.notes.append(LOADER_AHEAD)
    if not readings.own:
        return outcome
    findings: list[Finding] = []
    if readings.lines is not None and readings.lines.lines is not None:
        try:
            findings = findings_in(readings.lines.lines)
        except (ConfigError, SelectorError) as error:
            outcome.notes.append(f"no finding has a price: {error}")
        outcome.prices = priced(readings.lines, findings, root, device=ready.device)
    elif readings.failed:
        outcome.notes.append(f"the measurement ended early: {readings.failed}")
    outcome.ceilings = {NO_WAIT: ceiling} if ceiling is not None else {}
    outcome.loop = _record(loop, readings, outcome.prices, root, ready.device)
    if readings.disagree:
        outcome.loop = replace(outcome.loop, unreplayed=DISAGREE)
    outcome.kept = NoSettings(ceiling, None if readings.disagree else _most(outcome.loop.fetch))
    outcome.sentence = sentence(outcome.loop, ceiling, overlaps=readings.overlaps)
    return outcome


def _record(loop: PlainLoop, readings: PlainReadings, prices: Prices | None, root: Path, device: str) -> PlainRecord:
    timed = loop.function and loop.unreplayed is None
    parts = {"fetch": readings.share(lambda block: block.wait)} if timed else {}
    if device != "cpu":
        parts["transfer"] = readings.share(lambda block: block.transfer)
    for name in ("forward", "backward", "optimizer"):
        parts[name] = readings.share(lambda block, name=name: getattr(block.passes, name))  # type: ignore[misc]
    parts["other"] = readings.share(lambda block: _other(block, timed=bool(timed)))
    rows = _rows(loop)
    fetch = parts.get("fetch") or _sampled(loop, rows, readings.lines)
    samples = readings.lines.lines if readings.lines is not None else None
    made = data_lines(samples) if samples is not None and not loop.function else None
    filename = display_name(loop.filename, root) if loop.function else None
    cell, row = row_for_people(loop.filename, loop.row) if loop.function else (None, None)
    known = PlainRecord(
        optimizer=loop.optimizer,
        step=readings.step,
        function=loop.function or None,
        filename=filename,
        row=row,
        cell=cell,
        calls=loop.calls,
        parts=parts,
        fetch=fetch,
        unreplayed=UNREPLAYED[loop.unreplayed] if loop.unreplayed is not None else None,
    )
    if made is not None:
        name = display_name(made.filename, root)
        cell, row = row_for_people(made.filename, made.row)
        known = replace(known, filename=name, row=row, cell=cell, text=made.text, fetch=made.price)
    return advice(known, readings.ceiling, prices, len(rows))


def _most(fetch: Price | None) -> float | None:
    """How many times as fast a loop without its fetching runs at most, by its share."""
    return 1 / (1 - fetch.high) if fetch is not None and fetch.high < 1 else None


def _other(block: Block, *, timed: bool) -> float:
    passes = block.passes
    assert passes is not None
    rest = block.compute - passes.forward - passes.backward - passes.optimizer
    return max(block.host + rest + (0.0 if timed else block.wait), 0.0)


def _sampled(loop: PlainLoop, rows: range, block: Block | None) -> Price | None:
    """What fetching takes, from where the loop was found."""
    if not loop.function or block is None or block.lines is None or not block.lines.samples:
        return None
    shares = Shares(block.lines)

    def fetches(stack: LoopStack) -> bool:
        return any(frame.filename == loop.filename and frame.row in rows for frame in stack.frames)

    return shares.price(shares.where(fetches))


def _rows(loop: PlainLoop) -> range:
    """The lines of the function that fetches."""
    ends = [
        node.end_lineno or node.lineno
        for node in ast.walk(tree_of(loop.filename))
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
        and min([node.lineno, *(one.lineno for one in getattr(node, "decorator_list", []))]) == loop.row
    ]
    return range(loop.row, min(ends, default=loop.row) + 1)


def _row(blocks: list[Block]) -> Row:
    rates = [block.rate for block in blocks]
    found = interval(rates) if rates else None
    return Row(Settings(), found.ratio if found else None, None, len(blocks), "", found, tuple(blocks))
