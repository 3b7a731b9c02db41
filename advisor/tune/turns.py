"""Turns each knob of the training in processes of its own, against the script as it is, and says what became of it.

Whole runs take turns (new, old, old, new), each from the same seed; only blocks behind a warm-up count. A knob must be
faster beyond doubt and leave the loss where it was.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import astuple, dataclass, replace
from pathlib import Path
from typing import Any

from ..machine import Machine
from . import applying
from .knobs import TURNED, Knob, Setting, patch
from .losses import Moved, compare, finite
from .outcome import Turn, Turns, Verification
from .probe.wire import BASELINE, LoaderInfo, Turned
from .rewrite import Rewrite, RewriteError, rewritten
from .search import Request
from .session import Session
from .statistics import Interval, gain, interval
from .trial import Command, TrialError

PURPOSE = "a knob of the training"
BLOCKS = 3
"""Blocks of a run that count; one more goes before them."""
STARTS = 8
"""Blocks of a run may take so many times as long as a start, in which there are some steps, too."""
_NONE = {"name": ""}
_HEADROOM = 0.8  # of the memory
_STEPS = 4  # doublings of a batch
_BETTER = 1.02
_PLAIN = 1.1  # in every pair of runs
_MOST_PAIRS = 4
_CAUTIONS = {
    "threads": "the number fits this machine: another one may need another",
    "thread_binding": "workers of a loader that are forked run on the core of the process that forks them",
    "autocast": "it trains in bfloat16, which keeps 8 bits of a number: watch a whole training",
    "tf32": "products of float32 matrices keep 10 bits of a number",
    "cudnn_benchmark": "it pays where the shapes of batches stay the same, and runs are no longer alike bit by bit",
    "compile": "every start takes longer, by its warm-up",
    "batch_size": "it changes the training: the learning rate has to be found anew",
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
        self.tried: list[Turn] = []

    def turn(self, knob: Knob) -> Turn:
        """Tries a knob with each of its values, and chooses among them; :attr:`tried` keeps what became of it."""
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
            tried = [self._compared(knob, value, base) for value in self._values(knob, base)]
        except TrialError as error:
            return Turn(knob.name, _written(knob, None), refused=f"the script could not be run: {error.reason}")
        return min(tried, key=lambda turn: (bool(turn.refused), -_ratio(turn)))

    def verify(self, rewrite: Rewrite, turns: Sequence[Turn]) -> Verification:
        """Runs what the knobs that pay make of the source against the source as it is."""
        self._say("the new source against the old")
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
        return tuple(sorted(counts, reverse=True)) or (1,)

    def _grow(self, knob: Knob, base: _Run) -> Turn:
        """The largest batch that is faster than a smaller one, as long as memory has room for it."""
        size, best = base.info.batch_size, None
        if not size:
            return Turn(knob.name, _written(knob, None), refused="the size of a batch is not known")
        for step in range(1, _STEPS + 1):
            value = size << step
            if base.info.length is not None and base.info.length * size < 4 * value:
                break
            tried = self._compared(knob, value, base)
            if tried.refused or (best is not None and _ratio(tried) < _BETTER * _ratio(best)):
                best = best or tried
                break
            best = tried
        return best or Turn(knob.name, _written(knob, 2 * size), refused="an epoch has too few batches for larger ones")

    # -- runs ---------------------------------------------------------------------------------------------------

    def _compared(self, knob: Knob, value: Setting, base: _Run) -> Turn:
        setting = _written(knob, value, base.device)
        self._say(f"{knob.name.replace('_', ' ')}: {setting}")
        try:
            found, moved, runs = self._race(_plan(knob, value, base), {}, {}, alike=knob.name != "batch_size")
        except TrialError as error:
            return Turn(knob.name, setting, refused=error.reason)
        new, old = min(runs[True], key=_start), min([*runs[False], base], key=_start)
        turn = Turn(knob.name, setting, found, moved.share, max(0.0, new.start - old.start))
        refused = moved.reason or self._too_large(new.turned) or ("" if found.wins else _no_gain(found))
        if refused:
            return replace(turn, refused=refused)
        written = patch(
            knob,
            value,
            new.turned,
            base.info,
            device=new.device,
            root=self.root,
            argv=self._command.args,
        )
        edits, diff, remedy = written.edits, "", written.remedy
        if edits:
            try:
                diff = rewritten(edits, self.root).diff
            except RewriteError as error:
                edits, remedy = (), f"write `{setting}` by hand: {error}"
        return replace(turn, edits=edits, diff=diff, remedy=remedy, caution=_CAUTIONS.get(knob.name, ""))

    def _race(
        self,
        knob: Mapping[str, Any],
        before: Mapping[Path, bytes],
        after: Mapping[Path, bytes],
        *,
        alike: bool,
    ) -> tuple[Interval, Moved, dict[bool, list[_Run]]]:
        """New, old, old, new; where that does not settle it the same again, the other way round.

        Raises:
            TrialError: either side could not be run.
        """
        base = self._first()
        runs: dict[bool, list[_Run]] = {False: [], True: []}
        pairs: list[tuple[list[float], list[float]]] = []
        for number, new in enumerate((*_ORDER, *(not new for new in _ORDER))):
            plan, sources = (knob, after) if new else (_NONE, before)
            runs[new].append(self._run(plan, sources, BLOCKS))
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
        finally:
            session.close()
        turned = session.stopped.turned
        if turned is None:
            raise TrialError("the script's process went before it could say what became of its loss")
        return _Run(times, start, ready.loaders[0], ready.device, turned)

    def _too_large(self, turned: Turned) -> str:
        if turned.memory <= _HEADROOM * self._memory:
            return ""
        return f"it takes {turned.memory / self._memory:.0%} of the memory".replace("%", " %")


def judged(pairs: Sequence[tuple[Sequence[float], Sequence[float]]]) -> tuple[Interval, bool]:
    """The gain from pairs of neighbouring runs, each with the times of its blocks, old and new; and whether that
    settles it.

    Blocks of one run have their process in common, and with it luck that blocks do not show. A loss can be told from
    one pair of runs, a gain that is plain in both from two, and any other from the ratios of four pairs.
    """
    found = gain(*([time for pair in pairs for time in pair[side]] for side in (0, 1)))
    ratios = [gain(old, new).ratio for old, new in pairs]
    if len(pairs) >= _MOST_PAIRS:
        return interval(ratios), True
    plain = len(pairs) > 1 and found.wins and min(ratios) > _PLAIN
    return found, plain or found.high < _BETTER


def run_turns(turner: Turner, names: frozenset[str], *, write: bool) -> Turns:
    """Tries the knobs that are named, then all that pay together; with ``write`` writes these where the gain shows."""
    tried = tuple(turner.turn(knob) for knob in TURNED if knob.name in names)
    edits = [edit for turn in tried if not turn.refused for edit in turn.edits]
    verification = None
    try:
        rewrite = rewritten(edits, turner.root)
        if write or sum(bool(turn.edits) for turn in tried) > 1:
            verification = turner.verify(rewrite, tried) if edits else None
        if not write or verification is None or not verification.holds:
            return Turns(tried, rewrite, verification)
        applying.write(rewrite)
    except RewriteError as error:
        return Turns(tried, Rewrite(), Verification(False, verification.gain if verification else None, str(error)))
    return Turns(tried, rewrite, verification, written=True)


def _moved(base: _Run, runs: Mapping[bool, list[_Run]], *, alike: bool) -> Moved:
    new = runs[True][-1].turned.losses
    if alike:
        return compare(base.turned.losses, runs[False][-1].turned.losses, new)
    return Moved(None, "" if finite(new) else "the loss is no longer a finite number")


def _alike(turns: Sequence[Turn]) -> bool:
    """Whether what pays leaves the batches as they are, so that losses can be compared."""
    return all(turn.refused or turn.name != "batch_size" for turn in turns)


def _plan(knob: Knob, value: Setting, base: _Run) -> dict[str, Any]:
    plan: dict[str, Any] = {"name": knob.name, "value": value}
    if knob.name == "batch_size":
        plan["stack"] = [list(astuple(frame)) for frame in base.info.stack]
    return plan


def _written(knob: Knob, value: Setting, device: str = "cuda") -> str:
    shown = "N" if value is None else value
    return knob.statement.format(torch="torch", model="model", device=device, value=shown)


def _no_gain(found: Interval) -> str:
    ends = f"between {found.low:.2f} and {found.high:.2f} times as fast"
    if found.high < 1:
        return f"it is slower: {ends}"
    return f"no gain beyond doubt: {ends}"


def _start(run: _Run) -> float:
    return run.start


def _ratio(turn: Turn) -> float:
    return turn.gain.ratio if turn.gain is not None else 0.0
