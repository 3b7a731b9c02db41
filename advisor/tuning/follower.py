"""A node that follows: it starts the command when it is asked to, passes on what its ranks say, and cleans up.

It decides nothing. What it runs is its own command line on its own files; where the source with other settings is to be
shown, it makes that change itself, and sees whether the text becomes the one that the node that leads has.
"""

from __future__ import annotations

import math
import queue
import time
from hashlib import sha256
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from accel_advisor.tuning.applying.rewrite import recommend
from accel_advisor.tuning.nodes.meeting import Follows
from accel_advisor.tuning.nodes.node_facts import stamp_of
from accel_advisor.tuning.nodes.node_link import LinkError
from accel_advisor.tuning.nodes.node_messages import (
    Agreed,
    EndRun,
    FileText,
    Leaving,
    Over,
    Rewriting,
    RunClosed,
    RunEnded,
    RunRefused,
    StartRun,
    ToRank,
)
from accel_advisor.tuning.nodes.place import Place
from accel_advisor.tuning.nodes.ranks_elsewhere import RelayedRanks
from accel_advisor.tuning.nodes.rendezvous import Rendezvous
from accel_advisor.tuning.search.statistics import Interval
from accel_advisor.tuning.target.command import Command
from accel_advisor.tuning.trial.child_process import ProcessEnded
from accel_advisor.tuning.trial.contained_run import ContainedRun

_LOOK_SECONDS = 0.25


class Follower:
    """Obeys to the end.

    A context manager: leaving it ends whatever runs, and reports to the node that leads.

    Args:
        command: what to run here.
        root: the folder of the project that names are relative to.
        where: of the rendezvous.
        met: what came of the meeting.
    """

    def __init__(self, command: Command, root: Path, where: Rendezvous, met: Follows) -> None:
        self._command = command
        self._root = root.resolve()
        self._where = where
        self._link = met.link
        self._met = met
        self._run: ContainedRun | None = None
        self._ranks: RelayedRanks | None = None
        self._limit = 0.0
        self._left = RunClosed((), (), (), ())
        self._texts: dict[tuple[str, str], tuple[Path, bytes]] = {}
        self._files: tuple[FileText, ...] = ()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._close_run()
        if kind is None:
            self._link.close()
        else:
            self._link.part(Leaving("it was interrupted" if kind is KeyboardInterrupt else "it was ended"))

    def follow(self) -> Over:
        """Does what it is asked until the node that leads has its answer, or is gone; the answer for people here."""
        leader = self._met.names[0]
        while True:
            try:
                message = self._link.receive(_LOOK_SECONDS)
                self._look()
                match message:
                    case Over():
                        return self._verdict(message)
                    case None:
                        pass
                    case _:
                        self._obey(message)
            except LinkError as error:
                words = f"node {leader}, which leads, is lost ({error}); this node changed nothing"
                return Over(2, words, failed=True)

    def _obey(self, message: Any) -> None:
        match message:
            case StartRun():
                self._start(message)
            case ToRank(rank, told) if self._ranks is not None:
                self._ranks.tell(rank, told)
            case EndRun():
                self._link.send(self._close_run())
            case Rewriting():
                self._link.send(Agreed(self._plan(message)))

    def _start(self, asked: StartRun) -> None:
        self._close_run()
        self._left = RunClosed((), (), (), ())
        sources: dict[Path, bytes] = {}
        for name, digest in asked.shown:
            found = self._texts.get((name, digest))
            if found is None:
                self._link.send(RunRefused(f"{name} is not here as it is to be shown"))
                return
            sources[found[0]] = found[1]
        ranks = self._ranks = RelayedRanks(self._command.ranks or 1, self._link)
        place = Place(self._met.number, len(self._met.names), f"{self._where.host}:{asked.port}", self._where.name)
        self._limit = time.monotonic() + asked.seconds
        try:
            self._run = ContainedRun(
                self._command, extend_epochs=asked.extend, sources=sources, place=place, group=lambda _report: ranks
            )
        except OSError as error:
            self._link.send(RunRefused(f"the script could not be started: {error}"))

    def _look(self) -> None:
        """Sees whether the command has ended by itself, or has to be ended."""
        run = self._run
        if run is None:
            return
        lack = run.lack()
        late = time.monotonic() > self._limit
        if lack or late:
            self._link.send(RunRefused(lack or "the time for a run was spent"))
            self._close_run()
            return
        try:
            event = run.child.events.get_nowait()
        except queue.Empty:
            return
        if isinstance(event, ProcessEnded):
            self._link.send(RunEnded(event.status, event.failure, run.child.output()[1]))

    def _close_run(self) -> RunClosed:
        """Ends what runs; what it left."""
        run, self._run = self._run, None
        if run is not None:
            run.close()
            self._left = RunClosed(run.contained, run.leaked, run.restored, run.notes)
        return self._left

    def _plan(self, asked: Rewriting) -> str:
        """Makes the change to the files here, in memory; why that is not the one that is meant, or nothing."""
        if self._ranks is None or self._ranks.ready is None:
            return "no loader was seen here"
        plan = recommend(
            asked.baseline,
            asked.settings,
            Interval(1.0, 0.0, math.inf, 0),  # which only the node that leads knows
            self._ranks.ready.loaders[0].stack,
            root=self._root,
            argv=self._command.args,
        )
        here: dict[str, Path] = {}
        for one in plan.rewrite.after:
            here[one.relative_to(self._root).as_posix() if one.is_relative_to(self._root) else str(one)] = one
        self._files = asked.files
        for file in asked.files:
            path = here.get(file.name)
            if path is None:
                return f"the change that was found does not lead to {file.name} here"
            for text, wanted in ((plan.rewrite.before[path], file.before), (plan.rewrite.after[path], file.after)):
                digest = sha256(text).hexdigest()
                if digest != wanted:
                    return f"{file.name} has another text here: bring all nodes to the same, and start again"
                self._texts[file.name, digest] = path, text
        return ""

    def _verdict(self, over: Over) -> Over:
        """The answer of the node that leads, and where the change is."""
        if over.failed:
            return over
        leader = self._met.names[0]
        sentence = f"Node {self._met.name}: the answer is node {leader}'s: {over.sentence}"
        if over.changed:
            apart = [
                file.name
                for file in self._files
                if (found := self._texts.get((file.name, file.before))) and not self._same_file(file, found[0])
            ]
            if apart:
                sentence += f" Here {' and '.join(apart)} is as it was: copy it from node {leader}."
            else:
                sentence += " This node sees the same files."
        return Over(over.status, sentence)

    @staticmethod
    def _same_file(file: FileText, path: Path) -> bool:
        """Whether a file is the one that the node that leads has changed, even where this node still sees its old text,
        as it does on a network for a while."""
        if stamp_of(path) == file.stamp:
            return True
        try:
            return sha256(path.read_bytes()).hexdigest() == file.after
        except OSError:
            return False
