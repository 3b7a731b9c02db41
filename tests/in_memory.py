"""A file system in memory for tests that write much, and start no trial: what scripts of trials write there is theirs.

On ext4 a new file costs the more, the more files were deleted in the last minutes, since it looks at each of these
before it takes another number. Tests make and remove a hundred thousand.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

MEMORY = Path("/dev/shm")
PREFIX = "accel-advisor-tests-"
ROOM = 3 << 30
"""Bytes. All tests together leave a tenth of that."""
PLACES = (
    *("analysis/", "editing/", "interpreter/", "linting/", "output/", "project/", "records/", "rules/", "snippets/"),
    *("source/", "syntax/", "tables/", "values/", "why/", "commands/test_lint", "test_cli.py", "test_config"),
    *("test_flake8_plugin.py", "test_one_file_each.py", "test_pipelines.py", "test_plugins.py", "test_pre_commit.py"),
    *("test_release.py", "test_rule_pages.py", "test_selection.py"),
)
"""The folders and files of such tests."""


@contextmanager
def folder_in_memory(session: pytest.Session) -> Iterator[Path | None]:
    """A folder for this process; None where there is no room. What failed tests wrote stays until another one asks."""
    if not _has_room():
        yield None
        return
    for left in MEMORY.glob(f"{PREFIX}*"):
        if not Path("/proc", left.name.removeprefix(PREFIX)).exists():
            shutil.rmtree(left, ignore_errors=True)
    folder = MEMORY / f"{PREFIX}{os.getpid()}"
    folder.mkdir(0o700)
    yield folder
    if not session.testsfailed:
        shutil.rmtree(folder, ignore_errors=True)


def _has_room() -> bool:
    """Whether programs can be run from there, too: in containers they often cannot."""
    try:
        found = os.statvfs(MEMORY)
        memory = Path("/proc/meminfo").read_text(encoding="ascii")
    except OSError:
        return False
    (available,) = (line.split()[1] for line in memory.splitlines() if line.startswith("MemAvailable:"))
    room = min(found.f_bavail * found.f_frsize, int(available) << 10)
    return room >= ROOM and not found.f_flag & (os.ST_NOEXEC | os.ST_RDONLY)
