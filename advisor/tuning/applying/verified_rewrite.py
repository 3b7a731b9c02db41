"""Old source against new in whole runs of the script, and the new one written where its gain shows."""

from __future__ import annotations

import math
import time

from accel_advisor.tuning.applying import rewrite_on_disk
from accel_advisor.tuning.applying.rewrite import Recommendation, RewriteError
from accel_advisor.tuning.nodes.lead import Lead
from accel_advisor.tuning.probe.channel.wire import BASELINE, Measure, Settings
from accel_advisor.tuning.search.allowance import FEW_RUNS, runs_seconds
from accel_advisor.tuning.search.purposes import Purpose
from accel_advisor.tuning.search.readings import Readings
from accel_advisor.tuning.search.search import Request, Search, block_seconds
from accel_advisor.tuning.search.settings import consistent, prefetch
from accel_advisor.tuning.search.verification import Comparison, Ran, Run, Verification
from accel_advisor.tuning.trial.interrupts import Interrupts, undisturbed
from accel_advisor.tuning.trial.session import Session
from accel_advisor.tuning.trial.trial_errors import TimedOut, TrialError

SLOW_START = 5.0
"""Seconds that a start may take beyond twice the first one."""
_SOON, _LONGER = 0.95, 1.5


def apply(
    session: Session, recommendation: Recommendation, search: Search, end: float, interrupts: Interrupts
) -> Verification:
    """Runs old source against new, and writes the new one only if its gain shows: if the verification holds, it stands
    in the files.

    Args:
        recommendation: has edits.
        end: when that should be over, on :func:`time.monotonic`.
    """
    found, settled = None, None
    try:
        rewrite_on_disk.check(recommendation.rewrite)
        if session.lead is not None:
            _agree(session.lead, recommendation)
        with interrupts.heeded():
            found = _verify(session, recommendation, search, end)
        with undisturbed():
            if found.holds:
                rewrite_on_disk.write(recommendation.rewrite)
            settled = found
    except (RewriteError, OSError) as error:
        return Verification(False, found.gain if found else None, str(error))
    except KeyboardInterrupt:
        interrupts.heard = True
    return settled or Verification(False, None, "the verification was interrupted")


def _agree(lead: Lead, recommendation: Recommendation) -> None:
    """Lets all nodes plan the same change, which they are to be shown.

    Raises:
        RewriteError: one of them cannot.
    """
    rewrite = recommendation.rewrite
    reason = lead.agree(recommendation.baseline, recommendation.settings, rewrite.before, rewrite.after)
    if reason:
        raise RewriteError(reason)


def _verify(session: Session, recommendation: Recommendation, search: Search, end: float) -> Verification:
    """Whole runs of either source. The first run of each has the time that it takes; then it is over at the end."""
    budget, start, now = search.budget, session.start_seconds, time.monotonic()
    block = search.time.pair(recommendation.settings) / 2
    comparison = Comparison(
        recommendation.gain,
        start=start,
        block=block,
        limit=_SOON * (end - now),
        remedy=f"try --budget {10 * math.ceil(_LONGER * budget / 10)}",
    )
    patience = runs_seconds(FEW_RUNS, comparison.blocks, 2 * start + SLOW_START, 2 * block)
    session.renew(max(end, now + patience))
    plan = comparison.plan()
    try:
        run = next(plan)
        while True:
            if comparison.pairs:
                session.deadline = end
            began = time.monotonic()
            try:
                times, reason, late = _run_once(session, recommendation, search.readings, run, budget), "", False
            except TrialError as error:
                times, reason, late = (), error.sentence, isinstance(error, TimedOut)
            run = plan.send(Ran(times, time.monotonic() - began, reason, late))
    except StopIteration as stopped:
        answer: Verification = stopped.value
        return answer


def _run_once(
    session: Session, recommendation: Recommendation, readings: Readings, run: Run, budget: float
) -> tuple[float, ...]:
    """Seconds a batch in blocks of one run of the new or the old source. The child finds either in place of what is
    on disk, so that both come to it by the same way.

    Raises:
        TrialError: it could not be measured, or the loader did not get the new settings.
    """
    began = time.monotonic()
    session.sources = recommendation.rewrite.after if run.new else recommendation.rewrite.before
    settings = recommendation.settings if run.new else recommendation.baseline
    try:
        info = session.start().loaders[0]
        if run.new and not _reached(info.settings, settings):
            raise TrialError("the edit did not reach the loader that was measured")
        fresh, purpose = readings.starts_anew(settings), Purpose.NEW_SOURCE if run.new else Purpose.OLD_SOURCE
        found: list[float] = []
        while len(found) < run.blocks and (len(found) < run.least or time.monotonic() - began < run.seconds):
            block = session.block(Request(Measure(BASELINE, 8, block_seconds(budget), fresh), purpose))
            found.append(readings.charged_itself(settings, block))
        return tuple(found)
    finally:
        session.close()


def _reached(actual: Settings, wanted: Settings) -> bool:
    """Whether a script's loader has the settings that the edit was to give it, those of the loop's transfers aside."""
    one, other = consistent(actual), consistent(wanted)
    return (one.num_workers, prefetch(one), one.persistent_workers, one.pin_memory) == (
        other.num_workers,
        prefetch(other),
        other.persistent_workers,
        other.pin_memory,
    )
