"""What the probe remembers of every loader that the script built, and which of them trains."""

from __future__ import annotations

import gc
import itertools
import multiprocessing
import weakref
from collections.abc import Iterator
from time import perf_counter
from typing import Any

from accel_advisor.tuning.probe.channel.reasons import IteratesItself, KeepsBatches, LoopReason, Unmeasurable
from accel_advisor.tuning.probe.channel.wire import Frame, LoaderInfo, Settings, Trait
from accel_advisor.tuning.probe.measuring import batches
from accel_advisor.tuning.probe.measuring.cell_definitions import needs_cells
from accel_advisor.tuning.probe.measuring.worker_shares import shares_of
from accel_advisor.tuning.probe.script import stack

EVENTS_TO_TRAIN = 3
"""Training steps between a loader's batches before it is taken for the one that trains."""
EVENTS_WITHOUT_BATCH = 64
"""Training steps in a row without a batch from any loader: the data was read once, before."""
EVENTS_BETWEEN_BATCHES = 256
"""Training steps in a row without a batch from the loader that trains: it is asked no more."""
_FED_EVENTS = 4
"""Training steps with batches from a loader before them, after others without, before it is taken to train."""
SLOW_EVENTS, SLOW_SECONDS = 8, 5.0
"""Where steps are slow, so many of them over so long a time say as much, if no loader was built yet."""


class LoaderRecord:
    """One loader of the script: where it was built, and what was seen of it. It does not keep the loader alive."""

    def __init__(self, number: int, loader: Any, frames: tuple[Frame, ...]) -> None:
        self.number = number
        self.stack = frames
        self.reference: weakref.ref[Any] = weakref.ref(loader)
        self.kind = f"{type(loader).__module__}.{type(loader).__qualname__}"
        self.iterates_itself = _iterates_itself(loader)
        self.make = _make(loader)
        self.rebuilt = False
        self.iterator: weakref.ref[Any] | None = None
        self.batches = 0
        self.credits = 0
        self.pull_seconds = 0.0
        self.batch_size = 0
        self.batch_bytes = 0
        self.natural_length: int | None = None

    def saw(self, batch: Any, seconds: float) -> None:
        """A batch of it reached the script after ``seconds``."""
        self.batches += 1
        self.pull_seconds += seconds
        if self.batches == 1:
            self.batch_size = batches.samples(batch)
            self.batch_bytes = batches.tensor_bytes(batch)

    def info(self, role: str) -> LoaderInfo:
        """What is reported of it to the parent."""
        loader = self.reference()
        if loader is None:
            return LoaderInfo(
                self.number, role, self.stack, Settings(), self.batch_size, None, self.batch_bytes, "", ""
            )
        kind = type(loader.dataset)
        return LoaderInfo(
            number=self.number,
            role=role,
            stack=self.stack,
            settings=settings_of(loader),
            batch_size=self.batch_size,
            length=length_of(loader) or self.natural_length,
            batch_bytes=self.batch_bytes,
            dataset=f"{kind.__module__}.{kind.__qualname__}",
            start_method=start_method_of(loader),
            shares=shares_of(loader),
            traits=frozenset(self._traits(loader)),
        )

    def _traits(self, loader: Any) -> Iterator[Trait]:
        from torch.utils.data import IterableDataset

        if isinstance(loader.dataset, IterableDataset):
            yield Trait.ITERABLE
        if self.rebuilt:
            yield Trait.REBUILT
        if self.iterator is not None and _is_cycled(self.iterator()):
            yield Trait.CYCLED
        if callable(getattr(loader.dataset, "set_epoch", None)):
            yield Trait.SETS_EPOCH
        if start_method_of(loader) != "fork" and needs_cells(loader):
            yield Trait.NEEDS_CELLS


class Records:
    """All loaders of the script, and which of them stand between training steps."""

    def __init__(self) -> None:
        self.all: list[LoaderRecord] = []
        self._by_loader: weakref.WeakKeyDictionary[Any, LoaderRecord] = weakref.WeakKeyDictionary()
        self._since: list[LoaderRecord] = []
        self.events = 0
        self.events_without_batch = 0
        self._first_event = 0.0
        self._fed = self._events_since_fed = 0
        self.chosen: LoaderRecord | None = None

    def built(self, loader: Any) -> LoaderRecord:
        """A loader was built by the caller's caller. One that was built at the same place before, and has been iterated
        or is gone, lives on in it: scripts build a new loader for every epoch."""
        source = self._source(loader)
        frames = source.stack if source is not None else stack.capture()
        for record in reversed(self.all):
            over = record.reference() is None or (record.batches and record.make == _make(loader))
            if record.stack == frames and record is not source and over:
                record.reference = weakref.ref(loader)
                record.rebuilt = record.batches > 0
                break
        else:
            record = LoaderRecord(len(self.all), loader, frames)
            self.all.append(record)
        self._by_loader[loader] = record
        return record

    def _source(self, loader: Any) -> LoaderRecord | None:
        """The loader that a library was given to make this one of, as accelerate and Lightning do: it stands in a
        variable of theirs, and has the same data set. The place to edit is where that one was built."""
        for frame in stack.library_frames():
            for value in frame.f_locals.values():
                record = self._by_loader.get(value) if _is_loader(value) else None
                if record is not None and value is not loader and value.dataset is loader.dataset:
                    return record
        return None

    def of(self, loader: Any) -> LoaderRecord:
        """The record of a loader; a new one where it was not seen to be built."""
        return self._by_loader.get(loader) or self.built(loader)

    def pulled(self, record: LoaderRecord, batch: Any, began: float) -> None:
        """A batch reached the script."""
        record.saw(batch, perf_counter() - began)
        self.events_without_batch = 0
        if record not in self._since:
            self._since.append(record)

    def training_event(self) -> None:
        """A backward pass, a gradient or an optimizer's step: it credits the loaders that gave a batch before it."""
        self.events += 1
        if self.events == 1:
            self._first_event = perf_counter()
        if not self._since:
            self.events_without_batch += 1
        for record in self._since:
            record.credits += 1
        self._since.clear()

    def feeds_after_all(self) -> bool:
        """Whether loaders feed a training that took no batch from any at first. To be asked at every training step
        then. A loader whose batches come before fewer than one in four of them evaluates now and then."""
        if self._since:
            self._fed += 1
            self._since.clear()
        if self._fed:
            self._events_since_fed += 1
        return self._fed >= _FED_EVENTS and 4 * self._fed > self._events_since_fed

    @property
    def trained(self) -> LoaderRecord | None:
        """The loader that trains; of several at once the one that the loop waits for most, or that was ``chosen``. None
        while unknown."""
        return self.chosen or max(self.training, key=lambda record: record.pull_seconds, default=None)

    @property
    def training(self) -> list[LoaderRecord]:
        """The loaders that train, in the order of construction."""
        best = max((record.credits for record in self.all), default=0)
        return [record for record in self.all if 2 * record.credits > best >= EVENTS_TO_TRAIN]

    def unmeasurable(self) -> LoopReason | None:
        """Why no loader feeds the training, once that is clear."""
        if not self.all and self._long_without_loader():
            return Unmeasurable.NO_LOADER
        if self.events_without_batch < EVENTS_WITHOUT_BATCH:
            return None
        if self.trained is not None:
            if self.events_without_batch < EVENTS_BETWEEN_BATCHES:
                return None
            return KeepsBatches(self.events_without_batch)
        own = [record.kind for record in self.all if record.iterates_itself and not record.batches]
        if own:
            return IteratesItself(own[0])
        if any(record.batches for record in self.all):
            return Unmeasurable.READ_BEFORE
        if self.events_without_batch >= EVENTS_BETWEEN_BATCHES:
            return Unmeasurable.NO_LOADER
        return None

    def _long_without_loader(self) -> bool:
        if self.events_without_batch >= EVENTS_WITHOUT_BATCH:
            return True
        return self.events_without_batch >= SLOW_EVENTS and perf_counter() - self._first_event >= SLOW_SECONDS

    def seen(self) -> tuple[LoaderInfo, ...]:
        """Every loader iterated so far, where none trains."""
        return tuple(record.info("other") for record in self.all if record.batches)

    def infos(self, trained: LoaderRecord) -> tuple[LoaderInfo, ...]:
        """Every loader iterated so far, the trained one first."""
        others = [record for record in self.all if record.batches and record is not trained]
        role = {id(r): "train" if 2 * r.credits > trained.credits else "other" for r in others}
        return (trained.info("train"), *(record.info(role[id(record)]) for record in others))


def _iterates_itself(loader: Any) -> bool:
    from torch.utils.data import DataLoader

    return type(loader).__iter__ is not DataLoader.__iter__


def _is_cycled(iterator: Any) -> bool:
    return any(isinstance(one, itertools.cycle) for one in gc.get_referrers(iterator))


def _is_loader(value: Any) -> bool:
    from torch.utils.data import DataLoader

    return issubclass(type(value), DataLoader)


def _make(loader: Any) -> tuple[Any, ...]:
    """What loaders of which every epoch builds a new one have in common; those of other data rarely do."""
    return type(loader), type(loader.dataset), type(loader.sampler)


def settings_of(loader: Any) -> Settings:
    """What the script asked for, in the terms of the knobs."""
    workers = int(loader.num_workers)
    return Settings(
        num_workers=workers,
        prefetch_factor=(loader.prefetch_factor or 2) if workers else None,
        persistent_workers=bool(loader.persistent_workers) if workers else False,
        pin_memory=bool(loader.pin_memory),
    )


def length_of(loader: Any) -> int | None:
    """Batches in an epoch; None where unknown or endless."""
    try:
        return len(loader)
    except (TypeError, NotImplementedError, ValueError, OverflowError):
        return None


def start_method_of(loader: Any) -> str:
    """How its workers start, or would start."""
    context = loader.multiprocessing_context or multiprocessing
    return str(context.get_start_method(allow_none=True) or multiprocessing.get_context().get_start_method())
