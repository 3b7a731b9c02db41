"""What parent and probe say to each other: plain data, pickled over an authenticated local connection.

The parent sends :class:`Measure` or :class:`Stop` and gets one answer for each. Everything here must be importable
with the standard library alone.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Any

from accel_advisor.tuning.probe.channel.plain_loop import Passes, PlainLoop
from accel_advisor.tuning.probe.channel.reasons import CandidateReason, LoopReason

BASELINE = "baseline"
"""The settings that the user's own source gives, run through the same machinery as every candidate."""
NO_WAIT = "no-wait"
"""Ceiling: cached batches in host memory, handed out at once."""
NO_TRANSFER = "no-transfer"
"""Ceiling: cached batches that already are on the device."""

STARTING, SCRIPT, FETCHING, STARTING_WORKERS, WAITING = "starting", "script", "fetching", "starting workers", "waiting"
"""Phases of the child: before its first batch, in the script's own code, in a loader, in a loader whose workers have
not given a batch yet, waiting for the parent."""


@dataclass(frozen=True, slots=True, order=True)
class Settings:
    """A full assignment of the knobs of one loader, under DataLoader's own argument names.

    ``prefetch_factor`` is None, and ``persistent_workers`` False, where ``num_workers`` is 0. ``non_blocking`` belongs
    to the loop's transfers, not to the loader, and is measured with it.
    """

    num_workers: int = 0
    prefetch_factor: int | None = None
    persistent_workers: bool = False
    pin_memory: bool = False
    non_blocking: bool = False


@dataclass(frozen=True, slots=True)
class Frame:
    """One frame of the stack that built a loader, outermost first in a stack.

    ``row``/``end_row`` count from 1; ``column``/``end_column`` count characters from 1; they span the call that was
    being executed, as CPython's ``co_positions`` says (0 where it does not).
    """

    filename: str
    function: str
    row: int
    column: int
    end_row: int
    end_column: int


DATA_SET, COLLATE = "data set", "collate"
"""What a thread that fetches a batch is at."""


@dataclass(frozen=True, slots=True)
class Passage:
    """One batch on its way from the data set to the loop, in seconds.

    Attributes:
        data_set, collate: in the data set, and in the collate function.
        idle: of these, how long the fetching thread neither computed nor waited for a core: storage, network, locks.
        hand_over: from a worker to the main process, pickling included; not the time that it lay ready there.
        pin: copying into pinned memory.
    """

    data_set: float
    collate: float
    idle: float
    hand_over: float
    pin: float


@dataclass(frozen=True, slots=True)
class Stack:
    """Where a fetching thread was found at work.

    Attributes:
        task: DATA_SET or COLLATE.
        frames: outermost first, without the probe's own; ``function`` is the dotted name, with its module.
        seconds, squares: the sums of the times, and of their squares, that samples of it stand for.
    """

    task: str
    frames: tuple[Frame, ...]
    seconds: float
    squares: float


@dataclass(frozen=True, slots=True)
class Watched:
    """What was seen of a loader at work during one block."""

    passages: tuple[Passage, ...]
    stacks: tuple[Stack, ...]


@dataclass(frozen=True, slots=True)
class LoopStack:
    """Where the loop was found at work.

    Attributes:
        frames: of code that is neither a library's nor the probe's, outermost first.
        fetching: how many of them are outside of the fetching of a batch; None where none was being fetched.
        computing: how many of them are outside of the innermost module or backward pass; 0 where there is none.
    """

    frames: tuple[Frame, ...]
    fetching: int | None
    computing: int = 0


@dataclass(frozen=True, slots=True)
class LoopSamples:
    """Where the loop spent its time during one block.

    Attributes:
        stacks: where it was found, each once.
        samples: in the order of time, the number of a stack and the seconds that the sample stands for.
        ran: the lines, by file and number, that the steps before the block ran; empty where they were not traced.
        asks: the frames that ask for a batch, as those of a stack.
    """

    stacks: tuple[LoopStack, ...]
    samples: tuple[tuple[int, float], ...]
    ran: tuple[tuple[str, int], ...]
    asks: tuple[Frame, ...]


class Trait(Enum):
    """What the probe saw of a loader."""

    ITERABLE = auto()
    """Its data set is iterable."""
    REBUILT = auto()
    """It is built again for every epoch."""
    CYCLED = auto()
    """Its batches are read once and kept in memory by itertools.cycle."""
    SETS_EPOCH = auto()
    """Its data set has a method ``set_epoch``."""
    NEEDS_CELLS = auto()
    """Its workers would not find what cells of a notebook define, because they do not fork."""


@dataclass(frozen=True, slots=True)
class LoaderInfo:
    """A loader that the script built.

    Attributes:
        number: in the order of construction, from 0.
        role: ``train`` (backward or an optimizer's step happens between its batches), ``other`` otherwise.
        stack: the frames that built it, outermost first, library frames included.
        settings: what the script asked for.
        batch_size: samples in the first batch; 0 before one was seen.
        length: batches in an epoch; None where it is unknown or endless.
        batch_bytes: tensor bytes of the first batch.
        dataset: qualified name of the data set's class.
        start_method: of its workers (``fork``, ``forkserver``, ``spawn``).
        traits: what was seen of it that bears on a recommendation.
        shares: how many workers its data set can be shared out among: None for any number, 1 for an iterable one that
            each worker would yield whole.
    """

    number: int
    role: str
    stack: tuple[Frame, ...]
    settings: Settings
    batch_size: int
    length: int | None
    batch_bytes: int
    dataset: str
    start_method: str
    traits: frozenset[Trait] = frozenset()
    shares: int | None = None


@dataclass(frozen=True, slots=True)
class Joined:
    """The first word of a child that is one rank of several."""

    rank: int


@dataclass(frozen=True, slots=True)
class Gather:
    """A rank has reached a batch at which all ranks must do the same, and says what it has to say there."""

    value: Any


@dataclass(frozen=True, slots=True)
class Gathered:
    """What all ranks said in their latest :class:`Gather`, by rank: the answer to each of them."""

    values: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Ready:
    """The training loader is known and the loop is warm: the child waits for the first :class:`Measure`."""

    loaders: tuple[LoaderInfo, ...]
    """Every loader iterated so far, the trained one first."""
    device: str
    """``cpu``, ``cuda``, ``mps``, ``xpu``: where the model's parameters are."""
    torch_version: str
    gpus: tuple[str, ...] = ()
    """UUID of the device that trains, by rank; empty where there is none, or torch does not report it."""
    plain: PlainLoop | None = None
    """Of a loop that takes its batches from no loader: then what fetches them stands in the place of one."""


@dataclass(frozen=True, slots=True)
class Measure:
    """Serve one block to the loop.

    Attributes:
        what: a candidate, or one of BASELINE, NO_WAIT, NO_TRANSFER.
        min_batches, min_seconds: the block ends when both are reached.
        fresh: start a new pool even where one with these settings is alive.
        most_seconds: the candidate fails at the first batch after so long, the start of its workers included.
        watch: say where the loader spends its time, too. Its pool is opened for this block and closed after it.
        lines: say which lines of the script the loop spends its time at, too.
    """

    what: Settings | str
    min_batches: int = 16
    min_seconds: float = 0.5
    fresh: bool = False
    most_seconds: float = math.inf
    watch: bool = False
    lines: bool = False


@dataclass(frozen=True, slots=True)
class Part:
    """One rank's own clock in a block: seconds, as in :class:`Block`."""

    seconds: float
    wait: float
    transfer: float
    compute: float
    host: float


@dataclass(frozen=True, slots=True)
class Block:
    """Consecutive batches that the user's loop took from one candidate: the unit of measurement.

    ``seconds`` is the wall time of the block; ``wait``, ``transfer``, ``compute`` and ``host`` are its exclusive parts
    in seconds and add up to it.

    Attributes:
        what: as in :class:`Measure`.
        began: seconds on the child's monotonic clock.
        pool_seconds: from asking for a pool to its first batch; 0 where the pool was alive already.
        epoch_seconds: cost of one epoch start under these settings (workers starting again and the first batch), as
            measured; None where no epoch began.
        epoch_batches: batches in an epoch, where that is known by now.
        warm_batches: batches served before the block and not counted.
        worker_bytes: unique memory of the worker processes together, in bytes; 0 without workers. Of several ranks the
            largest.
        ranks: each rank's own clock, where there are several. Then ``samples`` are those of all ranks, ``seconds``
            the slowest's, and its parts those of the rank that the others wait for.
        watched: where the loader spent its time, if that was asked for.
        lines: at which lines of the script the loop spent its time, if asked for. Of several ranks the first's.
        passes: of a loop without a loader, whose batches are then its steps.
        stretches: when its clock ran, from ``began`` on: it stands between epochs. Of several ranks the first's.
    """

    what: Settings | str
    batches: int
    samples: int
    seconds: float
    wait: float
    transfer: float
    compute: float
    host: float
    began: float
    pool_seconds: float = 0.0
    epoch_seconds: float | None = None
    warm_batches: int = 0
    epoch_batches: int | None = None
    worker_bytes: int = 0
    watched: Watched | None = None
    lines: LoopSamples | None = None
    ranks: tuple[Part, ...] = ()
    passes: Passes | None = None
    stretches: tuple[tuple[float, float], ...] = ()

    @property
    def rate(self) -> float:
        """Samples per second."""
        return self.samples / self.seconds


@dataclass(frozen=True, slots=True)
class CandidateFailed:
    """A candidate could not be measured: its worker died, it ran out of memory, it could not be pickled...

    Attributes:
        reason: None on a rank that gives up because another one failed.
        rank: the one of several that failed; None where all did, or there is but one.
    """

    what: Settings | str
    reason: CandidateReason | None
    rank: int | None = None


@dataclass(frozen=True, slots=True)
class ScriptEnded:
    """The user's script came to its end, well or badly, before :class:`Stop`."""

    status: int
    traceback: str = ""
    """The script's own traceback, without the probe's frames; empty where it ended well."""
    batches: int = 0
    """Batches that any loader had served."""
    trained: bool = False
    """Whether a loader was seen to train."""
    rank: int | None = None
    """Which of several ranks speaks."""


@dataclass(frozen=True, slots=True)
class Refused:
    """The loop cannot be measured, and why."""

    reason: LoopReason


@dataclass(frozen=True, slots=True)
class Heartbeat:
    """The child is alive; sent at least once a second from a thread of its own."""

    batches: int
    phase: str


@dataclass(frozen=True, slots=True)
class Stop:
    """Leave the process now, without returning into user code."""


ENABLE = "gradient_checkpointing_enable"
"""The method by which models of transformers have their own blocks computed again in the backward pass."""


@dataclass(frozen=True, slots=True)
class Site:
    """One frame of a stack, and the names that it has for what was turned there."""

    frame: Frame
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Turned:
    """What became of a training with a knob turned, or with none.

    Attributes:
        losses: the values that were given to backward, from the first on.
        sites: for each optimizer, model or loader that was turned, the stack that built or called it, outermost first.
        threads, precision, benchmark: intra-op threads, precision of float32 products, and cuDNN's choice by trial, as
            they were at the end.
        memory: the most that was in use, in bytes: of the accelerator where there is one.
        blocks: for each model whose blocks were turned, how to reach these in Python, with ``{}`` for the model; or
            its own method that turns them, :data:`ENABLE`.
    """

    losses: tuple[float, ...]
    sites: tuple[tuple[Site, ...], ...]
    threads: int
    precision: str
    benchmark: bool
    memory: int
    blocks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Stopped:
    """The last word of a child that was asked to stop."""

    contained: tuple[str, ...] = field(default=())
    """Paths that the script wrote and that went to the scratch overlay."""
    turned: Turned | None = None
    """Only of a child that was started to compare a knob."""
