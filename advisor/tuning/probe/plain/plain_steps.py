"""Measures a loop that takes its batches from no loader: from the end of an optimizer's step to that of the next."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any

from accel_advisor.tuning.probe.channel.connection import ParentLink
from accel_advisor.tuning.probe.channel.plain_loop import PlainLoop, Unreplayed
from accel_advisor.tuning.probe.channel.reasons import Meaningless, TooFewBatches
from accel_advisor.tuning.probe.channel.wire import (
    NO_WAIT,
    SCRIPT,
    Block,
    CandidateFailed,
    Frame,
    LoaderInfo,
    Measure,
    Settings,
)
from accel_advisor.tuning.probe.measuring import batches
from accel_advisor.tuning.probe.measuring.blocks import Ceiling
from accel_advisor.tuning.probe.measuring.line_watch import TRACED_BATCHES, LineWatch
from accel_advisor.tuning.probe.measuring.meter import Device, Meter
from accel_advisor.tuning.probe.plain.fetch_search import FetchFound, FetchSearch
from accel_advisor.tuning.probe.plain.named_loader import names_loader
from accel_advisor.tuning.probe.plain.replayed_call import ReplayedCall
from accel_advisor.tuning.probe.script.stack import capture

ROLE = "plain"
"""Of what stands in the place of a loader."""
WATCHED_STEPS = 3
"""Steps in which the call is looked for that fetches; one more before them may have been given its batch unseen."""
KEEPING_STEPS = 2
TRACED_SECONDS = 2.0
_LEAST_STEPS = 2


class Steppers:
    """The optimizers that step, and which of them ends a step of the loop: of several the one that steps least often,
    as the generator's does of a GAN."""

    def __init__(self) -> None:
        self._seen: dict[int, list[int]] = {}
        self._names: dict[int, str] = {}
        self._steps = 0

    def stepped(self, optimizer: Any) -> None:
        """One of them did."""
        self._steps += 1
        self._seen.setdefault(id(optimizer), []).append(self._steps)
        self._names[id(optimizer)] = type(optimizer).__name__

    @property
    def slowest(self) -> tuple[int, str] | None:
        """The identity and the class of the one that ends a step; None where none has stepped again and again."""
        going = [
            one for one, at in self._seen.items() if len(at) >= _LEAST_STEPS and at[-1] > self._steps - 2 * _gap(at)
        ]
        # Of those that step equally often it is the last one that ends the step.
        found = min(going, key=lambda one: (len(self._seen[one]), -self._seen[one][-1]), default=None)
        return None if found is None else (found, self._names[found])


def _gap(at: list[int]) -> float:
    """Steps of whichever optimizer between two of this one, lately."""
    return max(1.0, float(at[-1] - at[-2]))


@dataclass(slots=True)
class _Serving:
    """The block that is being measured."""

    measure: Measure
    until: float
    lines: LineWatch | None
    asked: float
    warm: int = 0
    counting: bool = False
    began: float = 0.0
    steps: int = 0


class PlainSteps:
    """Is called for every step, and measures blocks of them as the parent says.

    Args:
        slowest: the identity and the class of the optimizer that ends a step.
        device: that the model is on, as torch writes it.
        ready: reports that the loop is warm.
    """

    def __init__(
        self,
        session: ParentLink,
        meter: Meter,
        slowest: tuple[int, str],
        device: str,
        ready: Callable[[LoaderInfo, PlainLoop], None],
    ) -> None:
        self._session = session
        self._meter = meter
        self._delimiter, self._optimizer = slowest
        self._on_device = device != "cpu"
        if self._on_device:
            meter.device = Device(device)
        self._ready = ready
        self._search = FetchSearch(meter)
        self._ceiling = Ceiling(meter)
        self._call: ReplayedCall | None = None
        self._found: FetchFound | None = None
        self._asks: tuple[Frame, ...] = ()
        self._steps = 0
        self._without_gradient = 0
        self._usual = -1
        self._samples = 1
        self._evaluated = False
        self._serving: _Serving | None = None

    def stepped(self, optimizer: Any) -> None:
        """An optimizer's step has ended."""
        if id(optimizer) != self._delimiter:
            return
        if self._session.stopping:
            self._session.leave()
        self._session.batches += 1
        self._session.phase = SCRIPT
        self._steps += 1
        if self._steps <= WATCHED_STEPS + 2:
            self._look()
        elif self._steps <= WATCHED_STEPS + 2 + KEEPING_STEPS:
            if self._steps == WATCHED_STEPS + 2 + KEEPING_STEPS:
                self._report()
                self._serve()
        else:
            self._serve()
        self._without_gradient = 0

    # -- looking for the call that fetches -------------------------------------------------------------------------

    def _look(self) -> None:
        if self._steps == 1:
            self._meter.took = self._watched
            self._search.begin()
            self._meter.start()
            return
        if self._steps > 2:
            self._search.step()
            usual = self._usual if self._usual >= 0 else self._without_gradient
            self._usual = min(usual, self._without_gradient)
        else:
            self._search.forget()
        if self._steps < WATCHED_STEPS + 2:
            return
        self._meter.pause()
        self._meter.took = self._took
        self._found = self._search.end()
        self._asks = self._found.asks if self._found is not None else capture()
        if self._found is not None and not self._found.is_generator:
            self._call = ReplayedCall(self._meter, self._ceiling, self._found.code)

    def _watched(self, module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        if not _with_gradient():
            self._without_gradient += 1
        elif self._samples == 1:
            self._samples = _samples(args, kwargs)
        self._search.took(module, args, kwargs)

    def _took(self, module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """A module was called within a block. More calls without gradients than a step usually makes are an
        evaluation: its step counts no further."""
        if _with_gradient():
            return
        self._without_gradient += 1
        if self._without_gradient > self._usual and not self._evaluated:
            self._evaluated = True
            if self._on_device:
                self._meter.pause()  # what was launched before is still to be done, and belongs to steps that count
            else:
                self._meter.drop()

    def _report(self) -> None:
        call, found = self._call, self._found
        if call is not None:
            call.kept()
        unreplayed = call.unreplayed if call is not None else Unreplayed.GENERATOR if found else Unreplayed.NOT_FOUND
        size = call.samples if call is not None and call.samples else self._samples
        info = LoaderInfo(
            number=0,
            role=ROLE,
            stack=self._asks,
            settings=Settings(),
            batch_size=size,
            length=None,
            batch_bytes=call.bytes if call is not None else 0,
            dataset=found.code.co_qualname if found is not None else "",
            start_method="",
        )
        self._samples = size
        loop = PlainLoop(self._optimizer, unreplayed=unreplayed, names_loader=names_loader())
        if found is not None:
            code = found.code
            loop = replace(
                loop,
                function=code.co_qualname,
                filename=code.co_filename,
                row=code.co_firstlineno,
                calls=found.calls,
            )
        self._ready(info, loop)

    # -- blocks ----------------------------------------------------------------------------------------------------

    def _serve(self) -> None:
        serving = self._serving
        if serving is not None:
            self._advance(serving)
        while self._serving is None:
            self._begin(self._session.command())

    def _begin(self, measure: Measure) -> None:
        call = self._call
        if measure.what == NO_WAIT:
            if call is None or call.unreplayed is not None:
                self._session.send(CandidateFailed(measure.what, Meaningless.NOTHING_KEPT))
                return
            call.replay()
        lines = LineWatch(lambda: self._meter.running) if measure.lines else None
        now = perf_counter()
        self._serving = _Serving(measure, now + measure.most_seconds, lines, now)
        if lines is None:
            self._start(self._serving)

    def _start(self, serving: _Serving) -> None:
        serving.counting, self._evaluated = True, False
        if serving.lines is not None:
            serving.lines.begin(self._asks)
        serving.began = self._meter.start()

    def _advance(self, serving: _Serving) -> None:
        if not serving.counting:
            serving.warm += 1
            if serving.warm >= TRACED_BATCHES or perf_counter() - serving.asked > TRACED_SECONDS:
                self._start(serving)
            return
        if self._evaluated:
            self._evaluated = False
            self._meter.resume()
        else:
            serving.steps += 1
            self._meter.lap()
        enough = serving.steps >= serving.measure.min_batches
        if enough and self._meter.elapsed() >= serving.measure.min_seconds:
            self._answer(serving)
        elif perf_counter() > serving.until:
            if serving.steps:
                self._answer(serving)
            else:
                self._give_up(serving)

    def _answer(self, serving: _Serving) -> None:
        self._serving = None
        seconds, wait, transfer, compute, host = self._meter.finish()
        if self._call is not None:
            self._call.make_up()
        calls = max(self._found.calls, 1) if self._found is not None else 1
        self._session.send(
            Block(
                what=serving.measure.what,
                batches=serving.steps,
                samples=serving.steps * calls * self._samples,
                seconds=seconds,
                wait=wait,
                transfer=transfer,
                compute=compute,
                host=host,
                began=serving.began,
                warm_batches=serving.warm,
                lines=serving.lines.end() if serving.lines is not None else None,
                passes=self._meter.passes,
                stretches=self._meter.stretches,
            )
        )

    def _give_up(self, serving: _Serving) -> None:
        self._serving = None
        self._meter.pause()
        if self._call is not None:
            self._call.make_up()
        if serving.lines is not None:
            serving.lines.close()
        self._session.send(
            CandidateFailed(serving.measure.what, TooFewBatches(serving.steps, serving.measure.most_seconds))
        )


def _with_gradient() -> bool:
    import torch

    return torch.is_grad_enabled()


def _samples(args: tuple[Any, ...], kwargs: dict[str, Any]) -> int:
    return batches.samples([*args, *kwargs.values()])
