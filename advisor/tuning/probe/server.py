"""Between the user's own iterators and the candidates: which loader trains, and when its loop is warm."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from time import perf_counter
from typing import Any

from accel_advisor.tuning.probe.channel.connection import ParentLink
from accel_advisor.tuning.probe.channel.plain_loop import PlainLoop
from accel_advisor.tuning.probe.channel.reasons import (
    LoaderShape,
    LoopReason,
    MovedOn,
    RanksDiffer,
    Unmeasurable,
    UntimedDevice,
)
from accel_advisor.tuning.probe.channel.wire import SCRIPT, LoaderInfo, Ready, Refused
from accel_advisor.tuning.probe.containment.other_processes import Elsewhere
from accel_advisor.tuning.probe.measuring.blocks import Ceiling
from accel_advisor.tuning.probe.measuring.feed import Feed
from accel_advisor.tuning.probe.measuring.meter import Device, Meter
from accel_advisor.tuning.probe.measuring.seen_loaders import (
    EVENTS_WITHOUT_BATCH,
    LoaderRecord,
    Records,
    length_of,
    settings_of,
)
from accel_advisor.tuning.probe.measuring.worker_pools import twin
from accel_advisor.tuning.probe.plain.plain_steps import PlainSteps, Steppers

SETTLE_STEPS = 4
SETTLE_MOST = 16
SETTLE_SECONDS = 10.0
"""The loop is warm when a step is no slower than the ones before it, or after so many steps or seconds."""

STEPS_ELSEWHERE = 1024
"""Training steps in a row without a batch from the loader that is served: the loop has left it."""

_NO_INDICES: Iterator[Any] = iter(())
"""Stands in the place of a sampler whose indices are wanted elsewhere."""


class Server:
    """Is asked for every batch of every loader: hands out the user's own until the training loop is warm, and then
    leaves that loop to a :class:`Feed`.

    Attributes:
        steps_elsewhere: training steps since the feed was last asked for a batch.
        feed: serves the loop that trains with the parent's candidates; None before it was taken over.
        plain: measures a loop that takes its batches from no loader; None before that is clear.
    """

    def __init__(
        self,
        session: ParentLink,
        records: Records,
        meter: Meter,
        elsewhere: Elsewhere,
        *,
        extend_epochs: bool,
        awaits_loader: bool,
    ) -> None:
        self._session = session
        self._records = records
        self._meter = meter
        self._elsewhere = elsewhere
        self._extend = extend_epochs
        self._awaits_loader = awaits_loader
        self._lock = threading.Lock()
        self._first_batch: float | None = None
        self._steps: list[float] = []
        self._step_began = 0.0
        self._device = "cpu"
        self._trained: LoaderRecord | None = None
        self._withheld: Any = None
        self._ceiling = Ceiling(meter)
        self._steppers = Steppers()
        self.feed: Feed | None = None
        self.plain: PlainSteps | None = None
        self.steps_elsewhere = 0

    # -- what the hooks report ------------------------------------------------------------------------------------

    def training_event(self, device: str | None = None) -> None:
        """Backward or an optimizer's step happened; ``device`` is the one that it happened on, when known."""
        if not self._session.here:
            self._elsewhere.step()
            return
        if self.plain is not None:
            if self._records.feeds_after_all():
                self._session.refuse(Refused(Unmeasurable.LOADER_LATER))
            return
        if self.feed is not None:
            self.steps_elsewhere += 1
            if self.steps_elsewhere < EVENTS_WITHOUT_BATCH:
                return
        self._records.training_event()
        if device is not None:
            self._device = device
        reason = self._records.unmeasurable() or self._left()
        if reason is Unmeasurable.NO_LOADER:
            if not self._awaits_loader:
                self._measure_plain()
        elif reason is not None:
            self._session.refuse(Refused(reason))

    def stepped(self, optimizer: Any) -> None:
        """An optimizer stepped."""
        if self.plain is None:
            self._steppers.stepped(optimizer)
            self.training_event()
        elif self._session.here:
            self.plain.stepped(optimizer)

    def _measure_plain(self) -> None:
        """The loop takes its batches from no loader: measure it from step to step."""
        if self._session.ranks > 1:
            self._session.refuse(Refused(Unmeasurable.NO_LOADER_ON_RANKS))
        slowest = self._steppers.slowest
        if slowest is None:
            self._session.refuse(Refused(Unmeasurable.NO_LOADER))
        if self._device != "cpu" and not Device(self._device).timed:
            self._session.refuse(Refused(UntimedDevice(self._device)))
        self._first_batch = self._first_batch or perf_counter()
        self.plain = PlainSteps(
            self._session,
            self._meter,
            slowest,
            self._device,
            lambda info, loop: self._ready((info, *self._records.seen()), loop),
        )

    def look_elsewhere(self) -> None:
        """Where other processes of the script train and this one does not, there is nothing to wait for."""
        if not self._records.events and not self._session.batches and self._elsewhere.seen:
            self._session.refuse(Refused(Unmeasurable.TRAINS_ELSEWHERE))

    def _left(self) -> LoopReason | None:
        """Why no more batches will be taken from candidates, once that is clear."""
        return MovedOn(self.steps_elsewhere) if self.steps_elsewhere >= STEPS_ELSEWHERE else None

    def worker_failed(self, error: RuntimeError) -> bool:
        """A worker of some loader died while the loop was in the script's own code; True where the candidate's next
        batch will say so, and the script must not be interrupted."""
        return self.feed is not None and self.feed.worker_failed(error)

    def serving(self, record: LoaderRecord) -> Feed | None:
        """What serves new iterators of this loader; None where they are the user's own."""
        return self.feed if record is self._trained else None

    # -- what the iterators ask ---------------------------------------------------------------------------------

    def pass_through(self, record: LoaderRecord, own: Any, served_in_epoch: int) -> Any:
        """The next batch of the user's own iterator."""
        began = perf_counter()
        if record is self._records.trained and self._step_began:
            self._steps.append(began - self._step_began)
        try:
            batch = next(own)
        except StopIteration:
            record.natural_length = served_in_epoch or None
            raise
        self._records.pulled(record, batch, began)
        self._session.batches += 1
        self._session.phase = SCRIPT
        if self._first_batch is None:
            self._first_batch = perf_counter()
        if record is self._records.trained:
            self._ceiling.remember(batch)
        self._step_began = perf_counter()
        return batch

    def take_over(self, record: LoaderRecord, own: Any, *, dry: bool = False) -> bool:
        """Whether this loader trains and its loop is warm: then report it, and serve candidates from now on.

        The user's own workers may hold batches that the epoch counts on. They get no further indices, and are taken
        over from once they run ``dry``.
        """
        if self.feed is not None or self.plain is not None or not self._session.here:
            return False
        withheld = getattr(own, "_sampler_iter", None) is _NO_INDICES
        # A loader that was cut off from its indices has no other way on, however long its last step took.
        if not withheld and not self._due(record):
            return False
        if getattr(own, "_task_info", None) and not withheld:
            self._withheld, own._sampler_iter, withheld = own._sampler_iter, _NO_INDICES, True
        if withheld and not dry:
            return False
        with self._lock:
            loader = record.reference()
            if self.feed is not None or loader is None:
                return False
            if self._device != "cpu":
                self._meter.device = Device(self._device)
                if not self._meter.device.timed:
                    self._session.refuse(Refused(UntimedDevice(self._device)))
            feed = Feed(
                self._session,
                self._records,
                self._meter,
                self._ceiling,
                loader=twin(loader),
                sampled=self._withheld if withheld else getattr(own, "_sampler_iter", None),
                record=record,
                device=self._device,
                extend_epochs=self._extend,
            )
            if hasattr(own, "_shutdown_workers"):
                own._shutdown_workers()
            if not hasattr(own, "state_dict"):  # torchdata's is asked for its state, whoever serves
                loader.__dict__["_iterator"] = None
            self._trained, self.feed = record, feed
        self._ready(self._records.infos(record))
        return True

    def _ready(self, loaders: tuple[LoaderInfo, ...], loop: PlainLoop | None = None) -> None:
        import torch

        # Some steps later all that importing has made would be looked through once more, which takes tenths of a
        # second: no block is to have that.
        if gc.isenabled():
            gc.collect()
        self._session.send(
            Ready(
                loaders=loaders,
                device=self._device.partition(":")[0],
                torch_version=str(torch.__version__),
                gpus=(self._meter.device.uuid if self._meter.device is not None else "",),
                plain=loop,
            )
        )

    def _due(self, record: LoaderRecord) -> bool:
        """Whether this loader trains and its loop is warm; of several ranks, on each of them: they ask each other
        before every so many batches of a loader that trains, which come in the same order everywhere."""
        if self._session.ranks == 1:
            return record is self._records.trained and self._warm()
        rivals = self._records.training
        if record not in rivals or record.batches % SETTLE_STEPS:
            return False
        mine = record is self._records.trained and not self._ceiling.empty and self._warm()
        loader = record.reference()
        asked = (settings_of(loader), length_of(loader)) if loader is not None else None
        said = self._session.gather((mine, asked, [each.pull_seconds for each in rivals]))
        for rank, (_, other, _) in enumerate(said):
            if other != said[0][1]:
                self._session.refuse(Refused(RanksDiffer(rank, _shape(said[0][1]), _shape(other))))
        if self._records.chosen is None and all(len(seconds) == len(rivals) for *_, seconds in said):
            slowest = max(range(len(rivals)), key=lambda number: sum(seconds[number] for *_, seconds in said))
            if rivals[slowest] is not self._records.trained:
                self._ceiling.forget()
            self._records.chosen = rivals[slowest]
        return all(ready for ready, *_ in said)

    def _warm(self) -> bool:
        if len(self._steps) < SETTLE_STEPS:
            return False
        *earlier, last = self._steps[-4:]
        since = perf_counter() - (self._first_batch or perf_counter())
        return len(self._steps) >= SETTLE_MOST or since > SETTLE_SECONDS or last <= 1.3 * sorted(earlier)[1]


def _shape(asked: Any) -> LoaderShape | None:
    return None if asked is None else LoaderShape(asked[0].num_workers, asked[1])
