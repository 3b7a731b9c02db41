"""The project's files before and after a trial: what changed although everything was contained."""

from __future__ import annotations

import contextlib
import os
import re
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from accel_advisor.linting.cache import FOLDER

ENTRIES_MOST = 50_000
SECONDS_MOST = 3.0
_SKIPPED = frozenset({".git", ".hg", ".svn", "node_modules", "site-packages", "__pypackages__", ".venv", FOLDER})
Stamp = tuple[int, int, int]
"""Kind and permissions, size, time of the last change in ns; the size and time of folders do not count."""


@dataclass(frozen=True)
class Tree:
    """The state of some folders at one time.

    Attributes:
        stamps: of every path below the folders.
        complete: False where the folders hold more than could be looked at.
    """

    folders: tuple[str, ...]
    stamps: dict[str, Stamp]
    complete: bool

    @classmethod
    def scan(cls, folders: Iterable[Path]) -> Tree:
        """Look at the folders; version control, virtual environments, what the linter keeps and linked folders are left
        out, and so are the files that this process prints to (``tune > tune.log``)."""
        roots = _outermost(folders)
        own = set(_printed_to())
        job = _output_of_job(os.environ.get("SLURM_JOB_ID", ""))
        stamps: dict[str, Stamp] = {}
        limit = time.monotonic() + SECONDS_MOST
        waiting = list(roots)
        while waiting:
            folder = waiting.pop()
            try:
                entries = list(os.scandir(folder))
            except OSError:
                continue
            for entry in entries:
                try:
                    status = entry.stat(follow_symlinks=False)
                except OSError:
                    continue
                if entry.is_dir(follow_symlinks=False):
                    if entry.name in _SKIPPED or os.path.exists(f"{entry.path}/pyvenv.cfg"):
                        continue
                    waiting.append(entry.path)
                    stamps[entry.path] = (status.st_mode, 0, 0)
                elif (status.st_dev, status.st_ino) not in own and not job(entry.name):
                    stamps[entry.path] = (status.st_mode, status.st_size, status.st_mtime_ns)
            if len(stamps) > ENTRIES_MOST or time.monotonic() > limit:
                return cls(roots, stamps, False)
        return cls(roots, stamps, True)

    def changed(self) -> tuple[str, ...]:
        """Paths that are new, gone or different now; of an incomplete tree, only those it has seen."""
        now = Tree.scan(Path(folder) for folder in self.folders)
        paths = {path for path, stamp in self.stamps.items() if now.stamps.get(path) != stamp}
        if self.complete and now.complete:
            paths |= now.stamps.keys() - self.stamps.keys()
        elif not now.complete:
            paths = {path for path in paths if not os.path.lexists(path) or path in now.stamps}
        return tuple(sorted(paths))


def _output_of_job(number: str) -> Callable[[str], object]:
    """Whether a name is that of a file to which SLURM writes what a job prints, which its daemon takes through a pipe:
    by default, and mostly, it has the number of the job in it."""
    if not number.isdigit():
        return lambda _name: None
    return re.compile(rf"(?<!\d){number}(?!\d).*\.(?:out|err|log|txt)$").search


def _printed_to() -> Iterator[tuple[int, int]]:
    """Device and number of the files behind stdout and stderr."""
    for descriptor in (1, 2):
        with contextlib.suppress(OSError):  # closed
            status = os.fstat(descriptor)
            yield status.st_dev, status.st_ino


def project_folders(cwd: Path, script: Path | None) -> tuple[Path, ...]:
    """The folders that a script's project is in: the working folder and the script's, but never a whole home."""
    home = Path.home().resolve()
    folders = [cwd.resolve()]
    if script is not None:
        folders.append((cwd / script).resolve().parent)
    return tuple(folder for folder in folders if folder != home and folder not in home.parents)


def _outermost(folders: Iterable[Path]) -> tuple[str, ...]:
    """The folders without those that lie in others."""
    unique = sorted({str(folder) for folder in folders})
    return tuple(each for each in unique if not any(each != up and each.startswith(f"{up}/") for up in unique))
