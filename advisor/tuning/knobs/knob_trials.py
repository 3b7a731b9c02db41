"""Tries each knob of the training in processes of its own, against the script as it is, and says what became of it.

A knob must be faster beyond doubt and leave the loss where it was.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from accel_advisor.machine.machine import Machine, physical_cores
from accel_advisor.tuning.applying import rewrite_on_disk
from accel_advisor.tuning.applying.rewrite import Rewrite, RewriteError, rewritten
from accel_advisor.tuning.knobs.source_patch import patch
from accel_advisor.tuning.knobs.tried_knobs import TriedKnob, TriedKnobs
from accel_advisor.tuning.knobs.whole_runs import (
    AS_IT_IS,
    HEADROOM,
    NOTHING,
    STARTS_A_KNOB,
    NoRoomError,
    WholeRun,
    WholeRuns,
    moved_by,
    verified,
)
from accel_advisor.tuning.probe.knobs.batch_size_knob import TOO_FEW
from accel_advisor.tuning.probe.knobs.knob import Knob, Situation
from accel_advisor.tuning.probe.knobs.training_knobs import TRAINING_KNOBS, Plan
from accel_advisor.tuning.search.paired_runs import BETTER, MOST_PAIRS, no_gain
from accel_advisor.tuning.search.verification import Verification
from accel_advisor.tuning.target.command import Command
from accel_advisor.tuning.trial.interrupts import undisturbed
from accel_advisor.tuning.trial.session import Session
from accel_advisor.tuning.trial.trial_errors import TrialError
from accel_advisor.tuning.wording.figures import percent


class KnobTrials:
    """Runs a script with one knob turned, and as it is.

    Args:
        session: of the command; its trials end with every run.
        root: of the project, in which files may be edited.
        memory: bytes that training may take: of the accelerator, else of the machine.
        block: seconds that a block lasts at least.
        say: called with what is being done, in words.

    Attributes:
        tried: what became of each knob so far.
        written: what stands in the source; None where nothing is.
    """

    def __init__(
        self,
        session: Session,
        command: Command,
        machine: Machine,
        *,
        root: Path,
        block: float,
        memory: int | None = None,
        say: Callable[[str], None] = lambda _words: None,
    ) -> None:
        self._command = command
        self._machine = machine
        self._runs = WholeRuns(session, memory=memory or machine.memory_total, block=block)
        self.root = root
        self._say = say
        self._paid: dict[type[Knob], Knob] = {}
        self._no_room: dict[type[Knob], Knob] = {}
        self.tried: list[TriedKnob] = []
        self.written: TriedKnobs | None = None

    def try_knob(self, kind: type[Knob]) -> TriedKnob:
        """Tries a knob with each of its values, and chooses among them; :attr:`tried` keeps what became of it."""
        self._runs.renew()
        self.tried.append(self._tried(kind))
        return self.tried[-1]

    def _tried(self, kind: type[Knob]) -> TriedKnob:
        self._say(_spoken(kind))
        try:
            base = self._runs.first()
            situation = self._situation(base)
            refusal = kind.refusal(situation)
            if refusal:
                return TriedKnob(kind(), kind().shown(base.device), refused=refusal)
            if kind.makes_room_for is not None:
                result = self._make_room(kind, kind.makes_room_for, situation, base)
            else:
                result = self._best(kind, situation, base)
        except TrialError as error:
            return TriedKnob(kind(), kind().shown(), refused=f"the script could not be run: {error.reason}")
        if not result.refused:
            self._paid[kind] = result.knob
        return result

    def verify(self, rewrite: Rewrite, results: Sequence[TriedKnob]) -> Verification:
        """Runs what the knobs that pay make of the source against the source as it is."""
        self._say("the new source against the old")
        alike = all(result.refused or result.knob.new_batch_size is None for result in results)
        return verified(self._runs, rewrite, alike=alike)

    # -- values -------------------------------------------------------------------------------------------------

    def _situation(self, base: WholeRun) -> Situation:
        return Situation(
            base.device,
            base.turned,
            base.info,
            cores=max(1, int(self._machine.cores)),
            physical=physical_cores(),
            shares_cores=self._machine.shares_cores,
            paid=self._paid,
            no_room=self._no_room,
        )

    def _best(self, kind: type[Knob], situation: Situation, base: WholeRun) -> TriedKnob:
        """The best of a knob's values, against the knobs that it turns, too, where these pay by themselves."""
        known = next((self._paid[one] for one in kind.brings if one in self._paid), None)
        values = kind.values(situation)
        if kind.climbs:
            best = self._climbed(values, base, known)
        else:
            best = min((self._compared(knob, base, known) for knob in values), key=_worth)
        return best if known is None else _against(best, f"{known.shown()}, which pays without it")

    def _climbed(self, values: Sequence[Knob], base: WholeRun, known: Knob | None) -> TriedKnob:
        """The last of some values that is better than the one before."""
        best = None
        for knob in values:
            tried = self._compared(knob, base, known)
            if tried.refused or (best is not None and _ratio(tried) < BETTER * _ratio(best)):
                return best or tried
            best = tried
        assert best is not None
        return best

    def _make_room(self, kind: type[Knob], other: type[Knob], situation: Situation, base: WholeRun) -> TriedKnob:
        """A knob that makes a step slower is for a memory that ends before larger values of another one cease to pay,
        or that has no headroom as it is."""
        taken = self._runs.share(base.turned)
        tight = taken > HEADROOM
        if other not in self._no_room and not tight:
            reason = f"memory is not the limit: the training takes {percent(taken)} of it, and would only be slower"
            return TriedKnob(kind(), kind().shown(), refused=reason)
        larger = self._larger(kind, other, situation, base) if other in self._no_room else None
        if larger is not None and not (larger.refused and tight):
            return larger
        return self._roomier(kind(), base)

    def _larger(self, kind: type[Knob], other: type[Knob], situation: Situation, base: WholeRun) -> TriedKnob:
        """The batch for which there was no room, against the largest for which there was."""
        values, known = kind.values(situation), self._paid.get(other)
        knob = values[0] if values else kind()
        result = TriedKnob(knob, knob.shown())
        self._say(f"{_spoken(kind)}: its losses")
        try:
            runs = {new: [self._runs.run(_plan(kind(), base) if new else AS_IT_IS, NOTHING)] for new in (True, False)}
        except TrialError as error:
            return replace(result, refused=error.reason)
        moved = moved_by(base, runs, alike=True)
        if moved.reason:
            return replace(result, loss=moved.share, refused=moved.reason)
        if not values:
            return replace(result, refused=TOO_FEW)
        result = replace(self._climbed(values, base, known), loss=moved.share)
        size = base.info.batch_size if known is None else known.new_batch_size
        beyond = f"batch_size={size}, which fits without it"
        return _against(result if result.refused else replace(result, caution=other.caution), beyond)

    def _roomier(self, knob: Knob, base: WholeRun) -> TriedKnob:
        """The same batch, for the memory that the script has hardly left."""
        result = TriedKnob(knob, knob.shown())
        try:
            found, moved, runs = self._runs.race(_plan(knob, base), alike=True)
        except TrialError as error:
            return replace(result, refused=error.reason)
        new, result = runs[True][0], replace(result, gain=found, loss=moved.share)
        left, taken = self._runs.share(new.turned), self._runs.share(base.turned)
        if moved.reason or left > HEADROOM:
            refused = moved.reason or f"the training takes {percent(left)} of the memory with it, too"
            return replace(result, refused=refused)
        done = self._patched(result, base, new)
        if found.wins:
            return done
        caution = f"it is for the memory alone, {percent(left)} instead of {percent(taken)}, and no step is faster"
        remedy = done.remedy or "take over the change if you need the memory, since nothing slower is written"
        return replace(done, edits=(), remedy=remedy, caution=caution)

    # -- runs ---------------------------------------------------------------------------------------------------

    def _compared(self, knob: Knob, base: WholeRun, known: Knob | None = None) -> TriedKnob:
        """A knob as it is turned, against the script as it is or with one that was found to pay."""
        result = TriedKnob(knob, knob.shown(base.device))
        self._say(f"{_spoken(type(knob))}: {result.setting}")
        against = AS_IT_IS if known is None else _plan(known, base)
        try:
            found, moved, runs = self._runs.race(_plan(knob, base), alike=knob.new_batch_size is None, against=against)
        except NoRoomError as error:
            self._no_room[type(knob)] = knob
            return replace(result, refused=error.reason)
        except TrialError as error:
            return replace(result, refused=error.reason)
        old = runs[False] if known is not None else [*runs[False], base]
        new = min(runs[True], key=_start)
        warm_up = max(0.0, new.start - min(old, key=_start).start)
        result = replace(result, gain=found, loss=moved.share, warm_up=warm_up)
        refused = moved.reason or ("" if found.wins else no_gain(found))
        return replace(result, refused=refused) if refused else self._patched(result, base, new)

    def _patched(self, result: TriedKnob, base: WholeRun, new: WholeRun) -> TriedKnob:
        """A knob that pays, with what brings it about in the source."""
        knob = result.knob
        written = patch(knob, new.turned, base.info, device=new.device, root=self.root, argv=self._command.args)
        setting = knob.shown(new.device, *new.turned.blocks[:1])
        edits, diff, remedy = written.edits, "", written.remedy
        if edits:
            try:
                diff = rewritten(edits, self.root).diff
            except RewriteError as error:
                edits, remedy = (), f"write `{setting}` by hand: {error}"
        return replace(result, setting=setting, edits=edits, diff=diff, remedy=remedy, caution=knob.caution)


def most_starts(names: frozenset[str]) -> int:
    """How often the script is started at most for the knobs of the training among ``names``; 0 where there is none."""
    runs = 2 * MOST_PAIRS
    each = [min(STARTS_A_KNOB, runs * kind.most_values) for kind in TRAINING_KNOBS if kind.name in names]
    return 1 + sum(each) + runs if each else 0


def try_knobs(trials: KnobTrials, names: frozenset[str], *, write: bool) -> TriedKnobs:
    """Tries the knobs that are named, then all that pay together; with ``write`` writes these where the gain shows."""
    tried = superseded(tuple(trials.try_knob(kind) for kind in TRAINING_KNOBS if kind.name in names))
    edits = [edit for result in tried if not result.refused for edit in result.edits]
    verification = None
    try:
        rewrite = rewritten(edits, trials.root)
        if write or sum(bool(result.edits) for result in tried) > 1:
            verification = trials.verify(rewrite, tried) if edits else None
        if not write or verification is None or not verification.holds:
            return TriedKnobs(tried, rewrite, verification)
        with undisturbed():
            rewrite_on_disk.write(rewrite)
            trials.written = TriedKnobs(tried, rewrite, verification, written=True)
    except RewriteError as error:
        return TriedKnobs(
            tried, Rewrite(), Verification(False, verification.gain if verification else None, str(error))
        )
    return trials.written


def superseded(results: tuple[TriedKnob, ...]) -> tuple[TriedKnob, ...]:
    """Without what something else brings along, and more: a still larger batch, for which there is room then, or what a
    knob turns, too."""
    pays = [result for result in results if not result.refused]
    better: dict[type[Knob], str] = {}
    sized = [result for result in pays if result.knob.new_batch_size is not None]
    if len(sized) > 1:
        better[type(sized[0].knob)] = f"a larger one pays still more, with {_spoken(type(sized[-1].knob))}"
    for result in pays:
        if result.edits:
            for kind, reason in result.knob.brings.items():
                better[kind] = f"{reason}, with {_spoken(type(result.knob))}"
    return tuple(
        result
        if result.refused or type(result.knob) not in better
        else replace(result, refused=better[type(result.knob)], edits=(), diff="")
        for result in results
    )


def _plan(knob: Knob, base: WholeRun) -> Plan:
    return Plan(knob, base.info.stack)


def _against(result: TriedKnob, beyond: str) -> TriedKnob:
    """A knob whose gain is not over the script as it is."""
    if result.refused:
        return replace(result, refused=f"{result.refused}, against {beyond}")
    return replace(result, caution=f"{result.caution}; the gain is over {beyond}")


def _spoken(kind: type[Knob]) -> str:
    return kind.name.replace("_", " ")


def _start(run: WholeRun) -> float:
    return run.start


def _worth(result: TriedKnob) -> tuple[bool, float]:
    """Sorts what was tried, best first."""
    return bool(result.refused), -_ratio(result)


def _ratio(result: TriedKnob) -> float:
    return result.gain.ratio if result.gain is not None else 0.0
