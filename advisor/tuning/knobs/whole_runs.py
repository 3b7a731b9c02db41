"""Whole runs of a script with something turned, or as it is, by turns, each from the same seed.

A start takes seconds, in which a machine becomes another. So where both sides have room at once both are started, and
their blocks take turns: the one that is not asked for a block stands still.

Only blocks behind a warm-up count, and how often a script may be started is bounded.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from itertools import cycle, islice
from pathlib import Path

from accel_advisor.tuning.applying.rewrite import Rewrite
from accel_advisor.tuning.knobs.losses import Moved, compare, finite
from accel_advisor.tuning.probe.channel.wire import BASELINE, Block, LoaderInfo, Measure, Ready, Turned
from accel_advisor.tuning.probe.knobs.training_knobs import Plan
from accel_advisor.tuning.search.paired_runs import MOST_PAIRS, ORDER, PairedRuns
from accel_advisor.tuning.search.purposes import Purpose
from accel_advisor.tuning.search.search import Request
from accel_advisor.tuning.search.statistics import Interval
from accel_advisor.tuning.search.verification import NOT_SHOWN, Verification
from accel_advisor.tuning.trial.session import Session
from accel_advisor.tuning.trial.trial_errors import TrialError
from accel_advisor.tuning.wording.figures import percent

BLOCKS = 3
"""Blocks of a run that count; one more goes before them."""
BLOCKS_BESIDE = (4, 12)
"""The least and the most of a run beside another, where as many come before their neighbours as behind: as many as take
as long as its start."""
STARTS = 8
"""Blocks of a run may take so many times as long as a start, in which there are some steps, too."""
STARTS_A_KNOB = 24
"""Starts of the script that one knob may take, whatever its values."""
HEADROOM = 0.8
"""Share of the memory that a change may take."""
AS_IT_IS = Plan()
_MORE = 1.02  # of the script's own memory: less is no more of it


NOTHING: Mapping[Path, bytes] = {}
"""No file has another source than the script's own."""
Side = tuple[Plan, Mapping[Path, bytes]]
"""What is turned on one side, and what files it has in place of the script's own."""


@dataclass(frozen=True, slots=True)
class WholeRun:
    """One run: seconds a sample in its blocks, seconds until it was warm, and what it reported at its end.

    ``watched`` is one more block, in which it was seen which lines run; None where that was not asked for."""

    times: list[float]
    start: float
    info: LoaderInfo
    device: str
    turned: Turned
    watched: Block | None = None


class NoRoomError(TrialError):
    """Memory is too small for what was tried."""


@dataclass(slots=True)
class _Started:
    """A run that is under way."""

    session: Session
    ready: Ready
    start: float
    times: list[float] = field(default_factory=list)

    def block(self, seconds: float) -> float:
        """Measures one more block; seconds that it took with all there is to it."""
        began = time.monotonic()
        block = self.session.block(Request(Measure(BASELINE, 8, seconds), Purpose.TRAINING_KNOB))
        self.times.append(block.seconds / block.samples)
        return time.monotonic() - began

    def ended(self, watched: Block | None = None) -> WholeRun:
        """What it came to. Its first block is what went before those that count."""
        turned = self.session.stopped.turned
        if turned is None:
            raise TrialError("the script's process went before it could say what became of its loss")
        return WholeRun(self.times[1:], self.start, self.ready.loaders[0], self.ready.device, turned, watched)


class WholeRuns:
    """Starts the script.

    Args:
        session: of the command; its trials end with every run.
        memory: bytes that training may take: of the accelerator, else of the machine.
        block: seconds that a block lasts at least.
        watch: whether the first run of the script as it is looks which lines run.
    """

    def __init__(self, session: Session, *, memory: int, block: float, watch: bool = False) -> None:
        self._session = session
        self._beside = session.beside()
        self._memory = memory
        self._block = block
        self._watch = watch
        self._base: WholeRun | None = None
        self._starts = STARTS_A_KNOB

    def renew(self) -> None:
        """Another knob may start the script as often again."""
        self._starts = STARTS_A_KNOB

    def first(self) -> WholeRun:
        """The script as it is, run once.

        Raises:
            TrialError: as :meth:`run`.
        """
        if self._base is None:
            self._base = self.run(AS_IT_IS, NOTHING, watch=self._watch)
        return self._base

    def race(
        self,
        plan: Plan,
        *,
        alike: bool,
        against: Plan = AS_IT_IS,
        before: Mapping[Path, bytes] = NOTHING,
        after: Mapping[Path, bytes] = NOTHING,
        worth: float | None = None,
        beside: bool = False,
    ) -> tuple[Interval, Moved, dict[bool, list[WholeRun]]]:
        """Runs what is new against what is old, by turns, until it is settled which is faster, or the loss moved.

        Args:
            plan, after: of the new side.
            against, before: of the old side.
            alike: whether both see the same batches, so that their losses can be compared.
            worth: the least gain that is to be ruled out where there seems to be none, as :class:`PairedRuns` has it.
            beside: whether neither side takes more memory than the script does, so that both may run at once.

        Returns:
            the gain, what became of the loss, and the runs of the old side (False) and of the new one (True).

        Raises:
            TrialError: either side could not be run.
        """
        base = self.first()
        runs: dict[bool, list[WholeRun]] = {False: [], True: []}
        sides = {True: (plan, after), False: (against, before)}
        beside = beside and self._session.command.ranks is None and 2 * self.share(base.turned) <= HEADROOM
        paired = PairedRuns()
        for pair in islice(cycle(ORDER), MOST_PAIRS):
            ran: dict[bool, WholeRun] | None = None
            if beside:
                with suppress(TrialError):
                    ran = self.side_by_side(pair, sides)
                # Two at once may want one port, one lock, or more memory than there is.
                beside = ran is not None
            ran = ran or {new: self.run(*sides[new]) for new in pair}
            self._check_room(ran[True].turned, base.turned)
            for new in pair:
                runs[new].append(ran[new])
                paired.add(new, ran[new].times)
            found, settled = paired.settled(worth, beside=beside)
            moved = moved_by(base, runs, alike=alike)
            if settled or moved.reason:
                break
        return found, moved, runs

    def run(self, plan: Plan, sources: Mapping[Path, bytes], *, watch: bool = False) -> WholeRun:
        """One run, with a plan in force, and with some files in place of the script's own; with ``watch`` it is seen
        which lines run, behind the blocks that count.

        Raises:
            TrialError: it could not be measured.
        """
        watched = None
        with self._started(self._session, plan, sources) as one:
            for _ in range(BLOCKS + 1):
                one.block(self._block)
            if watch:
                request = Request(Measure(BASELINE, 8, 2 * self._block, lines=True), Purpose.PRICES)
                watched = one.session.answer(request).block
        return one.ended(watched)

    def side_by_side(self, pair: tuple[bool, bool], sides: Mapping[bool, Side]) -> dict[bool, WholeRun]:
        """One run of either side, block by block.

        Raises:
            TrialError: they could not be measured like this.
        """
        sessions = dict(zip(pair, (self._session, self._beside), strict=True))
        with ExitStack() as stack:
            both = {new: stack.enter_context(self._started(sessions[new], *sides[new])) for new in pair}
            took = sum(one.block(self._block) for one in both.values())
            least, most = BLOCKS_BESIDE
            wanted = int(sum(one.start for one in both.values()) / took)
            for number in range(min(max(wanted - wanted % 2, least), most)):
                for new in pair if number % 2 else reversed(pair):
                    both[new].block(self._block)
        return {new: one.ended() for new, one in both.items()}

    @contextmanager
    def _started(self, session: Session, plan: Plan, sources: Mapping[Path, bytes]) -> Iterator[_Started]:
        """A run that is under way within the context."""
        if not self._starts:
            raise TrialError(f"it was not settled after {STARTS_A_KNOB} starts of the script")
        self._starts -= 1
        longest = session.start_timeout + STARTS * session.start_seconds + 10 * (BLOCKS + 1) * self._block
        session.renew(time.monotonic() + 2 * longest)
        session.plan, session.sources = plan, sources
        began = time.monotonic()
        try:
            yield _Started(session, session.start(), time.monotonic() - began)
        except TrialError as error:
            if error.out_of_memory:
                raise NoRoomError(error.reason) from error
            raise
        finally:
            session.close()

    def share(self, turned: Turned) -> float:
        """Which share of the memory a training took."""
        return turned.memory / self._memory

    def _check_room(self, new: Turned, base: Turned) -> None:
        """Raises NoRoomError where a change takes more memory than the script does, and more than may be taken."""
        if self.share(new) > HEADROOM and new.memory > _MORE * base.memory:
            raise NoRoomError(f"it takes {percent(self.share(new))} of the memory")


def verified(runs: WholeRuns, rewrite: Rewrite, *, alike: bool, beside: bool = False) -> Verification:
    """Runs the new source against the old one, neither of them from the disk; both at once as :meth:`WholeRuns.race`
    has it."""
    runs.renew()
    try:
        found, moved, _ = runs.race(AS_IT_IS, alike=alike, before=rewrite.before, after=rewrite.after, beside=beside)
    except TrialError as error:
        return Verification(False, None, f"the new source could not be run: {error.reason}")
    if moved.reason:
        return Verification(False, found, moved.reason)
    return Verification(True, found) if found.low > 1 else Verification(False, found, NOT_SHOWN)


def moved_by(base: WholeRun, runs: Mapping[bool, list[WholeRun]], *, alike: bool) -> Moved:
    """Whether the new runs moved the loss; where batches are not ``alike``, only whether it is a number."""
    new = runs[True][-1].turned.losses
    if alike:
        return compare(base.turned.losses, runs[False][-1].turned.losses, new)
    return Moved(None, "" if finite(new) else "the loss is no longer a finite number")
