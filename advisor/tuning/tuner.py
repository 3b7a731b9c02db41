"""The whole story: start, search, diagnose, recommend, apply, verify."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from accel_advisor.config import ConfigError
from accel_advisor.editing.fixer import rehearse_writing
from accel_advisor.machine.bandwidth import measure
from accel_advisor.machine.machine import Machine, accelerators, inspect_machine
from accel_advisor.selection import SelectorError
from accel_advisor.tuning.applying.objections import Objections, objections_to
from accel_advisor.tuning.applying.project_code import display_name
from accel_advisor.tuning.applying.rewrite import recommend
from accel_advisor.tuning.applying.verified_rewrite import apply
from accel_advisor.tuning.knobs.knob_trials import KnobTrials, try_knobs
from accel_advisor.tuning.knobs.tried_knobs import TriedKnobs
from accel_advisor.tuning.nodes.lead import Lead
from accel_advisor.tuning.nodes.node_facts import least
from accel_advisor.tuning.plain.plain_story import tune_plain
from accel_advisor.tuning.pricing.measured_prices import measured_prices
from accel_advisor.tuning.probe.channel.plain_loop import PlainLoop
from accel_advisor.tuning.probe.channel.wire import BASELINE, LoaderInfo, Measure, Ready, Settings
from accel_advisor.tuning.racing.fix_races import FixRaces
from accel_advisor.tuning.record.measured_outcome import measured_outcome
from accel_advisor.tuning.record.outcome import Outcome
from accel_advisor.tuning.record.schema import Explanation, Prices
from accel_advisor.tuning.search.allowance import whole
from accel_advisor.tuning.search.conclusion import conclusion
from accel_advisor.tuning.search.purposes import Doing, Purpose, doing
from accel_advisor.tuning.search.readings import Loop
from accel_advisor.tuning.search.search import BaselineError, Request, Search, block_seconds
from accel_advisor.tuning.search.settings import KNOBS, TRAINING_KNOB_NAMES, Limits, describe, fix_rules
from accel_advisor.tuning.search.stops import Stop, Verdict, verdict_of
from accel_advisor.tuning.showing.explain import STARVED, explain
from accel_advisor.tuning.target.command import Command
from accel_advisor.tuning.trial.interrupts import Interrupts
from accel_advisor.tuning.trial.session import Session, Watch
from accel_advisor.tuning.trial.trial_errors import LoaderCame, NodesParted, NotMeasurable, TrialEnded, TrialError
from accel_advisor.tuning.wording.figures import percent
from accel_advisor.tuning.wording.gain_text import gain_notes
from accel_advisor.tuning.wording.nodes_text import nodes_notes
from accel_advisor.tuning.wording.other_work_text import in_sentence
from accel_advisor.tuning.wording.resource_text import scarce, use_text
from accel_advisor.tuning.wording.side_effects import not_tried, short_steps, side_effects

TRANSFER_DEVICES = frozenset({"cuda", "xpu"})
"""Devices to which pinned memory and copies that do not block may be recommended: on others they do nothing, or lose
data (pytorch issue 139550)."""
COPIES_SECONDS = 20.0
"""That measuring copies to the accelerator may take, the start of a process included."""
STOP_SECONDS = 1.0
"""Beyond the search's own limit, in seconds, before its trial is ended whatever it does."""
_STARTING, _STARTING_ANEW, _COPYING = (
    Doing(words, words)
    for words in (
        "starting the script",
        "a loop with a DataLoader comes later: starting the script again, and measuring that one",
        "copies to the accelerator",
    )
)
_LATE_LOADER = "the script trains without a DataLoader first; the loop that was measured comes after that"
_EXPLAIN_SHARE, _LEAST_EXPLAIN_SHARE, _PRICES_SHARE = 0.15, 0.05, 0.15
_NOISY = 0.1
ON_CPU = "fixes were raced on the processor; what a fix saves on an accelerator can be measured on one alone"
_NO_KNOBS = "knobs of the training, and fixes, are tried of loops that take their batches from a DataLoader"
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
    interrupts: Interrupts | None = None,
    lead: Lead | None = None,
) -> Outcome:
    """Runs a trial of ``command`` and says what it found; with ``options.apply`` writes and verifies it.

    Args:
        interrupts: opened by the caller, who gets all that was done then, whenever Ctrl-C comes.
        lead: of the other nodes that the trial takes place on, too.

    Raises:
        TrialError: the script could not be measured at all.
        TuneError: its own settings could not be measured, or the source is to be changed and cannot be written.
        KeyboardInterrupt: before there was anything to report; nothing was changed.
    """
    began, today = time.monotonic(), datetime.now(UTC)
    interrupts = interrupts or Interrupts()
    root, machine = root or command.cwd, inspect_machine()
    if options.apply:
        _check_writing(command, root)
    with Session(command, deadline=math.inf, start_timeout=options.start_timeout, lead=lead) as session:
        watch(_STARTING, None)
        with interrupts.heeded():
            ready = session.start()
        if ready.plain is not None:
            try:
                outcome = _without_loader(session, ready, ready.plain, root, options, watch, interrupts)
            except LoaderCame:
                watch(_STARTING_ANEW, None)
                with interrupts.heeded():
                    ready = session.start_anew()
            else:
                _describe(outcome, command, options, today, machine, lead)
                _close(outcome, session)
                outcome.seconds = time.monotonic() - began
                return outcome
        info = ready.loaders[0]
        objections = objections_to(info, root)
        limits = limits_for(machine, info, objections, pins=ready.device != "cpu")
        search = Search(
            Loop(info.settings, info.length, ready.device in TRANSFER_DEVICES, not objections.persistence),
            (limits if lead is None else least(limits, lead.nodes)).shared(command.ranks or 1),
            knobs=options.knobs,
            budget=options.budget * (1 - _EXPLAIN_SHARE - _PRICES_SHARE) if options.explain else options.budget,
            seed=options.seed,
            start=session.start_seconds if options.apply else None,
        )
        end = time.monotonic() + whole(options.budget)
        explained: tuple[Explanation, ...] = ()
        prices: Prices | None = None
        cut = ""
        session.limit(time.monotonic() + search.time.most + STOP_SECONDS)
        try:
            with interrupts.heeded():
                session.run(search, watch)
                if options.explain:
                    watch(doing(Purpose.PRICES, search.baseline), search)
                    prices = measured_prices(session, options.budget * _PRICES_SHARE, root, ready.device)
                seconds = _explanation_seconds(search, options)
                if seconds:
                    watch(doing(Purpose.EXPLANATION, search.baseline), search)
                    explained = _explain(session, search, seconds, root, ready.device)
        except KeyboardInterrupt:
            pass
        except BaselineError as error:
            raise TuneError(f"the script's own settings could not be measured: {error}") from error
        except (NotMeasurable, NodesParted):
            raise
        except TrialEnded as error:
            if not search.readings.references[BASELINE]:
                raise
            cut = error.sentence
    outcome = measured_outcome(ready, search, root)
    outcome.late_loader = session.awaits_loader
    outcome.notes += [_LATE_LOADER] if outcome.late_loader else []
    outcome.explained, outcome.prices = explained, prices
    _describe(outcome, command, options, today, machine, lead)
    if ready.device in TRANSFER_DEVICES and not interrupts.heard:
        watch(_COPYING, search)
        with suppress(KeyboardInterrupt), interrupts.heeded():
            copies = measure(command.python, COPIES_SECONDS)
            outcome.notes.append(copies if isinstance(copies, str) else copies.sentence)
    recommended, found = search.recommended, search.gain
    if cut and found is not None:
        outcome.notes.append(f"the search ended early: {cut}")
    outcome.notes += gain_notes(search.excess if recommended is not None else None, search.overtime, options.budget)
    if recommended is not None and found is not None:
        outcome.recommendation = recommend(
            search.baseline, recommended, found, info.stack, root=root, argv=command.args
        )
        outcome.use = search.limits.use(recommended).of(command.ranks or 1)
        outcome.notes += scarce(outcome.use)
        outcome.notes += side_effects(info, search.baseline, recommended, objections)
        times = [search.readings.seconds(settings) for settings in (search.baseline, recommended)]
        outcome.notes += short_steps(*(seconds or 0.0 for seconds in times))
        if options.apply and outcome.recommendation.editable and not interrupts.heard:
            verifying = f"old source against new: {describe(recommended)} takes {use_text(outcome.use)}"
            watch(Doing(verifying, verifying), search)
            outcome.verification = apply(session, outcome.recommendation, search, end, interrupts)
    else:
        ended = conclusion(search, why=cut, interrupted=interrupts.heard)
        outcome.kept = ended if options.knobs & set(KNOBS) else Stop.NO_KNOB
        outcome.notes += not_tried(info.settings, objections)
    noise = search.readings.noise()
    if noise > _NOISY:
        said = f"readings of the same settings differed by about {percent(noise)}, so that small gains cannot be seen"
        undecided = outcome.kept is not None and verdict_of(outcome.kept) is Verdict.UNDECIDED  # which says what helps
        outcome.notes.append(said if undecided else f"{said}: a quiet machine or a longer --budget helps")
    _close(outcome, session)
    if options.knobs & set(TRAINING_KNOB_NAMES) and not interrupts.heard:
        _turn(command, options, outcome, machine, watch, interrupts)
    if fix_rules(options.knobs) is not None and not interrupts.heard:
        _race(command, options, outcome, machine, watch, interrupts)
    outcome.interrupted = interrupts.heard
    outcome.seconds = time.monotonic() - began
    return outcome


def _without_loader(
    session: Session,
    ready: Ready,
    loop: PlainLoop,
    root: Path,
    options: Options,
    watch: Watch,
    interrupts: Interrupts,
) -> Outcome:
    """What there is to say of a loop that takes its batches from no loader.

    Raises:
        LoaderCame: the loop is over, and one with a loader has begun.
    """
    outcome = tune_plain(
        session,
        ready,
        loop,
        root,
        budget=options.budget,
        seed=options.seed,
        watch=lambda purpose, what: watch(doing(purpose, what), None),
        interrupts=interrupts,
    )
    session.close()
    if options.knobs & set(TRAINING_KNOB_NAMES) or fix_rules(options.knobs) is not None:
        outcome.notes.append(_NO_KNOBS)
    outcome.interrupted = interrupts.heard
    return outcome


def _describe(
    outcome: Outcome, command: Command, options: Options, today: datetime, machine: Machine, lead: Lead | None
) -> None:
    """Says what ran, when and where."""
    outcome.script = display_name(command.script, outcome.root) if command.script else f"-m {command.module}"
    if command.ranks is not None:
        nodes = "" if lead is None else f"--nnodes {len(lead.nodes)} "
        outcome.script = f"torchrun {nodes}--nproc-per-node {command.ranks} {outcome.script}"
    outcome.nodes = () if lead is None else lead.nodes
    outcome.args, outcome.began, outcome.budget = command.args, today.isoformat(timespec="seconds"), options.budget
    outcome.machine = machine


def _close(outcome: Outcome, session: Session) -> None:
    """Notes what a session left, which is closed."""
    outcome.notes += [*sorted(session.notes), *nodes_notes(outcome.nodes, written=outcome.verified is True)]
    outcome.contained, outcome.leaked = tuple(sorted(session.contained)), tuple(sorted(session.leaked))
    outcome.timeline, outcome.samples, outcome.clock = tuple(session.timeline), tuple(session.samples), session.clock
    outcome.accelerators = accelerators() if outcome.device != "cpu" else ()
    if outcome.other_work and not in_sentence(outcome.kept):
        outcome.notes.append(f"{outcome.other_work}: without it, figures and best settings may be others")


def _check_writing(command: Command, root: Path) -> None:
    """Whether the script could be replaced: nobody wants to wait for a change that cannot be written."""
    path = command.file
    try:
        rehearse_writing(path)
    except OSError as error:
        raise TuneError(
            f"{display_name(path, root)} cannot be written ({error.strerror or error}), so --apply would have nowhere "
            "to put the change: without --apply it is shown"
        ) from error


def _explanation_seconds(search: Search, options: Options) -> float:
    """How long to look where the loader spends its time; 0 where that was not asked for, and the best settings leave
    little waiting. What is left of the budget is spent on it then, and a little more where nothing is."""
    seconds = options.budget * _EXPLAIN_SHARE
    if options.explain:
        return seconds
    if not options.knobs & set(KNOBS) or search.readings.starved(search.recommended or search.baseline) <= STARVED:
        return 0.0
    return min(seconds, max(_LEAST_EXPLAIN_SHARE * options.budget, search.time.limit - search.spent))


def _explain(session: Session, search: Search, seconds: float, root: Path, device: str) -> tuple[Explanation, ...]:
    """Where the loader spends its time now, and under what is recommended, in blocks that serve nothing else."""
    session.limit(time.monotonic() + seconds + 2 * STOP_SECONDS)
    wanted: list[tuple[Settings, Settings | str]] = [(search.baseline, BASELINE)]
    if search.recommended is not None:
        wanted.append((search.recommended, search.recommended))
    found = []
    for settings, what in wanted:
        request = Request(Measure(what, 8, seconds / len(wanted) / 2, True, seconds, watch=True), Purpose.EXPLANATION)
        try:
            answer = session.answer(request)
        except TrialEnded as error:
            session.notes.add(f"{_UNEXPLAINED}: {error.reason}")
            break
        shown = explain(settings, answer.block, root, device) if answer.block is not None else None
        if shown is not None:
            found.append(shown)
        else:
            session.notes.add(f"{_UNEXPLAINED}: {answer.reason or 'no batch was seen on its way'}")
    return tuple(found)


def _turn(
    command: Command, options: Options, outcome: Outcome, machine: Machine, watch: Watch, interrupts: Interrupts
) -> None:
    """Tries the knobs of the training, against the script as it now is."""
    with _further(command, options, outcome) as session:
        trials = KnobTrials(
            session,
            command,
            machine,
            root=outcome.root,
            block=block_seconds(options.budget),
            memory=_device_memory(outcome),
            say=lambda words: watch(Doing(words, "trying knobs of the training"), None),
        )
        with suppress(KeyboardInterrupt), interrupts.heeded():
            outcome.turns = try_knobs(trials, options.knobs, write=options.apply and options.unsafe)
        outcome.turns = outcome.turns or trials.written or TriedKnobs(tuple(trials.tried))


def _race(
    command: Command, options: Options, outcome: Outcome, machine: Machine, watch: Watch, interrupts: Interrupts
) -> None:
    """Races the fixes of lint, against the script as it now is."""
    with _further(command, options, outcome) as session:
        races = FixRaces(
            session,
            root=outcome.root,
            rules=fix_rules(options.knobs) or (),
            memory=_device_memory(outcome) or machine.memory_total,
            block=block_seconds(options.budget),
            say=lambda words: watch(Doing(words, "racing fixes of lint"), None),
        )
        try:
            with suppress(KeyboardInterrupt), interrupts.heeded():
                races.run(safe=options.apply, unsafe=options.apply and options.unsafe)
        except (TrialError, ConfigError, SelectorError) as error:
            outcome.notes.append(f"fixes of lint were not raced: {str(error).rstrip('.')}")
        outcome.fixes = races.result
    if outcome.device == "cpu" and any(not one.pays for one in outcome.fixes.raced):
        outcome.notes.append(ON_CPU)


@contextmanager
def _further(command: Command, options: Options, outcome: Outcome) -> Iterator[Session]:
    """More runs of the script, whose traces are those of the outcome."""
    with Session(
        command,
        deadline=math.inf,
        start_timeout=options.start_timeout,
        restarts=1,
        awaits_loader=outcome.late_loader,
    ) as session:
        yield session
    outcome.contained = tuple(sorted({*outcome.contained, *session.contained}))
    outcome.leaked = tuple(sorted({*outcome.leaked, *session.leaked}))


def _device_memory(outcome: Outcome) -> int | None:
    return min((one.memory for one in outcome.accelerators if one.memory), default=None)


def limits_for(machine: Machine, info: LoaderInfo, objections: Objections, *, pins: bool = False) -> Limits:
    """What candidates for a loader may take on a machine; ``pins`` where pinning memory has an effect there."""
    most = objections.most_workers
    return Limits(
        cores=machine.cores,
        memory=machine.memory_free,
        shared_memory=machine.shared_memory_free,
        batch=info.batch_bytes,
        workers=None if most is None else max(most, info.settings.num_workers),
        pins=pins,
    )
