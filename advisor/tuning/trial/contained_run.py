"""One run of a command with the project around it: what it changes, what it fills, and what it leaves."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from accel_advisor.tuning.nodes.place import Place
from accel_advisor.tuning.nodes.ranks import RankGroup
from accel_advisor.tuning.probe.containment.scratch_layer import read_log
from accel_advisor.tuning.probe.guard import put_back
from accel_advisor.tuning.target.command import Command
from accel_advisor.tuning.trial.child_process import ChildProcess
from accel_advisor.tuning.trial.disk_space import Room
from accel_advisor.tuning.trial.project_snapshot import Tree, project_folders


class ContainedRun:
    """Starts the command under the probe, and knows afterwards what it left.

    Args:
        command: what to run.
        extend_epochs, awaits_loader, notebook, knob: what the child is to do, as :class:`~.trial.Trial` has it.
        sources: what the script is to find in place of some files of its own, by their paths.
        place, group: as :class:`~.child_process.ChildProcess` has them.

    Attributes:
        child: the process.
        contained, leaked, restored: as :class:`~.trial.Trial` has them; known after :meth:`close`.
        notes: sentences about what could not be checked.
    """

    def __init__(
        self,
        command: Command,
        *,
        extend_epochs: bool,
        awaits_loader: bool = False,
        notebook: dict[str, Any] | None = None,
        knob: dict[str, Any] | None = None,
        sources: Mapping[Path, bytes] | None = None,
        place: Place | None = None,
        group: Callable[[Callable[[Any], None]], RankGroup] | None = None,
    ) -> None:
        self.contained: tuple[str, ...] = ()
        self.leaked: tuple[str, ...] = ()
        self.restored: tuple[str, ...] = ()
        self.notes: tuple[str, ...] = ()
        folders = project_folders(command.cwd, command.script)
        if not folders:
            self.notes += ("the files of the working folder were not compared, since it is a whole home folder",)
        self._tree = Tree.scan(folders)
        if not self._tree.complete:
            self.notes += (f"the project is too large to compare every file: {len(self._tree.stamps)} were compared",)
        plan = {
            "script": str(command.script) if command.script is not None else None,
            "module": command.module,
            "args": list(command.args),
            "cwd": str(command.cwd),
            "notebook": notebook,
            "extend_epochs": extend_epochs,
            "awaits_loader": awaits_loader,
            "knob": knob,
        }
        self.child = ChildProcess(
            plan,
            python=command.python,
            cwd=command.cwd,
            ranks=command.ranks,
            place=place,
            group=group,
            sources=sources,
        )
        self._room = Room(self.child.scratch, command.cwd)

    def lack(self) -> str:
        """Why the disk has no room for more, in a sentence; empty as long as it has."""
        return self._room.lack()

    def close(self, ended: Callable[[], None] = lambda: None) -> None:
        """Ends everything of it, puts back what was changed behind its back, and removes what it left.

        Args:
            ended: called when nothing of it runs any more, and its last words can be heard.
        """
        self.child.kill()
        ended()
        overlay = self.child.scratch / "overlay"
        self.contained = read_log(str(overlay / "contained"))
        self.restored, lost = put_back(str(overlay / "exposed"))
        self.child.close()
        self.leaked = tuple(sorted({*self._tree.changed(), *lost}))
