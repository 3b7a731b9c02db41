"""What a tuning run found, as plain data for the terminal, for JSON and for the exit status."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from pathlib import Path

from accel_advisor.machine.gpus import Sample
from accel_advisor.machine.machine import Accelerator, Machine
from accel_advisor.machine.other_work import cores_taken
from accel_advisor.tuning.applying.rewrite import Recommendation
from accel_advisor.tuning.knobs.raced_fixes import RacedFixes
from accel_advisor.tuning.knobs.tried_knobs import TriedKnobs
from accel_advisor.tuning.nodes.node_messages import NodeFacts
from accel_advisor.tuning.probe.channel.wire import Block, LoaderInfo, Settings
from accel_advisor.tuning.record.plain_record import PlainRecord
from accel_advisor.tuning.record.schema import Explanation, Prices
from accel_advisor.tuning.search.diagnosis import Diagnosis
from accel_advisor.tuning.search.settings import Use
from accel_advisor.tuning.search.statistics import WORTH, Interval
from accel_advisor.tuning.search.stops import Kept, Verdict, verdict_of
from accel_advisor.tuning.search.verification import Verification
from accel_advisor.tuning.trial.timeline import Served
from accel_advisor.tuning.wording.other_work_text import other_work_text


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table of what was tried.

    Attributes:
        settings: the candidate.
        rate: samples a second, an epoch's start included; None where it could not be measured.
        against: how many times as fast as the baseline; open where the two were never neighbours.
        blocks: how often it was measured.
        failed: why it was not measured, in words.
        interval: of the rate, from its own blocks.
        measured: those blocks.
    """

    settings: Settings
    rate: float | None
    against: Interval | None
    blocks: int
    failed: str = ""
    interval: Interval | None = None
    measured: tuple[Block, ...] = ()


@dataclass(slots=True)
class Outcome:
    """Everything that a tuning run has to say.

    Attributes:
        root: the folder that paths are shown relative to.
        loaders: those that the script iterated, the trained one first.
        device, torch: where the model is, and the version of torch.
        diagnosis: None where the run was interrupted before the first block.
        rows: what was tried, the baseline first.
        baseline_rate, recommended_rate: samples a second, from the last comparison where there was one.
        baseline_interval, recommended_interval: of those rates, from the same blocks.
        recommendation: None where nothing wins.
        kept: why nothing is recommended; None where something is.
        notes: what a person must know beside it.
        verification: None where nothing was applied.
        interrupted: whether the user pressed Ctrl-C.
        seconds: wall time of the whole run.
        contained, leaked: paths that the script wrote during the trial and that were kept from, or reached, the tree.
        script, args: what ran, relative to the root where it lies in it, and the words behind it.
        began: when, in UTC, as ISO 8601 has it.
        budget: seconds that the search might take.
        machine, accelerators: where; of several nodes the one that leads.
        nodes: those that it took place on, the one that leads first; empty for one alone.
        timeline: what was done one after the other.
        use: what the recommended settings take of the machine; None where nothing is recommended.
        turns: of the knobs of the training; None where none was named.
        samples: what the GPU did, on the clock of the blocks; empty where there is none, or its driver reports nothing.
        clock: when the run began, on that clock.
        cards: how many GPUs train.
        pairs: neighbouring blocks of the settings in the source and of those that the search chose, from which comes
            the gain.
        explained: where the loader spends its time, if that was asked for: now, and under what is recommended.
        prices: what the lines of a step cost, if that was asked for.
        fixes: of lint; None where they were not to be raced.
        late_loader: whether the script trains without a loader before the loop that was measured.
        loop, sentence, ceilings: of a loop that takes its batches from no loader, instead of a diagnosis.
    """

    root: Path
    loaders: tuple[LoaderInfo, ...]
    device: str
    torch: str
    diagnosis: Diagnosis | None = None
    rows: tuple[Row, ...] = ()
    baseline_rate: float | None = None
    recommended_rate: float | None = None
    recommendation: Recommendation | None = None
    kept: Kept | None = None
    notes: list[str] = field(default_factory=list)
    verification: Verification | None = None
    interrupted: bool = False
    seconds: float = 0.0
    contained: tuple[str, ...] = ()
    leaked: tuple[str, ...] = ()
    script: str = ""
    args: tuple[str, ...] = ()
    began: str = ""
    budget: float | None = None
    machine: Machine | None = None
    accelerators: tuple[Accelerator, ...] = ()
    nodes: tuple[NodeFacts, ...] = ()
    timeline: tuple[Served, ...] = ()
    samples: tuple[Sample, ...] = ()
    clock: float = 0.0
    cards: int = 1
    pairs: tuple[tuple[Block, Block], ...] = ()
    explained: tuple[Explanation, ...] = ()
    baseline_interval: Interval | None = None
    recommended_interval: Interval | None = None
    turns: TriedKnobs | None = None
    use: Use | None = None
    prices: Prices | None = None
    fixes: RacedFixes | None = None
    late_loader: bool = False
    loop: PlainRecord | None = None
    sentence: str = ""
    ceilings: dict[str, Interval] = field(default_factory=dict)

    @property
    def taken(self) -> float | None:
        """Cores that other work took while blocks were measured, on average; None where that is not known."""
        known = [(one.others, one.seconds) for one in self.timeline if one.others is not None]
        seconds = math.fsum(span for _, span in known)
        if self.machine is None or not seconds:
            return None
        return cores_taken(math.fsum(others * span for others, span in known) / seconds, self.machine)

    @property
    def other_work(self) -> str:
        """The same in words; empty where that is next to nothing, or not known."""
        return other_work_text(self.taken, self.machine.cores) if self.machine is not None else ""

    @property
    def verified(self) -> bool | None:
        """Whether the new source was run against the old one and won; None where nothing was applied."""
        return self.verification.holds if self.verification is not None else None

    @property
    def verdict(self) -> Verdict | None:
        """What the run came to, of the loader's settings; None where none was to be turned."""
        if self.recommendation is None:
            return verdict_of(self.kept) if self.kept is not None else None
        result = self.verification
        if result is None or result.holds:
            return Verdict.CHANGE
        return Verdict.NOTHING if result.gain is not None and result.gain.high < WORTH else Verdict.UNDECIDED

    @property
    def left_on_the_table(self) -> bool:
        """Whether a measured gain is not in the source, and no run of the new source has refuted it."""
        loader = self.recommendation is not None and self.verdict is not Verdict.NOTHING and not self.verified
        knobs = self.turns is not None and self.turns.remain
        return loader or knobs or (self.fixes is not None and bool(self.fixes.remaining))
