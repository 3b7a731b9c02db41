"""The parent's side of a trial: start the user's command under the probe, feed it candidates, watch it, reap it.

The parent decides, the child obeys. Search and statistics live with the caller; this module only keeps the child
honest: a deadline, a heartbeat, and an end that leaves no process, segment or file behind.
"""

from __future__ import annotations

import contextlib
import queue
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

from accel_advisor.source.document import is_notebook
from accel_advisor.source.notebook import Notebook
from accel_advisor.source.parsing import DocumentError
from accel_advisor.tuning.nodes.lead import Lead
from accel_advisor.tuning.nodes.ranks import RankLost, root_cause
from accel_advisor.tuning.nodes.ranks_elsewhere import NodeEnded, NodeStopped, on_all_nodes
from accel_advisor.tuning.probe.channel.reasons import Raised, Unmeasurable
from accel_advisor.tuning.probe.channel.wire import (
    FETCHING,
    STARTING,
    STARTING_WORKERS,
    Block,
    CandidateFailed,
    Heartbeat,
    Measure,
    Ready,
    Refused,
    ScriptEnded,
    Settings,
    Stop,
    Stopped,
)
from accel_advisor.tuning.probe.knobs.training_knobs import Plan
from accel_advisor.tuning.target.command import Command
from accel_advisor.tuning.target.notebook_script import cells_of, in_cells, left_out
from accel_advisor.tuning.target.remedies import ran_out_of_memory
from accel_advisor.tuning.trial.child_process import ProcessEnded
from accel_advisor.tuning.trial.contained_run import ContainedRun
from accel_advisor.tuning.trial.disk_space import LOOK_SECONDS
from accel_advisor.tuning.trial.endings import died, last_words, named, slow_start, spoken, unseen
from accel_advisor.tuning.trial.reason_text import candidate_text, loop_text
from accel_advisor.tuning.trial.trial_errors import (
    CandidateError,
    LoaderCame,
    NeverTrained,
    NodesParted,
    NoLoader,
    NoRoom,
    NotMeasurable,
    ScriptFailed,
    ScriptFinished,
    SlowStart,
    TimedOut,
    TrialEnded,
)

STOP_SECONDS = 2.5
"""How long a child may take to leave before it is killed."""
START_PATIENCE = 4
"""Workers that start may take so many times longer than a batch: by spawn each imports the script again."""
LATE_SECONDS = 2.0
"""How long after the end of a block's time a child that serves no batch may still say so itself."""
ATEXIT_SECONDS = 5.0
"""How long a script that came to its own end may go on with its exit handlers."""

_End = ScriptEnded | ProcessEnded | RankLost | NodeEnded


class Trial:
    """One run of the user's command under the probe, in a child process of its own session.

    A context manager: leaving it reaps the child, its workers and everything else that they started, removes the
    scratch folder, and fills :attr:`contained` and :attr:`leaked`.

    Args:
        command: what to run.
        deadline: on :func:`time.monotonic`, in seconds: the child is killed then, whatever it does.
        start_timeout: seconds from :meth:`start` to the first warm training step.
        stall_timeout: seconds without a single batch during :meth:`measure` after which the candidate counts as
            hung; four times as long while its workers start.
        extend_epochs: never end an epoch: for scripts that end before they can be measured.
        awaits_loader: measure no loop that takes its batches from no loader: another one comes after it.
        sources: what the script is to find in place of some files of its own, by their paths.
        plan: what the training is to be compared with, of its own knobs; None where it is not.
        lead: of the other nodes on which the command is to run, too.

    Attributes:
        contained: paths that the script wrote and that went to the scratch overlay, known after the end.
        leaked: paths under the project that changed nevertheless (written behind Python's back, or by somebody else
            meanwhile) and could not be put back, known after the end.
        restored: paths under the project that were changed behind Python's back and put back.
        notes: sentences about what could not be checked, such as a tree too large to compare.
    """

    def __init__(
        self,
        command: Command,
        *,
        deadline: float,
        start_timeout: float = 120.0,
        stall_timeout: float = 30.0,
        extend_epochs: bool = False,
        awaits_loader: bool = False,
        sources: Mapping[Path, bytes] | None = None,
        plan: Plan | None = None,
        lead: Lead | None = None,
    ) -> None:
        self.command = command
        self.deadline = deadline
        self.start_timeout = start_timeout
        self.stall_timeout = stall_timeout
        self.extend_epochs = extend_epochs
        self.awaits_loader = awaits_loader
        self._sources = sources
        self._plan = plan
        self._lead = lead
        self._run: ContainedRun | None = None
        self._closed = False
        self._started = time.monotonic()
        self._batches = 0
        self._phase = STARTING
        self._stopped = Stopped()
        self.contained: tuple[str, ...] = ()
        self.leaked: tuple[str, ...] = ()
        self.restored: tuple[str, ...] = ()
        self.notes: tuple[str, ...] = ()

    @property
    def pid(self) -> int | None:
        """The process of the script; None before it is known and after the end."""
        return self._run.child.pid if self._run is not None and not self._closed else None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._close()

    def start(self) -> Ready:
        """Start the child and wait until its training loop is warm.

        Raises:
            ScriptFailed: the script failed before its training loop was warm.
            ScriptFinished: it trained, but ended before it was warm.
            NoLoader, NeverTrained, NotMeasurable: there is nothing to measure, and why.
            SlowStart: ``start_timeout`` passed.
            TimedOut: the deadline passed.
            NoRoom: what it writes would have filled the disk; also of :meth:`measure`.
        """
        if self._run is not None or self._closed:
            raise RuntimeError("a trial starts once")
        knob = self._plan.to_json() if self._plan is not None else None
        self._run = self._launch(self._cells(), knob)
        limit = min(time.monotonic() + self.start_timeout, self.deadline)
        while True:
            event = self._wait(limit)
            match event:
                case Ready():
                    return event
                case Refused():
                    self._close()
                    raise NotMeasurable(loop_text(event.reason))
                case ScriptEnded() | ProcessEnded() | RankLost() | NodeEnded():
                    raise self._ended(event)
                case None:
                    batches, said = self._batches, self._run.child.output()[0]
                    self._close()
                    seconds = limit - self._started
                    late = SlowStart if seconds >= self.start_timeout else TimedOut
                    raise late(slow_start(seconds, batches, said))

    def _launch(self, cells: dict[str, Any] | None, knob: dict[str, Any] | None) -> ContainedRun:
        """Starts the command, on the other nodes, too, where there are some."""
        place, group = None, None
        if self._lead is not None:
            if self._lead.lost:
                raise NodesParted(self._lead.lost)
            place, group = on_all_nodes(self._lead, self._sources or {}, extend=self.extend_epochs)
        return ContainedRun(
            self.command,
            extend_epochs=self.extend_epochs,
            awaits_loader=self.awaits_loader,
            notebook=cells,
            knob=knob,
            sources=self._sources,
            place=place,
            group=group,
        )

    def _cells(self) -> dict[str, Any] | None:
        """What runs of a script that is a notebook; None for any other command."""
        script = self.command.script
        if script is None or not is_notebook(str(script)):
            return None
        try:
            notebook = Notebook((self._sources or {}).get(script.resolve()) or script.read_bytes())
        except (DocumentError, OSError) as error:
            raise ScriptFailed(f"the notebook cannot be read any more: {error}", "", 1) from error
        self.notes += tuple(left_out(notebook))
        return cells_of(notebook)

    def measure(self, asked: Measure) -> Block:
        """Serve one block and return its measure.

        Raises:
            CandidateError: this candidate cannot be measured (a worker died, it cannot be pickled, no accelerator...);
                the trial goes on.
            ScriptFinished, ScriptFailed: the script came to its own end meanwhile.
            NotMeasurable: the loop no longer takes batches from the loader.
            LoaderCame: a loop that takes its batches from one has come after this one, which takes none from any.
            TimedOut: the deadline passed.
            TrialEnded: the child crashed or hung in this candidate and was killed.
        """
        run = self._run
        if run is None or self._closed:
            raise RuntimeError("a trial measures between its start and its end")
        run.child.send(asked)
        moved, batches = time.monotonic(), self._batches
        while True:
            stall = self.stall_timeout * (START_PATIENCE if self._phase == STARTING_WORKERS else 1)
            stall = min(stall, asked.most_seconds + LATE_SECONDS)
            event = self._wait(min(moved + stall, self.deadline))
            match event:
                case Block():
                    return event
                case CandidateFailed():
                    raise CandidateError(
                        candidate_text(event),
                        out_of_memory=isinstance(event.reason, Raised) and event.reason.out_of_memory,
                    )
                case Refused():
                    self._close()
                    late = event.reason is Unmeasurable.LOADER_LATER
                    raise (LoaderCame if late else NotMeasurable)(loop_text(event.reason))
                case ScriptEnded() | ProcessEnded() | RankLost() | NodeEnded():
                    raise self._ended(event, asked.what)
                case Heartbeat():
                    # A loop that is busy with something else, such as an evaluation, is the deadline's business.
                    if self._batches != batches or self._phase not in (FETCHING, STARTING_WORKERS):
                        moved, batches = time.monotonic(), self._batches
                case None if time.monotonic() >= self.deadline:
                    self._close()
                    raise TimedOut(f"the time for the trial was spent while {named(asked.what)} was measured")
                case None:
                    self._close()
                    raise TrialEnded(f"no batch came for {stall:.0f} s with {named(asked.what)}, so its workers hang")

    def stop(self) -> Stopped:
        """End the child without returning into user code, and return its last word."""
        run = self._run
        if run is None or self._closed:
            return self._stopped
        run.child.send(Stop())
        limit = time.monotonic() + STOP_SECONDS
        while True:
            try:
                event = self._next_event(limit)
            except NodesParted:
                break
            if event is None or isinstance(event, Stopped | ProcessEnded):
                break
        self._close()
        return self._stopped

    def _wait(self, limit: float) -> Any:
        """As :meth:`_next_event`, with an eye on the disk that the script writes to."""
        while True:
            event = self._next_event(min(limit, time.monotonic() + LOOK_SECONDS))
            lack = self._run.lack() if self._run is not None else ""
            if lack:
                self._close()
                raise NoRoom(lack)
            if event is not None or time.monotonic() >= limit:
                return event

    def _next_event(self, limit: float) -> Any:
        """What the child says next; None at ``limit``. Heartbeats and last words are noted on the way."""
        assert self._run is not None
        try:
            event = self._run.child.events.get(timeout=max(limit - time.monotonic(), 0.0))
        except queue.Empty:
            return None
        if isinstance(event, Heartbeat):
            self._batches, self._phase = event.batches, event.phase
        elif isinstance(event, Stopped):
            self._stopped = event
        elif isinstance(event, NodeStopped):
            self._close()
            raise NodesParted(event.reason)
        return event

    def _ended(self, event: _End, what: Settings | str | None = None) -> TrialEnded:
        """What the end of the child means to the caller; closes the trial."""
        assert self._run is not None
        if isinstance(event, ScriptEnded):
            if event.rank is None:  # one rank's end is not the others'
                self._await_end(0)  # its atexit handlers still run, with the overlay on
            output, errors = self._run.child.output()
            self._close()
            if event.status != 0 or event.traceback:
                failure = in_cells(event.traceback or errors.strip() or output, self.command.script)
                said = last_words(failure)
                who = "the script" if event.rank is None else self._rank(event.rank)
                reason = f"{who} failed with exit status {event.status}" + (f": {said}" if said else "")
                reason += unseen(said) if self._lead is not None else ""
                memory = ran_out_of_memory(said, event.status)
                return ScriptFailed(reason, failure, event.status, event.batches, out_of_memory=memory)
            if not event.batches:
                said = spoken(output)
                reason = "the script ended without iterating a DataLoader"
                return NoLoader(f"{reason}; its last words were: {said}" if said else reason)
            if not event.trained:
                return NeverTrained("the script iterates DataLoaders, but no training step happens between its batches")
            return ScriptFinished(f"the script ended after {event.batches} batches, before it could be measured")
        whose: str = "the script's process"
        end: _End | None = event
        if isinstance(event, RankLost):
            # torchrun sees to the others, and writes what became of the first.
            whose, end = self._rank(event.rank), self._await_end(self._node(event.rank))
        errors = end.errors if isinstance(end, NodeEnded) else self._run.child.output()[1]
        status = event.status if not isinstance(event, RankLost) else None
        cause = root_cause(errors) if self.command.ranks is not None else None
        if cause is not None:
            whose, status = self._rank(cause[0]), cause[1]
        self._close()
        if not isinstance(event, RankLost) and event.failure:
            return ScriptFailed(f"the script could not be started: {event.failure}", event.failure, 1)
        memory = ran_out_of_memory("", status)
        if what is not None:
            return TrialEnded(f"{whose} {died(status)} while {named(what)} was measured", out_of_memory=memory)
        return ScriptFailed(f"{whose} {died(status)}", errors, status or 1, self._batches, out_of_memory=memory)

    def _await_end(self, node: int) -> ProcessEnded | NodeEnded | None:
        """The end of the command on a node, if it comes soon."""
        limit = min(time.monotonic() + ATEXIT_SECONDS, self.deadline)
        while True:
            match self._wait(limit):
                case ProcessEnded() as end if node == 0:
                    return end
                case NodeEnded() as end if end.node == node:
                    return end
                case _ if time.monotonic() >= limit:
                    return None

    def _node(self, rank: int) -> int:
        return rank // (self.command.ranks or 1)

    def _rank(self, rank: int) -> str:
        """A rank of the script, in words."""
        where = f" (on node {self._lead.name(self._node(rank))})" if self._lead is not None else ""
        return f"rank {rank} of the script{where}"

    def _close(self) -> None:
        if self._closed:
            return
        self._closed = True
        run = self._run
        if run is None:
            return
        if self._lead is not None:
            self._lead.ask_to_end()
        run.close(self._hear_out)
        self.contained, self.restored, self.leaked = run.contained, run.restored, run.leaked
        self.notes += run.notes
        for left in self._lead.closed().values() if self._lead is not None else ():
            self.contained = tuple(dict.fromkeys((*self.contained, *left.contained)))
            self.restored = tuple(dict.fromkeys((*self.restored, *left.restored)))
            self.leaked = tuple(sorted({*self.leaked, *left.leaked}))
            self.notes += left.notes

    def _hear_out(self) -> None:
        """Takes in what was said before the end."""
        assert self._run is not None
        while not self._run.child.events.empty():
            with contextlib.suppress(NodesParted):
                self._next_event(0.0)
