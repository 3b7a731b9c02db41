"""What the tests of trials share: a project of hostile scripts, and the check that a trial leaves nothing behind."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from glob import glob
from pathlib import Path

import pytest

from accel_advisor.tuning.probe.guard import semaphores

SCRIPTS = Path(__file__).parent / "hostile"
Picture = dict[str, tuple[int, int, bytes]]


def picture(folder: Path) -> Picture:
    return {
        str(path.relative_to(folder)): (
            path.lstat().st_mode,
            path.lstat().st_mtime_ns,
            path.read_bytes() if path.is_file() else b"",
        )
        for path in sorted(folder.rglob("*"))
    }


def segments() -> set[str]:
    """Folders are none: other tests write there."""
    shared = Path("/dev/shm")
    return {one.name for one in os.scandir(shared) if not one.is_dir()} if shared.is_dir() else set()


def orphans(before: set[str], folder: Path) -> set[str]:
    """Shared-memory segments that are new and that nobody has: no living process made or mapped them, and none of the
    trials that run elsewhere, beside those of ``folder``, will remove them. Other programs have segments, too."""
    # The function, not the method, which fails where a folder vanishes meanwhile.
    places = [glob(f"{pattern}accel-advisor-*", root_dir=folder.parent) for pattern in ("", "*/")]
    others = {folder.parent / place for found in places for place in found if Path(place).parts[0] != folder.name}
    alive = {process.name for process in Path("/proc").glob("[0-9]*")}
    owners = alive.union(*(text_of(scratch / "pids").split() for scratch in others))
    prefixes = tuple(f"sem.{semaphores(str(scratch))}-" for scratch in others)
    found = {name for name in segments() - before if not name.startswith(prefixes) and owner(name) not in owners}
    for pid in alive if found else ():
        maps = text_of(Path("/proc", pid, "maps"))
        found -= {name for name in found if f"/dev/shm/{name}" in maps}
    return found


def owner(segment: str) -> str:
    """The process that a segment of torch is named after; empty where it is another's."""
    parts = segment.split("_")
    return parts[1] if parts[0] == "torch" and len(parts) == 4 else ""


def text_of(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""


def traces(temporary: Path) -> set[str]:
    """What a trial must not leave in or of its temporary folder: files, and processes whose environment names it."""
    found = {str(path) for path in temporary.iterdir()}
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if os.fsencode(temporary) in (process / "environ").read_bytes():
                found.add(f"{process.name}: {(process / 'cmdline').read_bytes()!r}")
        except OSError:
            continue
    return found


@pytest.fixture
def temporary(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder for temporary files of a trial, and the check that nothing stays of it. Its name is short: torch puts
    a socket below it, whose whole name may have 107 bytes."""
    with tempfile.TemporaryDirectory(prefix="t") as name:
        folder = Path(name)
        monkeypatch.setattr(tempfile, "tempdir", name)
        before = segments()
        yield folder
        check_nothing_stays(folder, before)


def check_nothing_stays(folder: Path, before: set[str]) -> None:
    patience = time.monotonic() + 30  # segments of other programs come and go
    while (left := traces(folder) | orphans(before, folder)) and time.monotonic() < patience:
        time.sleep(0.1)
    assert left == set()


@pytest.fixture
def project(tmp_path: Path, temporary: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The scripts in a project of their own, which must be the same afterwards."""
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    for script in SCRIPTS.glob("*.py"):
        shutil.copyfile(script, tmp_path / script.name)
    (tmp_path / "notes").mkdir()
    (tmp_path / "cache").mkdir()
    for name in ("notes/keep.txt", "old.ckpt", "results.json", "cache/c"):
        (tmp_path / name).write_text(name)
    (tmp_path / "config.json").write_text('{"lr": 0.1}')
    (tmp_path / "log.jsonl").write_text("{}\n")
    before = picture(tmp_path)
    yield tmp_path
    after = picture(tmp_path)
    after.pop("touched.txt", None)
    assert after == before
