"""What the tests of trials share: a project of hostile scripts, and the check that a trial leaves nothing behind."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

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
    return set(os.listdir("/dev/shm")) if os.path.isdir("/dev/shm") else set()


def orphans(before: set[str]) -> set[str]:
    """Shared-memory segments that are new and that no living process has mapped: other programs have segments too."""
    found = segments() - before
    for process in Path("/proc").glob("[0-9]*") if found else ():
        try:
            maps = (process / "maps").read_text()
        except OSError:
            continue
        found -= {name for name in found if f"/dev/shm/{name}" in maps}
    return found


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
    while (traces(folder) or orphans(before)) and time.monotonic() < patience:
        time.sleep(0.1)
    assert traces(folder) == set()
    assert orphans(before) == set()


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
