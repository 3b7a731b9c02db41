"""The knobs of a loader, what belongs together among them, and the limits that a machine sets to them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace

from accel_advisor.machine.machine import mebibytes
from accel_advisor.tuning.probe.channel.wire import Settings
from accel_advisor.tuning.probe.knobs.training_knobs import TRAINING_KNOBS

KNOBS: tuple[str, ...] = ("num_workers", "prefetch_factor", "persistent_workers", "pin_memory", "non_blocking")
"""The knobs of a loader, free of meaning, under DataLoader's own argument names, in the order of trust."""
TRAINING_KNOB_NAMES: tuple[str, ...] = tuple(knob.name for knob in TRAINING_KNOBS)
"""Knobs of the training itself, which may change what it computes: each is turned only where it is named."""
_ONLY_BY_NAME = frozenset(knob.name for knob in TRAINING_KNOBS if knob.only_by_name)
ALL = "all"
"""Names every knob but those that make another training, and the fixes of lint."""
FIXES = "fixes"
"""Names the fixes of lint, as knobs; with rules behind it, as in ``fixes:ACC205,ACC201``, those of these rules."""
_OF_RULES = f"{FIXES}:"
ACCELERATOR_KNOBS = frozenset({"pin_memory", "non_blocking"})
"""Knobs that do nothing where the model is on the CPU."""
DEFAULT_PREFETCH = 2
"""What DataLoader takes where ``prefetch_factor`` is None and there are workers."""

Value = int | bool | None
_MIB = 1 << 20
_WORKER_BYTES_GUESS = 96 * _MIB
_PIPE_BATCHES = 2
_LOOP_BATCHES = 2  # the one that it works on, and the next
_HEADROOM = 0.8


class UnknownKnobError(ValueError):
    """A name that is no knob; the message is one sentence that lists the knobs there are."""


def parse_knobs(text: str) -> frozenset[str]:
    """The knobs that a comma-separated list names: those of fixes are ``fixes``, or ``fixes:RULE`` for each rule.

    Raises:
        UnknownKnobError: a name that is no knob, or no name at all.
    """
    known = (*KNOBS, *TRAINING_KNOB_NAMES)
    listed = (
        f"the knobs are {', '.join(known)}, {FIXES} for fixes of lint, and {ALL} for all but "
        f"{', '.join(sorted(_ONLY_BY_NAME))} and {FIXES}"
    )
    names: set[str] = set()
    of_rules = False
    for part in (part.strip() for part in text.split(",") if part.strip()):
        name = part.replace("-", "_")
        if name in (*known, ALL, FIXES):
            names.add(name)
        elif part.startswith(_OF_RULES) or of_rules:
            of_rules = True
            rule = part.removeprefix(_OF_RULES).strip()
            names.add(_OF_RULES + rule if rule else FIXES)
        else:
            raise UnknownKnobError(f"unknown knob {part!r}: {listed}")
    if not names:
        raise UnknownKnobError(f"no knob is named: {listed}")
    return frozenset(names) - {ALL} | (frozenset(known) - _ONLY_BY_NAME if ALL in names else frozenset())


def fix_rules(knobs: Iterable[str]) -> tuple[str, ...] | None:
    """The rules whose fixes are knobs, as they were named: none for all of them. None where no fix is one."""
    rules = tuple(sorted(knob.removeprefix(_OF_RULES) for knob in knobs if knob.startswith(_OF_RULES)))
    return rules if rules else () if FIXES in knobs else None


def consistent(settings: Settings) -> Settings:
    """``settings`` with what DataLoader refuses without workers taken back: it raises ValueError for a
    ``prefetch_factor`` or ``persistent_workers`` with zero workers."""
    if settings.num_workers == 0:
        return replace(settings, prefetch_factor=None, persistent_workers=False)
    return settings


def prefetch(settings: Settings) -> int:
    """Batches that each worker keeps ahead; 0 without workers."""
    if settings.num_workers == 0:
        return 0
    return settings.prefetch_factor or DEFAULT_PREFETCH


def changed(old: Settings, new: Settings) -> dict[str, Value]:
    """The knobs to write so that ``old`` becomes ``new``, in the order of :data:`KNOBS`; None where the argument is to
    be taken away. A prefetch factor that merely spells out the default is no change."""
    before, after = asdict(old), asdict(new)
    wanted = {knob: after[knob] for knob in KNOBS if before[knob] != after[knob]}
    if "prefetch_factor" in wanted and old.num_workers and new.num_workers and prefetch(old) == prefetch(new):
        del wanted["prefetch_factor"]
    return wanted


def arguments(settings: Settings) -> dict[str, Value]:
    """The settings by DataLoader's argument names, for people and for JSON."""
    return asdict(settings)


def describe(settings: Settings) -> str:
    """The settings as they would be written in a call, without what is at its default."""
    parts = [f"num_workers={settings.num_workers}"]
    if settings.num_workers and prefetch(settings) != DEFAULT_PREFETCH:
        parts.append(f"prefetch_factor={settings.prefetch_factor}")
    parts += [
        f"{knob}=True" for knob in ("persistent_workers", "pin_memory", "non_blocking") if getattr(settings, knob)
    ]
    return ", ".join(parts)


def simplicity(settings: Settings) -> tuple[int, int, int]:
    """Sorts equals: fewest workers first, then least memory, then fewest arguments to write."""
    flags = settings.persistent_workers + settings.pin_memory + settings.non_blocking
    return settings.num_workers, settings.num_workers * prefetch(settings), flags


@dataclass(frozen=True, slots=True)
class Use:
    """What workers and the batches under way take, and what was free before; in bytes, None where that is not known.

    Attributes:
        memory, memory_free: of workers and batches together.
        shared, shared_free: of the batches alone, which travel through /dev/shm.
        pinned: of the memory, what cannot be swapped: torch copies batches there, and keeps it.
    """

    memory: int
    memory_free: int | None
    shared: int
    shared_free: int | None
    pinned: int = 0

    def of(self, ranks: int) -> Use:
        """Of so many ranks together."""
        free = (None if one is None else one * ranks for one in (self.memory_free, self.shared_free))
        return Use(self.memory * ranks, next(free), self.shared * ranks, next(free), self.pinned * ranks)


@dataclass(frozen=True, slots=True)
class Limits:
    """What a candidate may take, in bytes; None where a limit is unknown.

    Attributes:
        cores: usable cores, possibly a fraction.
        memory: free memory for workers and for batches under way.
        shared_memory: free bytes of /dev/shm, through which batches travel.
        batch: bytes of one batch.
        worker: memory of one worker as measured on the first pool, None before that.
        workers: the most workers that keep the script's meaning, None where any number does.
        ranks: processes of the training on this machine. All other limits are those of one of them.
        pins: whether ``pin_memory`` has an effect, as beside an accelerator.
    """

    cores: float
    memory: int | None = None
    shared_memory: int | None = None
    batch: int = 0
    worker: int | None = None
    workers: int | None = None
    ranks: int = 1
    pins: bool = False

    def shared(self, ranks: int) -> Limits:
        """The share that each of so many ranks has."""
        return replace(
            self,
            cores=self.cores / ranks,
            memory=None if self.memory is None else self.memory // ranks,
            shared_memory=None if self.shared_memory is None else self.shared_memory // ranks,
            ranks=ranks,
        )

    @property
    def most_workers(self) -> int:
        """No candidate has more workers. Four a core, and 16 on any machine: workers that wait for storage need no core
        while they wait, and the search goes there only while more of them still help."""
        most = max(1, 16 // self.ranks, min(64, round(4 * self.cores)))
        return most if self.workers is None else min(most, self.workers)

    def use(self, settings: Settings) -> Use:
        """What ``settings`` are expected to take of the machine, by what was seen of a worker so far."""
        shared = self._under_way(settings)
        worker = self.worker if self.worker is not None else _WORKER_BYTES_GUESS
        pinned = self._pinned(settings) if self.pins and settings.pin_memory else 0
        memory = shared + pinned + settings.num_workers * worker
        return Use(memory, self.memory, shared, self.shared_memory, pinned)

    def _pinned(self, settings: Settings) -> int:
        """Bytes of batches that wait for the loop in pinned memory, and of those that it has."""
        return (settings.num_workers * prefetch(settings) + _LOOP_BATCHES) * self.batch

    def _under_way(self, settings: Settings) -> int:
        """Bytes of batches on their way from workers."""
        if not settings.num_workers:
            return 0
        return (settings.num_workers * prefetch(settings) + _PIPE_BATCHES) * self.batch

    def refusal(self, settings: Settings) -> str | None:
        """Why ``settings`` must not be started, in words; None where they may."""
        workers = settings.num_workers
        if workers == 0:
            return None
        if workers > self.most_workers:
            limit = (
                f"{self.cores:g} cores could serve" if self.workers is None else "its data set can be shared out among"
            )
            return f"{workers} workers are more than {limit}"
        use = self.use(settings)
        if self.shared_memory is not None and use.shared > _HEADROOM * self.shared_memory:
            return (
                f"batches under way would take {mebibytes(use.shared)} of the {mebibytes(self.shared_memory)} "
                "that are free in /dev/shm"
            )
        if self.memory is not None and use.memory > _HEADROOM * self.memory:
            return (
                f"workers and batches would take about {mebibytes(use.memory)} of {mebibytes(self.memory)} of free "
                "memory"
            )
        return None

    def largest(self, settings: Settings, workers: Iterable[int]) -> int:
        """The most of ``workers`` that ``settings`` may have; 0 where none is allowed."""
        allowed = [count for count in workers if self.refusal(replace(settings, num_workers=count)) is None]
        return max(allowed, default=0)
