"""The whole story: start, search, diagnose, recommend, apply, verify."""

from __future__ import annotations

import math
import time
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from accel_advisor.machine.bandwidth import measure
from accel_advisor.machine.machine import Machine, accelerators, inspect_machine
from accel_advisor.tune.applying.objections import Standing, standing_of
from accel_advisor.tune.applying.proving import apply
from accel_advisor.tune.applying.rewrite import Planner, display_name, recommend
from accel_advisor.tune.knobs.turned_knobs import Turns
from accel_advisor.tune.knobs.turner import Turner, try_knobs
from accel_advisor.tune.probe.channel.wire import BASELINE, LoaderInfo, Ready, Settings
from accel_advisor.tune.record.outcome import Outcome, Row
from accel_advisor.tune.record.schema import Explanation
from accel_advisor.tune.search.allowance import whole
from accel_advisor.tune.search.diagnosis import diagnose
from accel_advisor.tune.search.purposes import Purpose
from accel_advisor.tune.search.readings import Loop, Readings
from accel_advisor.tune.search.search import BaselineError, Request, Search, block_seconds
from accel_advisor.tune.search.settings import KNOBS, TRAINING_KNOB_NAMES, Limits, prefetch
from accel_advisor.tune.search.statistics import Interval, interval
from accel_advisor.tune.showing.explain import explain
from accel_advisor.tune.target.command import Command
from accel_advisor.tune.trial.interrupts import Interrupts
from accel_advisor.tune.trial.session import Session, Watch
from accel_advisor.tune.trial.trial_errors import NotMeasurable, TrialEnded

TRANSFER_DEVICES = frozenset({"cuda", "xpu"})
"""Devices to which pinned memory and copies that do not block may be recommended: on others they do nothing, or lose
data (pytorch issue 139550)."""
COPIES_SECONDS = 20.0
"""That measuring copies to the accelerator may take, the start of a process included."""
STOP_SECONDS = 1.0
"""Beyond the search's own limit, in seconds, before its trial is ended whatever it does."""
PROBE_SECONDS = 1e-4
"""That the probe takes of a step at most: more than was ever seen (`tiny-steps` of benchmarks/regret)."""
_EXPLAIN_SHARE = 0.15
_SHOWS = 1.05
_NO_LOADER_KNOB = "no knob of the loader was to be turned"
_NOISY = 0.1
_UNEXPLAINED = "where the loader spends its time was not found out"


@dataclass(frozen=True, slots=True)
class Options:
    """What the user asked for; ``budget`` and ``start_timeout`` in seconds. With ``unsafe``, what may change the
    training is applied, too."""

    knobs: frozenset[str] = frozenset(KNOBS)
    budget: float = 60.0
    seed: int = 0
    apply: bool = False
    start_timeout: float = 300.0
    explain: bool = False
    unsafe: bool = False


class TuneError(Exception):
    """There is no answer, and why: one sentence with the remedy. ``traceback`` is the script's own, where it failed."""

    def __init__(self, message: str, traceback: str = "") -> None:
        super().__init__(message)
        self.traceback = traceback


def tune(
    command: Command,
    options: Options,
    *,
    root: Path | None = None,
    watch: Watch = lambda _purpose, _search: None,
    planner: Planner | None = None,
    interrupts: Interrupts | None = None,
) -> Outcome:
    """Runs a trial of ``command`` and says what it found; with ``options.apply`` writes and verifies it.

    Args:
        interrupts: opened by the caller, who is told all that was done then, whenever Ctrl-C comes.

    Raises:
        TrialError: the script could not be measured at all.
        TuneError: its own settings could not be measured.
        KeyboardInterrupt: before there was anything to tell; nothing was changed.
    """
    began, today = time.monotonic(), datetime.now(UTC)
    interrupts = interrupts or Interrupts()
    root, machine = root or command.cwd, inspect_machine()
    with Session(command, deadline=math.inf, start_timeout=options.start_timeout) as session:
        watch("starting the script", None)
        with interrupts.heeded():
            ready = session.start()
        info = ready.loaders[0]
        standing = standing_of(info, root)
        search = Search(
            Loop(info.settings, info.length, ready.device in TRANSFER_DEVICES, not standing.persistence),
            limits_for(machine, info, standing).shared(command.ranks or 1),
            knobs=options.knobs,
            budget=options.budget * (1 - _EXPLAIN_SHARE) if options.explain else options.budget,
            seed=options.seed,
            start=session.start_seconds if options.apply else None,
        )
        end = time.monotonic() + whole(options.budget)
        explained: tuple[Explanation, ...] = ()
        cut = ""
        session.limit(time.monotonic() + search.time.most + STOP_SECONDS)
        try:
            with interrupts.heeded():
                session.run(search, watch)
                if options.explain:
                    watch(Purpose.EXPLANATION, search)
                    explained = _explain(session, search, options, root, ready.device)
        except KeyboardInterrupt:
            pass
        except BaselineError as error:
            raise TuneError(f"the script's own settings could not be measured: {error}") from error
        except NotMeasurable:
            raise
        except TrialEnded as error:
            if not search.readings.references[BASELINE]:
                raise
            cut = error.sentence
    outcome = _outcome(ready, search, root)
    outcome.explained = explained
    outcome.script = display_name(command.script, root) if command.script else f"-m {command.module}"
    if command.ranks is not None:
        outcome.script = f"torchrun --nproc-per-node {command.ranks} {outcome.script}"
    outcome.args, outcome.began, outcome.budget = command.args, today.isoformat(timespec="seconds"), options.budget
    outcome.machine = machine
    if cut:
        outcome.notes.append(f"the search ended early: {cut}")
    if ready.device in TRANSFER_DEVICES and not interrupts.heard:
        watch("copies to the accelerator", search)
        with suppress(KeyboardInterrupt), interrupts.heeded():
            copies = measure(command.python, COPIES_SECONDS)
            outcome.notes.append(copies if isinstance(copies, str) else copies.sentence)
    recommended, found = search.recommended, search.gain
    if recommended is not None and found is not None:
        outcome.recommendation = recommend(
            search.baseline, recommended, found, info.stack, root=root, argv=command.args, planner=planner
        )
        outcome.notes += side_notes(info, search.baseline, recommended, standing)
        times = [search.readings.seconds(settings) for settings in (search.baseline, recommended)]
        outcome.notes += short_steps(*(seconds or 0.0 for seconds in times))
        if options.apply and outcome.recommendation.editable and not interrupts.heard:
            watch("old source against new", search)
            outcome.verification = apply(session, outcome.recommendation, search, end, interrupts)
    else:
        cut_short = interrupts.heard or bool(cut)
        outcome.kept = _kept(search, cut_short) if options.knobs & set(KNOBS) else _NO_LOADER_KNOB
        outcome.notes += barred_notes(info.settings, standing)
    noise = search.readings.noise()
    if noise > _NOISY:
        outcome.notes.append(
            f"readings of the same settings differed by about {100 * noise:.0f} %, so that small gains cannot be seen: "
            "a quiet machine or a longer --budget helps"
        )
    outcome.notes += sorted(session.notes)
    outcome.contained, outcome.leaked = tuple(sorted(session.contained)), tuple(sorted(session.leaked))
    outcome.timeline, outcome.samples, outcome.clock = tuple(session.timeline), tuple(session.samples), session.clock
    outcome.accelerators = accelerators() if outcome.device != "cpu" else ()
    if options.knobs & set(TRAINING_KNOB_NAMES) and not interrupts.heard:
        _turn(command, options, outcome, machine, watch, interrupts)
    outcome.interrupted = interrupts.heard
    outcome.seconds = time.monotonic() - began
    return outcome


def _explain(session: Session, search: Search, options: Options, root: Path, device: str) -> tuple[Explanation, ...]:
    """Where the loader spends its time now, and under what is recommended, in blocks that serve nothing else."""
    seconds = options.budget * _EXPLAIN_SHARE
    session.limit(time.monotonic() + seconds + 2 * STOP_SECONDS)
    wanted: list[tuple[Settings, Settings | str]] = [(search.baseline, BASELINE)]
    if search.recommended is not None:
        wanted.append((search.recommended, search.recommended))
    found = []
    for settings, what in wanted:
        request = Request(what, 8, seconds / len(wanted) / 2, True, Purpose.EXPLANATION, seconds, True)
        try:
            answer = session.answer(request)
        except TrialEnded as error:
            session.notes.add(f"{_UNEXPLAINED}: {error.reason}")
            break
        told = explain(settings, answer.block, root, device) if answer.block is not None else None
        if told is not None:
            found.append(told)
        else:
            session.notes.add(f"{_UNEXPLAINED}: {answer.reason or 'no batch was seen on its way'}")
    return tuple(found)


def _turn(
    command: Command, options: Options, outcome: Outcome, machine: Machine, watch: Watch, interrupts: Interrupts
) -> None:
    """Tries the knobs of the training, against the script as it now is."""
    with Session(command, deadline=math.inf, start_timeout=options.start_timeout, restarts=1) as session:
        turner = Turner(
            session,
            command,
            machine,
            root=outcome.root,
            block=block_seconds(options.budget),
            memory=min((one.memory for one in outcome.accelerators if one.memory), default=None),
            say=lambda words: watch(words, None),
        )
        with suppress(KeyboardInterrupt), interrupts.heeded():
            outcome.turns = try_knobs(turner, options.knobs, write=options.apply and options.unsafe)
        outcome.turns = outcome.turns or turner.turns or Turns(tuple(turner.tried))
    outcome.contained = tuple(sorted({*outcome.contained, *session.contained}))
    outcome.leaked = tuple(sorted({*outcome.leaked, *session.leaked}))


def limits_for(machine: Machine, info: LoaderInfo, standing: Standing) -> Limits:
    """What candidates for a loader may take on a machine."""
    most = standing.most_workers
    return Limits(
        cores=machine.cores,
        memory=machine.memory_free,
        shared_memory=machine.shared_memory_free,
        batch=info.batch_bytes,
        workers=None if most is None else max(most, info.settings.num_workers),
    )


def _outcome(ready: Ready, search: Search, root: Path) -> Outcome:
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
    if readings.references[BASELINE]:
        outcome.diagnosis = diagnose(readings)
    outcome.baseline_rate, outcome.baseline_interval = rows[0].rate, rows[0].interval
    if search.final and search.chosen is not None:
        samples = sum(old.samples for old, _ in search.final) / sum(old.batches for old, _ in search.final)
        old = [readings.charged_itself(search.baseline, block) for block, _ in search.final]
        new = [readings.charged_itself(search.chosen, block) for _, block in search.final]
        outcome.baseline_rate, outcome.recommended_rate = samples / _geometric(old), samples / _geometric(new)
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


def _geometric(values: list[float]) -> float:
    return math.exp(math.fsum(math.log(value) for value in values) / len(values))


def _kept(search: Search, cut: bool) -> str:
    if search.exhausted:
        return search.exhausted
    if cut or search.gain is None:
        return "the search did not come to its end"
    low, high = search.gain.low, search.gain.high
    if high < 1:
        return f"other settings are slower: the best of them run between {low:.2f} and {high:.2f} times as fast"
    return f"the best settings found run between {low:.2f} and {high:.2f} times as fast, no gain beyond doubt"


def side_notes(info: LoaderInfo, old: Settings, new: Settings, standing: Standing) -> list[str]:
    """What a person must know before taking over ``new``."""
    notes = []
    if (old.num_workers == 0) != (new.num_workers == 0) or old.num_workers != new.num_workers:
        notes.append(
            "another number of workers draws other random augmentations, and other orders from the second epoch on, "
            "for the same seed"
        )
    if new.persistent_workers and not old.persistent_workers:
        notes.append(
            "persistent workers keep their copy of the data set: changes to it between epochs do not reach them"
        )
    if new.num_workers > old.num_workers:
        notes += [f"with more workers, {caution}" for caution in standing.cautions]
    notes += barred_notes(new, standing)
    notes += [f"the loader {note}" for note in info.notes if "itertools.cycle" in note]
    if new.num_workers and info.start_method != "fork" and old.num_workers == 0:
        notes.append(f"workers start by {info.start_method}, so the script needs an `if __name__ == '__main__':` guard")
    if new.num_workers or prefetch(new) != prefetch(old):
        notes.append(
            "a trial reads the data from the page cache: where it is larger than memory, a full run waits longer for it"
        )
    return notes


def short_steps(old: float, new: float) -> list[str]:
    """What must be said of a gain from steps that take ``old`` and ``new`` seconds, where the probe's own time in both
    may hide a part of it."""
    if new > PROBE_SECONDS and (old - PROBE_SECONDS) / (new - PROBE_SECONDS) < _SHOWS * old / new:
        return []
    return [
        f"a step takes {1e3 * new:.2g} ms then, so short that measuring takes a part of it: the gain is rather larger "
        "without that"
    ]


def barred_notes(settings: Settings, standing: Standing) -> list[str]:
    """What was not tried because it would change what the training computes."""
    notes = [f"more workers were not tried: {reason}" for reason in standing.workers]
    if settings.num_workers:
        notes += [f"persistent_workers was not tried: {reason}" for reason in standing.persistence]
    return notes
