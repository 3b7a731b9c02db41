"""A project with one of the training scripts, tools at work on it, and what they left behind."""

from __future__ import annotations

import ast
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from accel_advisor.tuning.probe.channel.wire import Settings

from .workloads import LAUNCHES, Workload


@dataclass
class Ran:
    """One command in a project.

    Attributes:
        output: what it wrote to its standard streams.
        status: its exit status; None where it was ended at its limit.
        seconds: wall time.
    """

    output: str
    status: int | None
    seconds: float

    @property
    def last_words(self) -> str:
        """The last line that says something."""
        return next((line.strip() for line in reversed(self.output.splitlines()) if line.strip()), "")


@dataclass
class Project:
    """A folder with ``train.py`` and a file beside it, removed at the end.

    Attributes:
        launches: how often the script was launched.
    """

    workload: Workload
    launches: int = 0
    folder: Path = field(init=False)

    def __enter__(self) -> Self:
        self._base = Path(tempfile.mkdtemp(prefix="regret-"))
        self.folder = self._base / "project"
        self.folder.mkdir()
        self.script.write_text(self.workload.source(self.workload.baseline))
        (self.folder / "notes.txt").write_text("A file that is nobody's business.\n")
        self._before = self._files()
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.bind(str(self._base / "launches"))
        threading.Thread(target=self._count, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        shutil.rmtree(self._base, ignore_errors=True)

    @property
    def script(self) -> Path:
        """The training script."""
        return self.folder / "train.py"

    @property
    def outside(self) -> Path:
        """A folder beside the project, for what is asked for and does not count as left behind."""
        return self._base

    def run(self, command: list[str], limit: float) -> Ran:
        """Runs a command in the project, for at most ``limit`` seconds."""
        environment = os.environ | {LAUNCHES: str(self._base / "launches"), "NO_COLOR": "1"}
        log = self._base / "output"
        began = time.monotonic()
        with log.open("wb") as output:
            process = subprocess.Popen(
                command,
                cwd=self.folder,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            status: int | None = None
            try:
                status = process.wait(limit)
            except subprocess.TimeoutExpired:
                process.terminate()
                time.sleep(5)
            finally:
                if process.poll() is None:
                    os.killpg(process.pid, signal.SIGKILL)
                    process.wait()
        return Ran(log.read_text(errors="replace"), status, time.monotonic() - began)

    def changed(self) -> list[str]:
        """Files of the project that are new, changed or gone; Python's own caches aside."""
        now = self._files()
        return sorted(name for name in now.keys() | self._before.keys() if now.get(name) != self._before.get(name))

    def settings(self) -> Settings:
        """What ``train.py`` asks its DataLoader for now."""
        for node in ast.walk(ast.parse(self.script.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "DataLoader":
                given = {one.arg: one.value for one in node.keywords if one.arg in Settings.__slots__}
                return Settings(**{str(name): ast.literal_eval(value) for name, value in given.items()})
        raise ValueError("the script has no DataLoader any more")

    def _files(self) -> dict[str, bytes]:
        return {
            str(path.relative_to(self.folder)): path.read_bytes()
            for path in self.folder.rglob("*")
            if path.is_file() and "__pycache__" not in path.parts
        }

    def _count(self) -> None:
        try:
            while self._socket.recv(16):
                self.launches += 1
        except OSError:
            return
