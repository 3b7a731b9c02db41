"""What became of the fixes of lint that were raced, as plain data."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from accel_advisor.finding import Finding
from accel_advisor.tuning.applying.rewrite import Rewrite
from accel_advisor.tuning.search.statistics import WORTH, Interval
from accel_advisor.tuning.search.verification import Verification


class RaceVerdict(StrEnum):
    """What a race came to; the value is what JSON has."""

    PAYS = "pays"
    """It is faster beyond doubt, and leaves the loss where it was."""
    NOTHING = "nothing"
    """A gain that would be worth having is ruled out."""
    SLOWER = "slower"
    UNDECIDED = "undecided"
    REFUSED = "refused"
    """It changes the loss, or the script does not run with it."""


def verdict_of_race(gain: Interval) -> RaceVerdict:
    """What a gain comes to where the loss stays."""
    if gain.wins:
        return RaceVerdict.PAYS
    if gain.high < 1:
        return RaceVerdict.SLOWER
    return RaceVerdict.NOTHING if gain.high < WORTH else RaceVerdict.UNDECIDED


@dataclass(frozen=True, slots=True)
class RacedFix:
    """Fixes that were made together, and what became of them.

    Attributes:
        findings: those that offer them, under absolute names.
        safe: whether they are.
        verdict: what the race came to.
        gain: how many times as fast the training ran with them, in samples; None where that was not measured.
        loss: by which share of itself the mean loss changed; None where it was not compared.
        warm_up: seconds that the start took beyond the script's own; None where not measured.
        refused: why they are refused, in words; empty for other verdicts.
        rewrite: what they make of the source; empty where it cannot be edited.
        written: whether that is in place.
    """

    findings: tuple[Finding, ...]
    safe: bool
    verdict: RaceVerdict
    gain: Interval | None = None
    loss: float | None = None
    warm_up: float | None = None
    refused: str = ""
    rewrite: Rewrite = field(default_factory=Rewrite)
    written: bool = False

    @property
    def pays(self) -> bool:
        """Whether it is recommended."""
        return self.verdict is RaceVerdict.PAYS

    @property
    def said(self) -> str:
        """What became of it, in words: ``no gain measured here (0.97 to 1.02)``."""
        ends = f" ({self.gain.low:.2f} to {self.gain.high:.2f})" if self.gain is not None and self.gain.low else ""
        match self.verdict:
            case RaceVerdict.PAYS:
                return f"pays here{ends}"
            case RaceVerdict.SLOWER:
                return f"slower here{ends}"
            case RaceVerdict.NOTHING if self.gain is not None and self.gain.low > 1:
                return f"no gain worth having here{ends}"
            case RaceVerdict.NOTHING:
                return f"no gain measured here{ends}"
            case RaceVerdict.UNDECIDED:
                return f"undecided here{ends}: a quiet machine or a longer --budget settles it"
            case RaceVerdict.REFUSED:
                return f"not recommended: {self.refused}"


@dataclass(frozen=True, slots=True)
class RacedFixes:
    """What became of all of them.

    Attributes:
        raced: in the order in which it was done.
        rewrite: what those make of the source together that were chosen to be written, or that pay.
        verification: old source against new, with these; None where they were not run together.
        elsewhere: fixes for code that was not seen to run in the training loop.
        left_out: fixes that were not raced for another reason, each in words.
    """

    raced: tuple[RacedFix, ...]
    rewrite: Rewrite = field(default_factory=Rewrite)
    verification: Verification | None = None
    elsewhere: int = 0
    left_out: tuple[str, ...] = ()

    @property
    def written(self) -> bool:
        """Whether some of them are in place."""
        return any(one.written for one in self.raced)

    @property
    def remaining(self) -> tuple[RacedFix, ...]:
        """Those that are faster and not in the source, and that no run of all of them has refuted."""
        failed = self.verification is not None and not self.verification.holds
        return () if failed else tuple(one for one in self.raced if one.pays and not one.written)
