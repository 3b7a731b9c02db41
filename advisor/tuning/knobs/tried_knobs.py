"""What became of the knobs of the training that were tried, as plain data."""

from __future__ import annotations

from dataclasses import dataclass, field

from accel_advisor.finding import Edit
from accel_advisor.tuning.applying.rewrite import Rewrite
from accel_advisor.tuning.probe.knobs.knob import Knob
from accel_advisor.tuning.search.statistics import Interval
from accel_advisor.tuning.search.verification import Verification


@dataclass(frozen=True, slots=True)
class TriedKnob:
    """A knob of the training, and what became of it.

    Attributes:
        knob: turned as it was tried.
        setting: that, as it would be written.
        gain: how many times as fast the training ran with it, in samples; None where that was not measured.
        loss: by which share of itself the mean loss changed; None where it was not compared.
        warm_up: seconds that the start took beyond the script's own, compiling included; None where not measured.
        refused: why it is not recommended, in words; empty where it pays.
        edits: what turns it in the source; empty where the place is not certain.
        remedy: what to do by hand then.
        diff: what the edits change.
        caution: what a person must know before taking it over.
    """

    knob: Knob
    setting: str
    gain: Interval | None = None
    loss: float | None = None
    warm_up: float | None = None
    refused: str = ""
    edits: tuple[Edit, ...] = ()
    remedy: str = ""
    diff: str = ""
    caution: str = ""

    @property
    def name(self) -> str:
        """The knob's, as ``--knobs`` takes it."""
        return self.knob.name

    @property
    def faster(self) -> bool:
        """Whether it pays, and in speed: there is one that pays in memory alone."""
        return not self.refused and (self.gain is None or self.gain.wins)


@dataclass(frozen=True, slots=True)
class TriedKnobs:
    """What became of the knobs of the training that were named.

    Attributes:
        tried: in the order in which it was done.
        rewrite: what those that pay make of the source together.
        verification: old source against new, with all of them; None where they were not run together.
        written: whether the new source is in place.
    """

    tried: tuple[TriedKnob, ...]
    rewrite: Rewrite = field(default_factory=Rewrite)
    verification: Verification | None = None
    written: bool = False

    @property
    def remain(self) -> bool:
        """Whether one of them is faster and is not in the source."""
        return not self.written and any(turn.faster for turn in self.tried)
