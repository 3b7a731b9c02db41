"""Which of several ranks the others wait for."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from accel_advisor.tuning.probe.channel.wire import Block, Part

_STANDS_OUT = 0.05
"""By how much of a step a rank's own time must exceed that of the others to be reported."""


class Cause(Enum):
    """What a rank does while the others wait for it; the value names its part of a step."""

    WAITS = "wait"
    TRANSFERS = "transfer"
    RUNS_PYTHON = "host"


@dataclass(frozen=True, slots=True)
class Straggler:
    """The rank that the others wait for.

    Attributes:
        rank: which one.
        ranks: how many there are.
        cause: what it does more of than the others.
        share: of each step that it spends on that.
    """

    rank: int
    ranks: int
    cause: Cause
    share: float


def straggler(blocks: Sequence[Block]) -> Straggler | None:
    """The rank that the others wait for; None where none stands out.

    A rank's time outside of its step is its own; the others spend it waiting in a collective, which looks like
    computing.
    """
    measured = [block.ranks for block in blocks if len(block.ranks) > 1]
    if not measured:
        return None
    clocks = list(zip(*measured, strict=True))
    shares = [{cause: _share(own, cause) for cause in Cause} for own in clocks]
    totals = [math.fsum(own.values()) for own in shares]
    late = max(range(len(totals)), key=totals.__getitem__)
    others = sorted(totals[:late] + totals[late + 1 :])
    if totals[late] - others[len(others) // 2] < _STANDS_OUT:
        return None
    typical = [own for rank, own in enumerate(shares) if rank != late]

    def excess(cause: Cause) -> float:
        return shares[late][cause] - math.fsum(own[cause] for own in typical) / len(typical)

    cause = max(Cause, key=excess)
    return Straggler(late, len(clocks), cause, shares[late][cause])


def _share(clocks: Sequence[Part], cause: Cause) -> float:
    """The share of its time that a rank spends on a part of its steps."""
    part: float = math.fsum(getattr(clock, cause.value) for clock in clocks)
    return part / math.fsum(clock.seconds for clock in clocks)
