"""Measures what the lines of a step cost, in a running trial."""

from __future__ import annotations

import time
from pathlib import Path

from accel_advisor.config import ConfigError
from accel_advisor.selection import SelectorError
from accel_advisor.tuning.pricing.line_prices import priced
from accel_advisor.tuning.pricing.linted_files import findings_in
from accel_advisor.tuning.probe.channel.wire import BASELINE, Measure
from accel_advisor.tuning.record.schema import Prices
from accel_advisor.tuning.search.purposes import Purpose
from accel_advisor.tuning.search.search import Request
from accel_advisor.tuning.trial.session import Session
from accel_advisor.tuning.trial.trial_errors import TrialEnded

LEAST_BATCHES = 4
WARM_SHARE = 0.2
"""Of the time, for the batches before the block."""
GRACE_SECONDS = 2.0
_UNKNOWN = "what the lines of a step cost was not found out"


def measured_prices(session: Session, seconds: float, root: Path, device: str) -> Prices | None:
    """What the lines of a step cost under the settings in the source, from a block that serves nothing else and takes
    about so many ``seconds``; None, with a note in the session, where nothing was seen."""
    session.limit(time.monotonic() + seconds + GRACE_SECONDS)
    most = seconds + GRACE_SECONDS
    asked = Measure(BASELINE, LEAST_BATCHES, seconds * (1 - WARM_SHARE), most_seconds=most, lines=True)
    try:
        answer = session.answer(Request(asked, Purpose.PRICES))
    except TrialEnded as error:
        session.notes.add(f"{_UNKNOWN}: {error.reason}")
        return None
    block = answer.block
    if block is None or block.lines is None:
        session.notes.add(f"{_UNKNOWN}: {answer.reason}")
        return None
    try:
        findings = findings_in(block.lines)
    except (ConfigError, SelectorError) as error:
        session.notes.add(f"no finding has a price: {error}")
        findings = []
    return priced(block, findings, root, device=device)
