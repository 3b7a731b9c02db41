"""The child process of a trial as the parent sees it: started through a guard, heard over one queue, ended for sure."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import queue
import secrets
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Mapping
from multiprocessing.connection import Client, Connection, Listener
from pathlib import Path
from typing import Any

from accel_advisor.tuning.nodes.place import Place
from accel_advisor.tuning.nodes.ranks import RankGroup, Ranks
from accel_advisor.tuning.probe import guard, launch
from accel_advisor.tuning.probe.channel.wire import Joined

SWEEP_SECONDS = 10.0
_UNIX_ADDRESS_MOST = 100

MUTED = {
    "WANDB_MODE": "disabled",
    "WANDB_SILENT": "true",
    "COMET_MODE": "disabled",
    "COMET_DISABLE_AUTO_LOGGING": "1",
    "NEPTUNE_MODE": "debug",
    "CLEARML_OFFLINE_MODE": "1",
    "AIM_UI_TELEMETRY_ENABLED": "0",
    "DVCLIVE_TEST": "true",
    "SWANLAB_MODE": "disabled",
    "TRACKIO_DISABLED": "1",
    "CODECARBON_LOG_LEVEL": "critical",
    "DO_NOT_TRACK": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
}
"""Environment that keeps experiment trackers from reporting a training that is none."""


class ProcessEnded:
    """The child is gone; ``status`` is its exit status, negative for a signal, None where nobody knows; ``failure``
    says why it could not be started at all."""

    def __init__(self, status: int | None, failure: str = "") -> None:
        self.status = status
        self.failure = failure


def _terminal() -> tuple[int, int] | None:
    """Rows and columns of the terminal that the user's command would read from; None where it would have none."""
    if os.name != "posix" or not os.isatty(0):
        return None
    columns, rows = os.get_terminal_size(0)
    return rows, columns


class ChildProcess:
    """Starts the child through the guard, and turns everything that it reports into one stream of events.

    Args:
        child_plan: what :class:`accel_advisor.tuning.probe.child.Child` is to do; the wire's address is added.
        python: interpreter of the child.
        cwd: working folder of the child.
        ranks: how many processes torchrun is to start here; None where it is not to be used.
        place: among several nodes; None on one alone.
        group: what hears the ranks, and is given where their merged words go; None for those that are here.
        sources: what the child is to read in place of some files.

    Attributes:
        scratch: folder that is removed at the end; the child's TMPDIR and overlay lie in it.
        events: what the child says, and :class:`ProcessEnded` last.
    """

    def __init__(
        self,
        child_plan: dict[str, Any],
        *,
        python: str,
        cwd: Path,
        ranks: int | None = None,
        place: Place | None = None,
        group: Callable[[Callable[[Any], None]], RankGroup] | None = None,
        sources: Mapping[Path, bytes] | None = None,
    ) -> None:
        self._segments = guard.shared_memory()
        self._guard = subprocess.Popen(
            [sys.executable, "-I", "-S", guard.__file__, str(Path(tempfile.gettempdir()).resolve())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            cwd="/" if os.name == "posix" else None,
        )
        self.scratch = self._learn_scratch()
        self.events: queue.Queue[Any] = queue.Queue()
        self.pid: int | None = None
        self._swept = threading.Event()  # or nobody is left who could say so
        self._clean = False
        self._heard = threading.Event()
        self._connections: list[Connection] = []
        self._here = ranks or 1
        self._ranks: RankGroup | None = None
        if group is not None:
            self._ranks = group(self.events.put)
        elif self._here > 1:
            self._ranks = Ranks(self._here, self.events.put)
        self._key = secrets.token_bytes(32)
        for name in ("tmp", "overlay", "caches"):
            (self.scratch / name).mkdir()
        for path, content in (sources or {}).items():
            shadow = self.scratch / "overlay" / "upper" / path.resolve().relative_to(path.anchor)
            shadow.parent.mkdir(parents=True, exist_ok=True)
            shadow.write_bytes(content)
        address = str(self.scratch / "wire")
        if not hasattr(os, "fork") or len(address) > _UNIX_ADDRESS_MOST:
            self._listener = Listener(("localhost", 0), authkey=self._key)
        else:
            self._listener = Listener(address, family="AF_UNIX", authkey=self._key)
        plan = {
            "argv": [python, launch.__file__],
            "cwd": str(cwd),
            "env": self._environment(),
            "stdout": str(self.scratch / "stdout"),
            "stderr": str(self.scratch / "stderr"),
            "child": {
                **child_plan,
                "ranks": ranks,
                "world": self._here * (place.nodes if place is not None else 1),
                "place": dataclasses.asdict(place) if place is not None else None,
                "address": self._listener.address,
                "key": self._key.hex(),
                "scratch": str(self.scratch),
                "terminal": _terminal(),
            },
        }
        self._tell_guard(json.dumps(plan))
        for target in (self._hear_guard, self._hear_child):
            threading.Thread(target=target, daemon=True).start()

    def _learn_scratch(self) -> Path:
        assert self._guard.stdout is not None
        word, _, folder = self._guard.stdout.readline().decode().rstrip("\n").partition(" ")
        if word != "scratch":
            raise OSError(f"no scratch folder could be made in {tempfile.gettempdir()}")
        return Path(folder)

    def _environment(self) -> dict[str, str]:
        temporary, caches = str(self.scratch / "tmp"), self.scratch / "caches"
        return {
            **os.environ,
            **MUTED,
            "MLFLOW_TRACKING_URI": (caches / "mlflow").as_uri(),
            "TMPDIR": temporary,
            "TEMP": temporary,
            "TMP": temporary,
            "PYTHONDONTWRITEBYTECODE": "1",
            "TORCHINDUCTOR_CACHE_DIR": str(caches / "inductor"),
            "TRITON_CACHE_DIR": str(caches / "triton"),
            "TORCH_EXTENSIONS_DIR": str(caches / "extensions"),
            "MPLCONFIGDIR": str(caches / "matplotlib"),
            "MPLBACKEND": "agg",
        }

    def _tell_guard(self, line: str) -> None:
        assert self._guard.stdin is not None
        with contextlib.suppress(OSError, ValueError):
            self._guard.stdin.write(line.encode() + b"\n")
            self._guard.stdin.flush()

    def _hear_guard(self) -> None:
        assert self._guard.stdout is not None
        status: int | None = None
        failure = ""
        for line in self._guard.stdout:
            word, *rest = line.decode().split()
            if word == "started":
                self.pid = int(rest[0])
            elif word == "ended":
                status = int(rest[0])
                # What the child said last may still lie in the wire: the reader there puts it before this.
                threading.Thread(target=self._announce_end, args=(status,), daemon=True).start()
            elif word == "failed":
                failure = " ".join(rest)
            elif word == "swept":
                self._clean = True
                self._swept.set()
        if status is None:
            self.events.put(ProcessEnded(None, failure))
        self._swept.set()

    def _announce_end(self, status: int) -> None:
        if self._connections:
            self._heard.wait(2.0)
        self.events.put(ProcessEnded(status))

    def _hear_child(self) -> None:
        try:
            if self._ranks is not None:
                self._hear_ranks(self._ranks)
                return
            connection = self._accept()
            while True:
                self.events.put(connection.recv())
        except (EOFError, OSError):
            pass
        finally:
            self._heard.set()

    def _accept(self) -> Connection:
        connection = self._listener.accept()
        assert isinstance(connection, Connection)
        self._connections.append(connection)
        return connection

    def _hear_ranks(self, ranks: RankGroup) -> None:
        """Let every rank of this node in, and hear each in a thread of its own to its end."""

        def hear(connection: Connection, rank: int) -> None:
            try:
                while True:
                    ranks.hear(rank, connection.recv())
            except (EOFError, OSError):
                ranks.lose(rank)

        threads = []
        for _ in range(self._here):
            connection = self._accept()
            joined = connection.recv()
            assert isinstance(joined, Joined)
            ranks.join(joined.rank, connection.send)
            threads.append(threading.Thread(target=hear, args=(connection, joined.rank), daemon=True))
            threads[-1].start()
        for thread in threads:
            thread.join()

    def send(self, message: Any) -> bool:
        """Send the child a message; False where it no longer listens."""
        try:
            if self._ranks is not None:
                return self._ranks.send(message)
            if not self._connections:
                return False
            self._connections[0].send(message)
        except OSError:
            return False
        return True

    def output(self) -> tuple[str, str]:
        """The end of what the child wrote to stdout and stderr; to be called before :meth:`close`."""
        return self._tail("stdout"), self._tail("stderr")

    def _tail(self, name: str) -> str:
        try:
            with open(self.scratch / name, "rb") as file:
                file.seek(max(file.seek(0, os.SEEK_END) - guard.OUTPUT_BYTES, 0))
                return file.read().decode(errors="replace")
        except OSError:
            return ""

    def kill(self) -> None:
        """End the child and all that came from it; returns when nothing of it runs any more."""
        if self._clean:
            return
        self._tell_guard("end")
        self._swept.wait(SWEEP_SECONDS)
        if not self._clean:
            # Somebody killed the guard, which may not have ended yet when its pipe is closed: do its work from here.
            self._guard.kill()
            if self.pid is not None:
                guard.sweep(self.pid, self._segments, str(self.scratch))

    def close(self) -> None:
        """Kill what still runs, then remove the scratch folder and let go of the guard."""
        self.kill()
        if self._ranks is not None:
            self._ranks.close()
        if len(self._connections) < self._here:
            # Wakes the thread that waits for the child. Where it has ended nobody would answer a word.
            with contextlib.suppress(OSError):
                Client(self._listener.address).close()
        with contextlib.suppress(OSError):
            self._listener.close()
        for connection in self._connections:
            connection.close()
        assert self._guard.stdin is not None
        with contextlib.suppress(OSError):
            self._guard.stdin.close()
        try:
            self._guard.wait(SWEEP_SECONDS)
        except subprocess.TimeoutExpired:
            self._guard.kill()
            self._guard.wait()
        if self.scratch.exists():
            shutil.rmtree(self.scratch, ignore_errors=True)
