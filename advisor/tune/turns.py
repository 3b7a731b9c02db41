"""Turns each knob of the training in processes of its own, against the script as it is, and says what became of it.

Whole runs take turns (new, old, old, new), each from the same seed; only blocks behind a warm-up count. A knob must be
faster beyond doubt and leave the loss where it was. How often a knob may start the script is bounded.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import astuple, dataclass, replace
from pathlib import Path
from typing import Any

from ..machine import Machine
from . import applying
from .interrupts import undisturbed
from .judging import BETTER, MOST_PAIRS, judged, no_gain
from .knobs import TURNED, Knob, Setting, patch, shown_statement
from .losses import Moved, compare, finite
from .outcome import Turn, Turns, Verification
from .probe.wire import BASELINE, LoaderInfo, Turned
from .rewrite import Rewrite, RewriteError, rewritten
from .search import Request
from .session import Session
from .statistics import Interval
from .trial import Command, TrialError

PURPOSE = "a knob of the training"
BLOCKS = 3
"""Blocks of a run that count; one more goes before them."""
STARTS = 8
"""Blocks of a run may take so many times as long as a start, in which there are some steps, too."""
STARTS_A_KNOB = 24
"""Starts of the script that one knob may take, whatever its values."""
_NONE: Mapping[str, Any] = {"name": ""}
_HEADROOM = 0.8  # of the memory
_STEPS = 4  # doublings of a batch
_MORE = 1.02  # of the script's own memory: less is no more of it
_OUT_OF_MEMORY = re.compile(r"out of memory|OutOfMemory|allocate memory|MemoryError|SIGKILL")
_ANEW = "it changes the training: the learning rate has to be found anew"
_CAUTIONS = {
    "threads": "the number fits this machine: another one may need another",
    "thread_binding": "workers of a loader that are forked run on the core of the process that forks them",
    "autocast": "it trains in bfloat16, which keeps 8 bits of a number: watch a whole training",
    "tf32": "products of float32 matrices keep 10 bits of a number",
    "cudnn_benchmark": "it pays where the shapes of batches stay the same, and runs are no longer alike bit by bit",
    "compile": "every start takes longer, by its warm-up",
    "batch_size": _ANEW,
}
_ORDER = (True, False, False, True)


@dataclass(frozen=True, slots=True)
class _Run:
    """One run: seconds a sample in its blocks, seconds until it was warm, and what it told at its end."""

    times: list[float]
    start: float
    info: LoaderInfo
    device: str
    turned: Turned


@dataclass(slots=True)
class _Sizes:
    """What is known of larger batches: the largest that pays, and the first for which memory is too small."""

    largest: int | None = None
    full: int | None = None


class _NoRoomError(TrialError):
    """Memory is too small for what was tried."""


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
        self._session = session
        self._command = command
        self._cores = max(1, int(machine.cores))
        self._memory = memory or machine.memory_total
        self.root = root
        self._block = block
        self._say = say
        self._base: _Run | None = None
        self._sizes = _Sizes()
        self._starts = STARTS_A_KNOB
        self.tried: list[Turn] = []
        self.turns: Turns | None = None

    def turn(self, knob: Knob) -> Turn:
        """Tries a knob with each of its values, and chooses among them; :attr:`tried` keeps what became of it."""
        self._starts = STARTS_A_KNOB
        self.tried.append(self._turned(knob))
        return self.tried[-1]

    def _turned(self, knob: Knob) -> Turn:
        self._say(knob.name.replace("_", " "))
        try:
            base = self._first()
            refusal = knob.refusal(base.device, base.turned)
            if refusal:
                return Turn(knob.name, _written(knob, None, base.device), refused=refusal)
            if knob.name == "batch_size":
                return self._grow(knob, base)
            if knob.name == "activation_checkpointing":
                return self._recompute(knob, base)
            values = self._values(knob, base)
            if not values:
                return Turn(knob.name, _written(knob, 1), refused="there is one core, and one thread on it")
            tried = [self._compared(knob, value, base) for value in values]
        except TrialError as error:
            return Turn(knob.name, _written(knob, None), refused=f"the script could not be run: {error.reason}")
        return min(tried, key=lambda turn: (bool(turn.refused), -_ratio(turn)))

    def verify(self, rewrite: Rewrite, turns: Sequence[Turn]) -> Verification:
        """Runs what the knobs that pay make of the source against the source as it is."""
        self._say("the new source against the old")
        self._starts = STARTS_A_KNOB
        try:
            found, moved, _ = self._race(_NONE, rewrite.before, rewrite.after, alike=_alike(turns))
        except TrialError as error:
            return Verification(False, None, f"the new source could not be run: {error.reason}")
        if moved.reason:
            return Verification(False, found, moved.reason)
        if found.low <= 1:
            reason = "the gain did not show when old and new source were run against each other"
            return Verification(False, found, reason)
        return Verification(True, found)

    # -- values -------------------------------------------------------------------------------------------------

    def _values(self, knob: Knob, base: _Run) -> tuple[Setting, ...]:
        if knob.name != "threads":
            return (None,)
        counts = {1, max(1, self._cores // 2), self._cores} - {base.turned.threads}
        return tuple(sorted(counts, reverse=True))

    def _grow(self, knob: Knob, base: _Run) -> Turn:
        """The largest batch that is faster than a smaller one, as long as memory has room for it."""
        size = base.info.batch_size
        if not size:
            return Turn(knob.name, _written(knob, None), refused="the size of a batch is not known")
        refused = Turn(knob.name, _written(knob, 2 * size), refused="an epoch has too few batches for larger ones")
        return self._doubled(knob, base, 2 * size, _NONE) or refused

    def _doubled(self, knob: Knob, base: _Run, first: int, against: Mapping[str, Any]) -> Turn | None:
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

    def _recompute(self, knob: Knob, base: _Run) -> Turn:
        """Computing activations again makes a step slower: it is for a memory that ends before larger batches cease to
        pay, or that has no headroom as it is."""
        full, taken = self._sizes.full, self._share(base.turned)
        tight = taken > _HEADROOM
        if full is None and not tight:
            reason = f"memory is not the limit: the training takes {_percent(taken)} of it, and would only be slower"
            return Turn(knob.name, _written(knob, None), refused=reason)
        larger = self._larger(knob, base, full) if full is not None else None
        if larger is not None and not (larger.refused and tight):
            return larger
        return self._roomier(knob, base)

    def _larger(self, knob: Knob, base: _Run, full: int) -> Turn:
        """The batch for which there was no room, against the largest for which there was."""
        setting, size = _written(knob, full), self._sizes.largest or base.info.batch_size
        self._say(f"{knob.name.replace('_', ' ')}: its losses")
        try:
            runs = {new: [self._run(_plan(knob, None, base) if new else _NONE, {}, BLOCKS)] for new in (True, False)}
        except TrialError as error:
            return Turn(knob.name, setting, refused=error.reason)
        moved = _moved(base, runs, alike=True)
        if moved.reason:
            return Turn(knob.name, setting, None, moved.share, refused=moved.reason)
        against = _NONE if size == base.info.batch_size else _plan(_knob("batch_size"), size, base)
        turn = self._doubled(knob, base, full, against)
        if turn is None:
            return Turn(knob.name, setting, refused="an epoch has too few batches for larger ones")
        turn = replace(turn, loss=moved.share)
        if turn.refused:
            return replace(turn, refused=f"{turn.refused}, against batch_size={size}, which fits without it")
        return replace(turn, caution=f"{_ANEW}; the gain is over batch_size={size}, which fits without it")

    def _roomier(self, knob: Knob, base: _Run) -> Turn:
        """The same batch, for the memory that the script has hardly left."""
        turn = Turn(knob.name, _written(knob, None))
        try:
            found, moved, runs = self._race(_plan(knob, None, base), {}, {}, alike=True)
        except TrialError as error:
            return replace(turn, refused=error.reason)
        new, turn = runs[True][0], replace(turn, gain=found, loss=moved.share)
        left, taken = self._share(new.turned), self._share(base.turned)
        if moved.reason or left > _HEADROOM:
            refused = moved.reason or f"the training takes {_percent(left)} of the memory with it, too"
            return replace(turn, refused=refused)
        done = self._patched(turn, knob, None, base, new)
        if found.wins:
            return done
        caution = f"it is for the memory alone, {_percent(left)} instead of {_percent(taken)}, and no step is faster"
        remedy = done.remedy or "take over the change if you need the memory, since nothing slower is written"
        return replace(done, edits=(), remedy=remedy, caution=caution)

    # -- runs ---------------------------------------------------------------------------------------------------

    def _compared(self, knob: Knob, value: Setting, base: _Run, against: Mapping[str, Any] = _NONE) -> Turn:
        """A knob with one of its values, against the script as it is or with a plan that was found before."""
        setting = _written(knob, value, base.device)
        self._say(f"{knob.name.replace('_', ' ')}: {setting}")
        plan = _plan(knob, value, base)
        try:
            found, moved, runs = self._race(plan, {}, {}, alike="stack" not in plan, against=against)
        except TrialError as error:
            if isinstance(error, _NoRoomError) and knob.name == "batch_size":
                self._sizes.full = value
            return Turn(knob.name, setting, refused=error.reason)
        old = runs[False] if against is not _NONE else [*runs[False], base]
        new = min(runs[True], key=_start)
        turn = Turn(knob.name, setting, found, moved.share, max(0.0, new.start - min(old, key=_start).start))
        refused = moved.reason or ("" if found.wins else no_gain(found))
        return replace(turn, refused=refused) if refused else self._patched(turn, knob, value, base, new)

    def _patched(self, turn: Turn, knob: Knob, value: Setting, base: _Run, new: _Run) -> Turn:
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

    def _race(
        self,
        knob: Mapping[str, Any],
        before: Mapping[Path, bytes],
        after: Mapping[Path, bytes],
        *,
        alike: bool,
        against: Mapping[str, Any] = _NONE,
    ) -> tuple[Interval, Moved, dict[bool, list[_Run]]]:
        """New, old, old, new; where that does not settle it the same again, the other way round.

        Raises:
            TrialError: either side could not be run.
        """
        base = self._first()
        runs: dict[bool, list[_Run]] = {False: [], True: []}
        pairs: list[tuple[list[float], list[float]]] = []
        for number, new in enumerate((*_ORDER, *(not new for new in _ORDER))):
            plan, sources = (knob, after) if new else (against, before)
            runs[new].append(self._run(plan, sources, BLOCKS))
            if new:
                self._check_room(runs[new][-1].turned, base.turned)
            if number % 2:
                pairs.append((runs[False][-1].times, runs[True][-1].times))
                found, settled = judged(pairs)
                moved = _moved(base, runs, alike=alike)
                if settled or moved.reason:
                    break
        return found, moved, runs

    def _first(self) -> _Run:
        if self._base is None:
            self._base = self._run(_NONE, {}, BLOCKS)
        return self._base

    def _run(self, knob: Mapping[str, Any], sources: Mapping[Path, bytes], blocks: int) -> _Run:
        session = self._session
        if not self._starts:
            raise TrialError(f"it was not settled after {STARTS_A_KNOB} starts of the script")
        self._starts -= 1
        longest = session.start_timeout + STARTS * session.start_seconds + 10 * (blocks + 1) * self._block
        session.renew(time.monotonic() + longest)
        session.knob, session.sources = knob, sources
        began = time.monotonic()
        times = []
        try:
            ready = session.start()
            start = time.monotonic() - began
            for number in range(blocks + 1):
                answer = session.answer(Request(BASELINE, 8, self._block, False, PURPOSE))
                if answer.block is None:
                    raise TrialError(answer.reason)
                if number:
                    times.append(answer.block.seconds / answer.block.samples)
        except TrialError as error:
            if _OUT_OF_MEMORY.search(error.reason):
                raise _NoRoomError(error.reason) from error
            raise
        finally:
            session.close()
        turned = session.stopped.turned
        if turned is None:
            raise TrialError("the script's process went before it could say what became of its loss")
        return _Run(times, start, ready.loaders[0], ready.device, turned)

    def _share(self, turned: Turned) -> float:
        return turned.memory / self._memory

    def _check_room(self, new: Turned, base: Turned) -> None:
        """Raises _NoRoomError where a change takes more memory than the script does, and more than may be taken."""
        if self._share(new) > _HEADROOM and new.memory > _MORE * base.memory:
            raise _NoRoomError(f"it takes {_percent(self._share(new))} of the memory")


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


def _moved(base: _Run, runs: Mapping[bool, list[_Run]], *, alike: bool) -> Moved:
    new = runs[True][-1].turned.losses
    if alike:
        return compare(base.turned.losses, runs[False][-1].turned.losses, new)
    return Moved(None, "" if finite(new) else "the loss is no longer a finite number")


def _alike(turns: Sequence[Turn]) -> bool:
    """Whether what pays leaves the batches as they are, so that losses can be compared."""
    return all(turn.refused or "batch_size=" not in turn.setting for turn in turns)


def _superseded(turns: tuple[Turn, ...]) -> tuple[Turn, ...]:
    """Without the larger batch where a still larger one pays, for which something else makes room."""
    sized = [turn for turn in turns if not turn.refused and "batch_size=" in turn.setting]
    if len(sized) < 2:
        return turns
    reason = f"a larger one pays still more, with {sized[-1].name.replace('_', ' ')}"
    return tuple(replace(turn, refused=reason, edits=(), diff="") if turn in sized[:-1] else turn for turn in turns)


def _knob(name: str) -> Knob:
    return next(knob for knob in TURNED if knob.name == name)


def _plan(knob: Knob, value: Setting, base: _Run) -> dict[str, Any]:
    plan: dict[str, Any] = {"name": knob.name, "value": value}
    if knob.name == "batch_size" or (knob.name == "activation_checkpointing" and value is not None):
        plan["stack"] = [list(astuple(frame)) for frame in base.info.stack]
    return plan


def _written(knob: Knob, value: Setting, device: str = "cuda", blocks: str = "") -> str:
    shown = shown_statement(knob, value, device, blocks)
    if knob.name == "activation_checkpointing" and value is not None:
        return f"batch_size={value}; {shown}"
    return shown


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def _start(run: _Run) -> float:
    return run.start


def _ratio(turn: Turn) -> float:
    return turn.gain.ratio if turn.gain is not None else 0.0
