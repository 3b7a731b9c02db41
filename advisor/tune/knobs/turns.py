"""Turns each knob of the training in processes of its own, against the script as it is, and says what became of it.

A knob must be faster beyond doubt and leave the loss where it was.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import astuple, dataclass, replace
from pathlib import Path
from typing import Any

from accel_advisor.machine.machine import Machine, physical_cores
from accel_advisor.tune.applying import applying
from accel_advisor.tune.applying.rewrite import Rewrite, RewriteError, rewritten
from accel_advisor.tune.knobs.binding import ONE_CORE, Split, no_split, splits
from accel_advisor.tune.knobs.knobs import TURNED, Knob, Setting, patch, shown_statement
from accel_advisor.tune.knobs.runs import AS_IT_IS, HEADROOM, STARTS_A_KNOB, NoRoomError, Run, Runs, moved_by, percent
from accel_advisor.tune.knobs.turned_knobs import Turn, Turns
from accel_advisor.tune.search.judging import BETTER, MOST_PAIRS, no_gain
from accel_advisor.tune.search.verification import Verification
from accel_advisor.tune.target.command import Command
from accel_advisor.tune.trial.interrupts import undisturbed
from accel_advisor.tune.trial.session import Session
from accel_advisor.tune.trial.trial_errors import TrialError

_STEPS = 4  # doublings of a batch
_ANEW = "it changes the training: the learning rate has to be found anew"
_CAUTIONS = {
    "threads": "the number fits this machine: another one may need another",
    "thread_binding": "the cores are those of this machine, and the workers of other loaders run on the training's",
    "autocast": "it trains in bfloat16, which keeps 8 bits of a number: watch a whole training",
    "tf32": "products of float32 matrices keep 10 bits of a number",
    "cudnn_benchmark": "it pays where the shapes of batches stay the same, and runs are no longer alike bit by bit",
    "compile": "every start takes longer, by its warm-up",
    "batch_size": _ANEW,
}


@dataclass(slots=True)
class _Sizes:
    """What is known of larger batches: the largest that pays, and the first for which memory is too small."""

    largest: int | None = None
    full: int | None = None


class Turner:
    """Runs a script with one knob turned, and as it is.

    Args:
        session: of the command; its trials end with every run.
        root: of the project, in which files may be edited.
        memory: bytes that training may take: of the accelerator, else of the machine.
        block: seconds that a block lasts at least.
        say: told what is being done, in words.

    Attributes:
        tried: what became of each knob so far.
        turns: what is written; None where nothing is.
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
        self._runs = Runs(session, memory=memory or machine.memory_total, block=block)
        self.root = root
        self._say = say
        self._sizes = _Sizes()
        self._threads: int | None = None
        self.tried: list[Turn] = []
        self.turns: Turns | None = None

    def turn(self, knob: Knob) -> Turn:
        """Tries a knob with each of its values, and chooses among them; :attr:`tried` keeps what became of it."""
        self._runs.renew()
        self.tried.append(self._turned(knob))
        return self.tried[-1]

    def _turned(self, knob: Knob) -> Turn:
        self._say(knob.name.replace("_", " "))
        try:
            base = self._runs.first()
            refusal = knob.refusal(base.device, base.turned)
            if refusal:
                return Turn(knob.name, _written(knob, None, base.device), refused=refusal)
            if knob.name == "batch_size":
                return self._grow(knob, base)
            if knob.name == "activation_checkpointing":
                return self._recompute(knob, base)
            if knob.name == "thread_binding":
                return self._bind(knob, base)
            values = self._values(knob, base)
            if not values:
                return Turn(knob.name, _written(knob, 1), refused=ONE_CORE)
            tried = {value: self._compared(knob, value, base) for value in values}
        except TrialError as error:
            return Turn(knob.name, _written(knob, None), refused=f"the script could not be run: {error.reason}")
        value, best = min(tried.items(), key=lambda one: _worth(one[1]))
        if knob.name == "threads" and isinstance(value, int) and not best.refused:
            self._threads = value
        return best

    def verify(self, rewrite: Rewrite, turns: Sequence[Turn]) -> Verification:
        """Runs what the knobs that pay make of the source against the source as it is."""
        self._say("the new source against the old")
        self._runs.renew()
        try:
            found, moved, _ = self._runs.race(AS_IT_IS, rewrite.before, rewrite.after, alike=_alike(turns))
        except TrialError as error:
            return Verification(False, None, f"the new source could not be run: {error.reason}")
        if moved.reason:
            return Verification(False, found, moved.reason)
        if found.low <= 1:
            reason = "the gain did not show when old and new source were run against each other"
            return Verification(False, found, reason)
        return Verification(True, found)

    # -- values -------------------------------------------------------------------------------------------------

    def _values(self, knob: Knob, base: Run) -> tuple[Setting, ...]:
        if knob.name != "threads":
            return (None,)
        cores = max(1, int(self._machine.cores))
        counts = {1, max(1, cores // 2), cores} - {base.turned.threads}
        return tuple(sorted(counts, reverse=True))

    def _bind(self, knob: Knob, base: Run) -> Turn:
        """Cores for the training and cores for the workers, against the number of threads that pays without."""
        workers, cores = base.info.settings.num_workers, physical_cores()
        refused = no_split(self._machine, cores, workers)
        if refused:
            return Turn(knob.name, _written(knob, None), refused=refused)
        against = AS_IT_IS if self._threads is None else _plan(_knob("threads"), self._threads, base)
        found = splits(cores, workers, self._threads or base.turned.threads)
        best = min((self._compared(knob, split, base, against) for split in found), key=_worth)
        if self._threads is None:
            return best
        beyond = f"torch.set_num_threads({self._threads}), which pays without it"
        if best.refused:
            return replace(best, refused=f"{best.refused}, against {beyond}")
        return replace(best, caution=f"{best.caution}; the gain is over {beyond}")

    def _grow(self, knob: Knob, base: Run) -> Turn:
        """The largest batch that is faster than a smaller one, as long as memory has room for it."""
        size = base.info.batch_size
        if not size:
            return Turn(knob.name, _written(knob, None), refused="the size of a batch is not known")
        refused = Turn(knob.name, _written(knob, 2 * size), refused="an epoch has too few batches for larger ones")
        return self._doubled(knob, base, 2 * size, AS_IT_IS) or refused

    def _doubled(self, knob: Knob, base: Run, first: int, against: Mapping[str, Any]) -> Turn | None:
        """The largest batch, of ``first`` and its doubles, that is faster than a smaller one; None where an epoch has
        too few of them."""
        best = None
        for value in (first << step for step in range(_STEPS)):
            if base.info.length is not None and base.info.length * base.info.batch_size < 4 * value:
                break
            tried = self._compared(knob, value, base, against)
            if tried.refused or (best is not None and _ratio(tried) < BETTER * _ratio(best)):
                return best or tried
            best = tried
            if knob.name == "batch_size":
                self._sizes.largest = value
        return best

    def _recompute(self, knob: Knob, base: Run) -> Turn:
        """Computing activations again makes a step slower: it is for a memory that ends before larger batches cease to
        pay, or that has no headroom as it is."""
        full, taken = self._sizes.full, self._runs.share(base.turned)
        tight = taken > HEADROOM
        if full is None and not tight:
            reason = f"memory is not the limit: the training takes {percent(taken)} of it, and would only be slower"
            return Turn(knob.name, _written(knob, None), refused=reason)
        larger = self._larger(knob, base, full) if full is not None else None
        if larger is not None and not (larger.refused and tight):
            return larger
        return self._roomier(knob, base)

    def _larger(self, knob: Knob, base: Run, full: int) -> Turn:
        """The batch for which there was no room, against the largest for which there was."""
        setting, size = _written(knob, full), self._sizes.largest or base.info.batch_size
        self._say(f"{knob.name.replace('_', ' ')}: its losses")
        try:
            runs = {new: [self._runs.run(_plan(knob, None, base) if new else AS_IT_IS, {})] for new in (True, False)}
        except TrialError as error:
            return Turn(knob.name, setting, refused=error.reason)
        moved = moved_by(base, runs, alike=True)
        if moved.reason:
            return Turn(knob.name, setting, None, moved.share, refused=moved.reason)
        against = AS_IT_IS if size == base.info.batch_size else _plan(_knob("batch_size"), size, base)
        turn = self._doubled(knob, base, full, against)
        if turn is None:
            return Turn(knob.name, setting, refused="an epoch has too few batches for larger ones")
        turn = replace(turn, loss=moved.share)
        if turn.refused:
            return replace(turn, refused=f"{turn.refused}, against batch_size={size}, which fits without it")
        return replace(turn, caution=f"{_ANEW}; the gain is over batch_size={size}, which fits without it")

    def _roomier(self, knob: Knob, base: Run) -> Turn:
        """The same batch, for the memory that the script has hardly left."""
        turn = Turn(knob.name, _written(knob, None))
        try:
            found, moved, runs = self._runs.race(_plan(knob, None, base), {}, {}, alike=True)
        except TrialError as error:
            return replace(turn, refused=error.reason)
        new, turn = runs[True][0], replace(turn, gain=found, loss=moved.share)
        left, taken = self._runs.share(new.turned), self._runs.share(base.turned)
        if moved.reason or left > HEADROOM:
            refused = moved.reason or f"the training takes {percent(left)} of the memory with it, too"
            return replace(turn, refused=refused)
        done = self._patched(turn, knob, None, base, new)
        if found.wins:
            return done
        caution = f"it is for the memory alone, {percent(left)} instead of {percent(taken)}, and no step is faster"
        remedy = done.remedy or "take over the change if you need the memory, since nothing slower is written"
        return replace(done, edits=(), remedy=remedy, caution=caution)

    # -- runs ---------------------------------------------------------------------------------------------------

    def _compared(self, knob: Knob, value: Setting, base: Run, against: Mapping[str, Any] = AS_IT_IS) -> Turn:
        """A knob with one of its values, against the script as it is or with a plan that was found before."""
        setting = _written(knob, value, base.device)
        self._say(f"{knob.name.replace('_', ' ')}: {setting}")
        plan = _plan(knob, value, base)
        try:
            found, moved, runs = self._runs.race(plan, {}, {}, alike=not _sized(knob, value), against=against)
        except TrialError as error:
            if isinstance(error, NoRoomError) and knob.name == "batch_size" and isinstance(value, int):
                self._sizes.full = value
            return Turn(knob.name, setting, refused=error.reason)
        old = runs[False] if against is not AS_IT_IS else [*runs[False], base]
        new = min(runs[True], key=_start)
        turn = Turn(knob.name, setting, found, moved.share, max(0.0, new.start - min(old, key=_start).start))
        refused = moved.reason or ("" if found.wins else no_gain(found))
        return replace(turn, refused=refused) if refused else self._patched(turn, knob, value, base, new)

    def _patched(self, turn: Turn, knob: Knob, value: Setting, base: Run, new: Run) -> Turn:
        """A turn that pays, with what brings it about in the source."""
        written = patch(knob, value, new.turned, base.info, device=new.device, root=self.root, argv=self._command.args)
        setting = _written(knob, value, new.device, *new.turned.blocks[:1])
        edits, diff, remedy = written.edits, "", written.remedy
        if edits:
            try:
                diff = rewritten(edits, self.root).diff
            except RewriteError as error:
                edits, remedy = (), f"write `{setting}` by hand: {error}"
        caution = _CAUTIONS.get(knob.name, "")
        return replace(turn, setting=setting, edits=edits, diff=diff, remedy=remedy, caution=caution)


def most_starts(names: frozenset[str]) -> int:
    """How often the script is started at most for the knobs of the training among ``names``; 0 where there is none."""
    each = [min(STARTS_A_KNOB, 2 * MOST_PAIRS * knob.values) for knob in TURNED if knob.name in names]
    return 1 + sum(each) + 2 * MOST_PAIRS if each else 0


def run_turns(turner: Turner, names: frozenset[str], *, write: bool) -> Turns:
    """Tries the knobs that are named, then all that pay together; with ``write`` writes these where the gain shows."""
    tried = _superseded(tuple(turner.turn(knob) for knob in TURNED if knob.name in names))
    edits = [edit for turn in tried if not turn.refused for edit in turn.edits]
    verification = None
    try:
        rewrite = rewritten(edits, turner.root)
        if write or sum(bool(turn.edits) for turn in tried) > 1:
            verification = turner.verify(rewrite, tried) if edits else None
        if not write or verification is None or not verification.holds:
            return Turns(tried, rewrite, verification)
        with undisturbed():
            applying.write(rewrite)
            turner.turns = Turns(tried, rewrite, verification, written=True)
    except RewriteError as error:
        return Turns(tried, Rewrite(), Verification(False, verification.gain if verification else None, str(error)))
    return turner.turns


def _alike(turns: Sequence[Turn]) -> bool:
    """Whether what pays leaves the batches as they are, so that losses can be compared."""
    return all(turn.refused or "batch_size=" not in turn.setting for turn in turns)


def _superseded(turns: tuple[Turn, ...]) -> tuple[Turn, ...]:
    """Without what something else brings along, and more: a still larger batch, for which there is room then, or a
    number of threads."""
    pays = [turn for turn in turns if not turn.refused]
    less: dict[str, str] = {}
    sized = [turn for turn in pays if "batch_size=" in turn.setting]
    if len(sized) > 1:
        less[sized[0].name] = f"a larger one pays still more, with {sized[-1].name.replace('_', ' ')}"
    if any(turn.name == "thread_binding" and turn.edits for turn in pays):
        less["threads"] = "threads on cores of their own pay still more, with thread binding"
    return tuple(
        replace(turn, refused=less[turn.name], edits=(), diff="") if turn in pays and turn.name in less else turn
        for turn in turns
    )


def _knob(name: str) -> Knob:
    return next(knob for knob in TURNED if knob.name == name)


def _plan(knob: Knob, value: Setting, base: Run) -> dict[str, Any]:
    plan: dict[str, Any] = {"name": knob.name, "value": value}
    if isinstance(value, Split):
        plan |= {"value": value.threads, "training": value.training, "workers": value.workers}
    if isinstance(value, Split) or _sized(knob, value):
        plan["stack"] = [list(astuple(frame)) for frame in base.info.stack]
    return plan


def _sized(knob: Knob, value: Setting) -> bool:
    """Whether it turns the size of a batch."""
    return knob.name == "batch_size" or (knob.name == "activation_checkpointing" and value is not None)


def _written(knob: Knob, value: Setting, device: str = "cuda", blocks: str = "") -> str:
    shown = shown_statement(knob, value, device, blocks)
    if knob.name == "activation_checkpointing" and value is not None:
        return f"batch_size={value}; {shown}"
    return shown


def _start(run: Run) -> float:
    return run.start


def _worth(turn: Turn) -> tuple[bool, float]:
    """Sorts turns, best first."""
    return bool(turn.refused), -_ratio(turn)


def _ratio(turn: Turn) -> float:
    return turn.gain.ratio if turn.gain is not None else 0.0
