"""What to measure of a loop without a loader, one block after the other, and what follows from the blocks."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random

from accel_advisor.finding import Price
from accel_advisor.tuning.probe.channel.wire import BASELINE, NO_WAIT, Block, Measure
from accel_advisor.tuning.search.purposes import Purpose
from accel_advisor.tuning.search.search import Request, block_seconds
from accel_advisor.tuning.search.statistics import Interval, gain, order, student
from accel_advisor.tuning.trial.session import Session
from accel_advisor.tuning.trial.trial_errors import LoaderCame, NotMeasurable, TrialEnded

_ROUNDS, _MOST_ROUNDS = 4, 16
_NARROW = 0.02
"""Half the width of an interval, on the logarithmic scale, below which more rounds say nothing new."""
_ROUNDS_SHARE, _LINES_SHARE = 0.6, 0.3
_GRACE_SECONDS = 2.0
_LEAST_STEPS = 1
_TINY = 1e-9
_TOO_SHORT = (
    "the script comes to its end before its training loop can be measured, and without a DataLoader it cannot be made "
    "longer from outside: let it take more steps"
)


@dataclass(slots=True)
class PlainReadings:
    """Blocks of the loop as it is, of the loop with data ready at once, and the one that says which lines run.

    ``overlaps`` says whether an accelerator computes while the host fetches."""

    own: list[Block] = field(default_factory=list)
    ready: list[tuple[Block, Block]] = field(default_factory=list)
    lines: Block | None = None
    failed: str = ""
    overlaps: bool = False

    @property
    def replayed(self) -> Interval | None:
        """How many times as fast the loop runs with data ready at once, from blocks in turns; None where there are
        none."""
        if not self.ready:
            return None
        return gain([_step(old) for old, _ in self.ready], [_step(new) for _, new in self.ready])

    @property
    def unwaited(self) -> Interval:
        """The same, if each block had taken as long as it did but for its fetching."""
        return gain([one.seconds for one in self.own], [max(one.seconds - one.wait, _TINY) for one in self.own])

    @property
    def ceiling(self) -> Interval | None:
        """How many times as fast the loop runs with data ready at once; None where that was not measured. On a
        processor what fetches is in series with the rest of a step, so that its share says the same, whatever the
        machine did in the next block: of the two the more exact one, and none where they disagree."""
        replayed, unwaited = self.replayed, self.unwaited
        if replayed is None or self.disagree:
            return None
        if self.overlaps:
            return replayed
        return replayed if replayed.half_width <= unwaited.half_width else unwaited

    @property
    def disagree(self) -> bool:
        """Whether the loop without its fetching is another than the rest of the loop with it. Beside an accelerator it
        may be: what the host saves can hide behind the device, or let it run ahead."""
        replayed, unwaited = self.replayed, self.unwaited
        return (
            replayed is not None
            and not self.overlaps
            and (replayed.low > unwaited.high or replayed.high < unwaited.low)
        )

    @property
    def step(self) -> float:
        """Mean seconds of a step."""
        return math.fsum(block.seconds for block in self.own) / sum(block.batches for block in self.own)

    def share(self, part: Callable[[Block], float]) -> Price:
        """The share of a part of the step, as blocks differ in it."""
        shares = [part(block) / block.seconds for block in self.own]
        mean = math.fsum(shares) / len(shares)
        if len(shares) < 2:
            return Price(mean, 0.0, 1.0)
        deviation = math.sqrt(math.fsum((one - mean) ** 2 for one in shares) / (len(shares) - 1))
        reach = student(len(shares) - 1) * deviation / math.sqrt(len(shares))
        return Price(mean, max(mean - reach, 0.0), min(mean + reach, 1.0))

    @property
    def settled(self) -> bool:
        """Whether more rounds would say little."""
        if len(self.own) < _ROUNDS:
            return False
        found = self.replayed
        return found is None or (found.half_width < _NARROW and not self.disagree)


def measure_plain(
    session: Session,
    readings: PlainReadings,
    *,
    budget: float,
    replayable: bool,
    ahead: bool,
    seed: int,
    watch: Callable[[Purpose, str], None],
) -> None:
    """Measures the loop in turns with itself with data ready at once, and then its lines, within ``budget`` seconds;
    all of them where a loop with a loader may be ``ahead``.

    Raises:
        NotMeasurable: the script ended each time before anything was measured.
        LoaderCame: the loop is over, and one with a loader has begun.
        TrialEnded: it could not be measured any more, and nothing was.
    """
    random, began = Random(seed), time.monotonic()
    session.limit(began + budget + 2 * _GRACE_SECONDS)
    block, limit = block_seconds(budget), began + _ROUNDS_SHARE * budget
    try:
        for number in range(_MOST_ROUNDS):
            kinds = order([BASELINE, NO_WAIT] if replayable and not readings.failed else [BASELINE], number, random)
            found: dict[str, Block] = {}
            for what in kinds:
                watch(Purpose.CEILINGS, what)
                asked = Measure(what, _LEAST_STEPS, block, most_seconds=budget / 2)
                answer = session.answer(Request(asked, Purpose.CEILINGS))
                if answer.block is not None:
                    found[what] = answer.block
                else:
                    readings.failed = answer.reason
            if BASELINE in found:
                readings.own.append(found[BASELINE])
            if len(found) == 2:
                readings.ready.append((found[BASELINE], found[NO_WAIT]))
            now = time.monotonic()
            if readings.settled or (len(readings.own) >= 2 and now + (now - began) / (number + 1) > limit):
                break
        seconds = _LINES_SHARE * budget
        session.limit(time.monotonic() + seconds + 3 * _GRACE_SECONDS)
        watch(Purpose.PRICES, BASELINE)
        asked = Measure(BASELINE, _LEAST_STEPS, seconds, most_seconds=seconds + _GRACE_SECONDS, lines=True)
        readings.lines = session.answer(Request(asked, Purpose.PRICES)).block
        session.limit(max(began + budget, time.monotonic()) + 2 * _GRACE_SECONDS)
        while ahead and time.monotonic() < began + budget:
            watch(Purpose.LOADER_AHEAD, BASELINE)
            asked = Measure(BASELINE, _LEAST_STEPS, block, most_seconds=budget / 2)
            answer = session.answer(Request(asked, Purpose.LOADER_AHEAD))
            if answer.block is None:
                break
            readings.own.append(answer.block)
    except LoaderCame:
        raise
    except TrialEnded as error:
        if not readings.own:
            if session.short:
                raise NotMeasurable(_TOO_SHORT) from error
            raise
        readings.failed = error.sentence


def _step(block: Block) -> float:
    return block.seconds / block.batches
