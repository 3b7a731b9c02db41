"""What a search has measured, as an outcome."""

from __future__ import annotations

from pathlib import Path
from statistics import geometric_mean

from accel_advisor.tuning.probe.channel.wire import BASELINE, Ready, Settings
from accel_advisor.tuning.record.outcome import Outcome, Row
from accel_advisor.tuning.search.diagnosis import diagnose
from accel_advisor.tuning.search.readings import Readings
from accel_advisor.tuning.search.search import Search
from accel_advisor.tuning.search.statistics import Interval, interval


def measured_outcome(ready: Ready, search: Search, root: Path) -> Outcome:
    """What is known of a loop, the settings in the source first."""
    readings = search.readings
    rows = [_row(readings, search.baseline, None)]
    rows += [
        _row(
            readings,
            tried.settings,
            search.gain if tried.settings == search.chosen and search.gain else _against(readings, tried.settings),
            tried.failed,
        )
        for tried in readings.tried.values()
        if tried.settings != search.baseline
    ]
    outcome = Outcome(root, ready.loaders, ready.device, ready.torch_version, rows=tuple(rows))
    outcome.cards, outcome.pairs = len(set(ready.gpus)), tuple(search.final)
    if readings.references[BASELINE]:
        outcome.diagnosis = diagnose(readings)
    outcome.baseline_rate, outcome.baseline_interval = rows[0].rate, rows[0].interval
    if search.final and search.chosen is not None:
        samples = sum(old.samples for old, _ in search.final) / sum(old.batches for old, _ in search.final)
        old = [readings.charged_itself(search.baseline, block) for block, _ in search.final]
        new = [readings.charged_itself(search.chosen, block) for _, block in search.final]
        outcome.baseline_rate, outcome.recommended_rate = samples / geometric_mean(old), samples / geometric_mean(new)
        outcome.baseline_interval = interval([samples / seconds for seconds in old])
        outcome.recommended_interval = interval([samples / seconds for seconds in new])
    return outcome


def _row(readings: Readings, settings: Settings, against: Interval | None, failed: str = "") -> Row:
    blocks = tuple(readings.blocks(settings))
    rates = [block.samples / block.batches / readings.charged(settings, block) for block in blocks]
    found = interval(rates) if rates else None
    return Row(settings, readings.rate(settings), against, len(blocks), failed, found, blocks)


def _against(readings: Readings, settings: Settings) -> Interval | None:
    return readings.against_baseline(settings) if readings.blocks(settings) else None
