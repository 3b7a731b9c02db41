"""Keeps a trial running for a search: starts it, starts another when its child is gone, answers every request."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Self

from accel_advisor.machine.gpus import Sample
from accel_advisor.tuning.nodes.lead import Lead
from accel_advisor.tuning.probe.channel.wire import BASELINE, Block, Ready, Stopped
from accel_advisor.tuning.probe.knobs.training_knobs import Plan
from accel_advisor.tuning.search.purposes import Doing, Purpose, doing
from accel_advisor.tuning.search.readings import Busy
from accel_advisor.tuning.search.search import Answer, Request, Search
from accel_advisor.tuning.target.command import Command
from accel_advisor.tuning.trial.cpu_usage import Usage
from accel_advisor.tuning.trial.gpu_watch import GpuWatch
from accel_advisor.tuning.trial.timeline import START, Served
from accel_advisor.tuning.trial.trial import Trial
from accel_advisor.tuning.trial.trial_errors import (
    CandidateError,
    NodesParted,
    NoRoom,
    NotMeasurable,
    ScriptFinished,
    TimedOut,
    TrialEnded,
)

MOST_RESTARTS = 4
"""Children that may be lost before the search is given up."""

Watch = Callable[[Doing, Search | None], None]
"""Gets what is being done, and the search as far as it is."""


class Session:
    """Trials of one command, one after the other.

    Args:
        command: what to run.
        deadline: on :func:`time.monotonic`, when everything ends.
        start_timeout: seconds that one startup may take.
        restarts: children that may be lost before it gives up.
        awaits_loader: as :class:`Trial` has it.
        lead: of the other nodes that its trials take place on, too.

    Attributes:
        ready: what the latest start reported.
        contained, leaked: paths that the script wrote, over all trials that ended.
        notes: what could not be checked.
        sources: what further trials are to find in place of files of the script, by their paths.
        plan: what further trials are to turn besides the loader's settings, as :class:`Trial` has it.
        stopped: the last word of the latest trial that ended.
        start_seconds: that the first start took, until the loop was warm.
        samples: what the GPU did while trials ran, on the clock of the blocks; empty where there is none.
        clock: when the session began, on that clock.
        timeline: every start and every block, in seconds since the session began.
    """

    def __init__(
        self,
        command: Command,
        *,
        deadline: float,
        start_timeout: float,
        restarts: int = MOST_RESTARTS,
        awaits_loader: bool = False,
        lead: Lead | None = None,
    ) -> None:
        self.command = command
        self.deadline = deadline
        self.start_timeout = start_timeout
        self.lead = lead
        self.ready: Ready | None = None
        self.contained: set[str] = set()
        self.leaked: set[str] = set()
        self.notes: set[str] = set()
        self.sources: Mapping[Path, bytes] = {}
        self.plan: Plan | None = None
        self.stopped = Stopped()
        self.start_seconds = 0.0
        self.timeline: list[Served] = []
        self.samples: list[Sample] = []
        self.clock = time.perf_counter()
        self._watching = ExitStack()
        self._began = time.monotonic()
        self._usage: tuple[Usage, Usage] | None = None
        self._extend = False
        self.awaits_loader = awaits_loader
        self._restarts = 0
        self._most_restarts = restarts
        self._trial: Trial | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def beside(self) -> Session:
        """Another session of the same command, whose trials may run while one of this session does. What they leave,
        and when they did what, is noted here."""
        other = Session(
            self.command,
            deadline=self.deadline,
            start_timeout=self.start_timeout,
            restarts=self._most_restarts,
            awaits_loader=self.awaits_loader,
        )
        other.contained, other.leaked, other.notes = self.contained, self.leaked, self.notes
        other.timeline, other._began, other._extend = self.timeline, self._began, self._extend
        return other

    @property
    def short(self) -> bool:
        """Whether the script came to its own end before everything was measured."""
        return self._extend

    def start(self) -> Ready:
        """Starts a trial; one that ends before it is warm is started again with its epochs extended.

        Raises:
            TrialEnded: as :meth:`Trial.start`.
        """
        began = time.monotonic()
        try:
            return self._start()
        except ScriptFinished:
            if self._extend:
                raise
            self._extend = True
            return self._start()
        finally:
            seconds = time.monotonic() - began
            self.start_seconds = self.start_seconds or seconds
            self.timeline.append(Served(START, Purpose.START, began - self._began, seconds))

    def start_anew(self) -> Ready:
        """Starts a trial of the loop that comes after one without a loader. All until then was the start, and no block
        of the first loop is one of this.

        Raises:
            TrialEnded: as :meth:`Trial.start`.
        """
        self.renew(math.inf)
        self.awaits_loader, self.start_seconds = True, 0.0
        ready = self.start()
        seconds = time.monotonic() - self._began
        self.timeline[:] = [Served(START, Purpose.START, 0.0, seconds)]
        return ready

    def _start(self) -> Ready:
        self.close()
        self._trial = Trial(
            self.command,
            deadline=self.deadline,
            start_timeout=self.start_timeout,
            extend_epochs=self._extend,
            awaits_loader=self.awaits_loader,
            sources=self.sources,
            plan=self.plan,
            lead=self.lead,
        )
        try:
            self.ready = self._trial.start()
        except BaseException:
            self.close()
            raise
        self._watching.enter_context(GpuWatch(self.ready.gpus, self.samples))
        return self.ready

    def run(self, search: Search, watch: Watch) -> None:
        """Drives a search to its end.

        Raises:
            TrialEnded: no further trial could be started.
            BaselineError: the user's own settings could not be measured.
        """
        plan = search.plan()
        try:
            request = next(plan)
            while True:
                watch(doing(request.purpose, request.what), search)
                request = plan.send(self.answer(request))
        except StopIteration:
            return

    def answer(self, request: Request) -> Answer:
        """One block, or the reason why there is none. A child that is gone is replaced, without the candidate that it
        died of; a script that ran to its end starts again, and the request with it.

        Raises:
            NotMeasurable: the loop turned out to be one whose blocks mean nothing.
            TrialEnded: no further trial could be started, or the time is up.
        """
        found = self._answer(request)
        began = time.monotonic() - found.seconds - self._began
        served = Served(request.what, request.purpose, began, found.seconds, found.block, found.reason)
        if found.block is not None and self._usage is not None:
            before, after = self._usage
            cores, others = after.cores_since(before), after.others_since(before)
            served = replace(served, cores=cores, others=others)
            if cores is not None and others is not None:
                found = replace(found, busy=Busy(cores, others))
        self.timeline.append(served)
        return found

    def block(self, request: Request) -> Block:
        """As :meth:`answer`, for a block that nothing can stand in for.

        Raises:
            TrialError: also where it could not be measured.
        """
        answer = self.answer(request)
        if answer.block is None:
            raise CandidateError(answer.reason, out_of_memory=answer.out_of_memory)
        return answer.block

    def _answer(self, request: Request) -> Answer:
        began = time.monotonic()
        while True:
            if self._trial is None:
                began += self._start_again()
            assert self._trial is not None
            before = Usage.now(self._trial.pid)
            try:
                block = self._trial.measure(request.measure)
                self._usage = before, Usage.now(self._trial.pid)
                return Answer(block, self._usage[1].at - began)
            except CandidateError as error:
                return Answer(None, time.monotonic() - began, error.reason, error.out_of_memory)
            except (NotMeasurable, TimedOut, NoRoom, NodesParted):
                self.close()
                raise
            except TrialEnded as error:
                self.close()
                self._restarts += 1
                if self._restarts > self._most_restarts:
                    raise
                if isinstance(error, ScriptFinished):
                    self._extend = True
                elif request.what != BASELINE:
                    # A ceiling too may be more than a script can take: a batch twice, or one that is on the device.
                    return Answer(None, time.monotonic() - began, error.reason, error.out_of_memory)

    def _start_again(self) -> float:
        """Starts another trial. Doing so once does not count, and has no deadline but that of a start; after that it is
        taken from what is left.

        Returns:
            seconds that it took and that do not count.
        """
        began = time.monotonic()
        if self._restarts > 1:
            self.start()
            return 0.0
        left = self.deadline - began
        self.deadline = math.inf
        self.start()
        now = time.monotonic()
        self.limit(now + left)
        return now - began

    def limit(self, deadline: float) -> None:
        """Sets another deadline, for the trial that is running too."""
        self.deadline = deadline
        if self._trial is not None:
            self._trial.deadline = deadline

    def renew(self, deadline: float) -> None:
        """Ends the trial that is running, if any; those that follow have until ``deadline``."""
        self.close()
        self.deadline = deadline
        self._restarts = 0

    def close(self) -> None:
        """Ends the trial that is running, if any, and notes what it left."""
        trial, self._trial = self._trial, None
        self._watching.close()
        if trial is None:
            return
        try:
            self.stopped = trial.stop()
        finally:
            trial.__exit__(None, None, None)
            self.contained.update(trial.contained)
            self.leaked.update(trial.leaked)
            self.notes.update(trial.notes)
