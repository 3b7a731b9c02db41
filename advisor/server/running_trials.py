"""Trials that are started from an editor: each is the command line's own, in a process of its own."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from accel_advisor.linting.cache import FOLDER

MOST_LINES = 40


class RunningTrial:
    """``accel-advisor tune SCRIPT``, whose record is kept below the root of the workspace's folder.

    Args:
        script: its path.
        root: that folder.
        arguments: more words behind the script.

    Attributes:
        record: where its record is kept.
        stopped: whether it was asked to end before it had an answer.
    """

    def __init__(self, script: str, root: str, arguments: Sequence[str] = ()) -> None:
        self.script = script
        self._arguments = arguments
        self.record = record_of(script, root)
        self.stopped = False
        self._process: asyncio.subprocess.Process | None = None

    async def run(self, said: Callable[[str], None]) -> tuple[int, str]:
        """Runs it to its end.

        Args:
            said: is given each line that it prints.

        Returns:
            The exit status, and the last lines.

        Raises:
            OSError: its record cannot be kept there, or it cannot be started.
        """
        folder = self.record.parent
        folder.mkdir(parents=True, exist_ok=True)
        ignore = folder / ".gitignore"
        if not ignore.exists():
            ignore.write_text("*\n")
        self._process = await asyncio.create_subprocess_exec(
            sys.executable,
            *("-m", "accel_advisor", "tune", self.script, "--json", str(self.record), *self._arguments),
            cwd=os.path.dirname(self.script),
            env={**os.environ, "NO_COLOR": "1"},
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        if self.stopped:
            self.stop()
        lines: list[str] = []
        stream = self._process.stdout
        while stream is not None and (raw := await stream.readline()):
            line = raw.decode(errors="replace").rstrip()
            if line:
                said(line)
                lines = [*lines[1 - MOST_LINES :], line]
        return await self._process.wait(), "\n".join(lines)

    def stop(self) -> None:
        """Asks it to end; it removes every trace then."""
        if self._process is None or self._process.returncode is None:
            self.stopped = True
        if self._process is not None and self._process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                self._process.terminate()


def record_of(script: str, root: str) -> Path:
    """Where the record of a script's last trial is kept."""
    name = os.path.relpath(script, root).replace(os.sep, "-").replace("..", "-")
    return Path(root, FOLDER, "trials", f"{name}.json")
