"""What the record of a run holds, as it stands in JSON; ``docs/json.md`` says what each key means.

Everything that is shown of a run is made from this, so that a record shows the same as the run itself. A key that is
added gets a default, so that older records can still be read; a key that changes its meaning is a new schema.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from accel_advisor.finding import Price
from accel_advisor.machine.gpus import Sample
from accel_advisor.machine.machine import Accelerator
from accel_advisor.tuning.probe.channel.wire import Settings
from accel_advisor.tuning.record.device_schema import DeviceUse, EnergyRecord
from accel_advisor.tuning.record.plain_record import PlainRecord
from accel_advisor.tuning.record.turns_schema import FixesRecord, Ratio, TurnsRecord, VerificationRecord
from accel_advisor.tuning.search.settings import Use

SCHEMA = 1


@dataclass(frozen=True, slots=True)
class Place:
    """A line of a file, from 1; in a notebook, of a cell."""

    filename: str
    row: int
    cell: int | None = None


@dataclass(frozen=True, slots=True)
class Spot:
    """Row and column, both from 1."""

    row: int
    column: int


@dataclass(frozen=True, slots=True)
class EditRecord:
    """What to put between two spots; the end is exclusive."""

    filename: str
    content: str
    location: Spot
    end_location: Spot
    cell: int | None = None


@dataclass(frozen=True, slots=True)
class Choice:
    """Settings and samples a second under them; ``low`` and ``high`` are the ends of the rate's interval."""

    settings: Settings
    rate: float | None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class LoaderRecord:
    """A loader; what was measured is None for those that do not train. ``pairs`` of blocks made the gain."""

    site: Place | None
    role: str
    dataset: str
    batch_size: int
    length: int | None
    baseline: Choice
    recommended: Choice | None = None
    gain: Ratio | None = None
    pairs: int | None = None
    edits: tuple[EditRecord, ...] = ()


@dataclass(frozen=True, slots=True)
class Parts:
    """Exclusive parts of a step: as shares they add up to 1, as seconds to the time of a batch."""

    wait: float | None
    transfer: float | None
    compute: float | None
    host: float | None

    @property
    def known(self) -> dict[str, float]:
        """Each part by its name, in the order of a step; empty where nothing was measured."""
        if self.wait is None or self.transfer is None or self.compute is None or self.host is None:
            return {}
        return {"wait": self.wait, "transfer": self.transfer, "compute": self.compute, "host": self.host}


@dataclass(frozen=True, slots=True)
class EpochStart:
    """What the start of an epoch costs, and its share of an epoch."""

    seconds: float
    share: float


@dataclass(frozen=True, slots=True)
class TriedRecord:
    """A candidate. ``low`` and ``high`` are the ends of the rate's interval, ``step`` holds seconds a batch,
    ``cores`` says how many were kept busy."""

    settings: Settings
    rate: float | None
    gain: Ratio | None
    blocks: int
    failed: str | None
    low: float | None = None
    high: float | None = None
    step: Parts | None = None
    worker_bytes: int | None = None
    cores: float | None = None
    device: DeviceUse | None = None


@dataclass(frozen=True, slots=True)
class BlockRecord:
    """One stretch of the run; ``tried`` counts in the record's. What was measured is None where nothing was."""

    what: str
    tried: int | None
    purpose: str
    began: float
    seconds: float
    failed: str | None = None
    rate: float | None = None
    batches: int | None = None
    measured: float | None = None
    step: Parts | None = None
    pool_seconds: float | None = None
    warm_batches: int | None = None
    worker_bytes: int | None = None
    cores: float | None = None
    device: DeviceUse | None = None


@dataclass(frozen=True, slots=True)
class MachineRecord:
    """Memory in bytes; ``cores`` are those that could be kept busy."""

    fingerprint: str
    system: str
    architecture: str
    processor: str
    python: str
    logical_cores: int
    cores: float
    memory: int
    shared_memory: int | None = None
    devices: tuple[Accelerator, ...] = ()


@dataclass(frozen=True, slots=True)
class NodeRecord:
    """One of several nodes: its ranks, its usable cores, and the bytes that were free when the nodes met."""

    name: str
    ranks: tuple[int, ...]
    cores: float
    memory_free: int
    shared_memory_free: int | None = None


@dataclass(frozen=True, slots=True)
class StageTime:
    """A stage of a batch's way to the loop: seconds a batch, and the share of the whole way."""

    name: str
    seconds: float
    share: float


@dataclass(frozen=True, slots=True)
class FunctionTime:
    """A function that the fetching thread was found in: its share of that thread's time, with the ends of the
    interval, and seconds a batch. ``calls`` is what it spends them in: a library's function, or an expression."""

    stage: str
    function: str
    filename: str
    row: int
    calls: str
    share: float
    low: float
    high: float
    seconds: float
    cell: int | None = None


@dataclass(frozen=True, slots=True)
class Explanation:
    """Where a loader spends its time. ``idle`` is the share of the fetching that neither computes nor waits for a
    core, ``next`` what to do next where the loop waits for more than a third of its time."""

    settings: Settings
    batches: int
    idle: float
    stages: tuple[StageTime, ...]
    functions: tuple[FunctionTime, ...]
    advice: tuple[str, ...]
    next: str = ""


@dataclass(frozen=True, slots=True)
class LinePrice:
    """A line of the user's code: ``calls`` is the expression that most of its time is spent in."""

    filename: str
    row: int
    calls: str
    price: Price
    cell: int | None = None


@dataclass(frozen=True, slots=True)
class FindingPrice:
    """What lint says about code that ran in a step, and what that code takes of it; ``text`` is the code."""

    code: str
    name: str
    message: str
    filename: str
    row: int
    column: int
    text: str
    price: Price
    cell: int | None = None


@dataclass(frozen=True, slots=True)
class ListedLine:
    """A line of the training loop as it stands in the source; without a price where it was never found at work."""

    row: int
    text: str
    price: Price | None


@dataclass(frozen=True, slots=True)
class Listing:
    """The training loop, line by line."""

    filename: str
    lines: tuple[ListedLine, ...]
    cell: int | None = None


@dataclass(frozen=True, slots=True)
class Prices:
    """What the lines of a step cost, from ``samples`` of the loop's stack in some ``batches``, ``step`` seconds each.

    ``findings`` are what lint says about lines that ran, the costliest first; ``elsewhere`` counts those about other
    lines of the same files. ``lines`` take a share worth naming, and nothing is found there.
    """

    batches: int
    step: float
    samples: int
    findings: tuple[FindingPrice, ...]
    lines: tuple[LinePrice, ...]
    elsewhere: int = 0
    listing: Listing | None = None


@dataclass(frozen=True, slots=True)
class Record:
    """One run of ``tune``: what ``tune --json`` writes, with the same names; ``docs/json.md`` has the meaning of each.
    Times are in seconds, sizes in bytes, rates in samples a second, shares from 0 to 1; what was not measured is None.

    Attributes:
        sentence: the diagnosis.
        verdict: ``change``, ``nothing_to_gain``, ``undecided`` or ``by_hand``.
        loaders: each with its settings now, those that are recommended, and the gain; the one that trains comes first.
        shares: how a step divides into waiting, copying, computing and the host's own work.
        ceilings: how many times as fast it would be with a part of the step removed, such as ``no-wait``.
        tried: every candidate, the settings in the source first.
        kept: why these are kept; None where others are recommended.
        energy: joules a sample, now and under what is recommended; None where no driver reports it.
        diff: the change, as a unified diff; empty where there is none.
        applied: whether it is in place; ``verified`` whether the gain showed when both sources were run.

    Example:
        >>> from accel_advisor import Trial, tune
        >>> trial: Trial = tune("quick.py", budget=5, options=["--knobs", "num_workers"])
        >>> trial.trained.baseline.settings.num_workers, trial.trained.baseline.rate > 0
        (0, True)
        >>> 0 <= trial.shares.wait <= 1
        True
    """

    schema: int
    version: str
    began: str
    script: str
    args: tuple[str, ...]
    machine: MachineRecord | None
    device: str
    torch: str
    sentence: str | None
    loaders: tuple[LoaderRecord, ...]
    shares: Parts
    ceilings: dict[str, Ratio]
    epoch_start: EpochStart | None
    tried: tuple[TriedRecord, ...]
    kept: str | None
    diff: str
    built: Place | None
    name: str | None
    origin: str | None
    refusals: tuple[str, ...]
    notes: tuple[str, ...]
    contained: tuple[str, ...]
    leaked: tuple[str, ...]
    interrupted: bool
    applied: bool
    verified: bool | None
    verification: VerificationRecord | None
    changed: tuple[str, ...]
    seconds: float
    budget: float | None = None
    blocks: tuple[BlockRecord, ...] = field(default=())
    samples: tuple[Sample, ...] = ()
    explained: tuple[Explanation, ...] = ()
    turns: TurnsRecord | None = None
    verdict: str | None = None
    crowding: Ratio | None = None
    use: Use | None = None
    prices: Prices | None = None
    fixes: FixesRecord | None = None
    loop: PlainRecord | None = None
    other_work: float | None = None
    nodes: tuple[NodeRecord, ...] = ()
    energy: EnergyRecord | None = None

    @property
    def trained(self) -> LoaderRecord:
        """The loader that was measured."""
        return self.loaders[0]

    @property
    def recommended(self) -> int | None:
        """Which of :attr:`tried` is recommended; None where the settings in the source are kept."""
        choice = self.trained.recommended
        if choice is None or self.kept is not None:
            return None
        return next((number for number, row in enumerate(self.tried) if row.settings == choice.settings), None)
