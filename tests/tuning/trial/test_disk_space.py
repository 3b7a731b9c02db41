"""A script that writes more than the disk has: the trial ends before it is full, and leaves nothing there."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from accel_advisor.tuning.trial.disk_space import LEAST_FREE, MOST_FREE, floor, short

GIB = 1 << 30
DISK = 48
"""Mebibytes of the disk that is filled."""
MOUNT = 'mount -t tmpfs -o size="$2"m tmpfs "$1"'
TUNE = f'{MOUNT} && cd "$3" && TMPDIR="$1" "$4" -m accel_advisor tune train.py; status=$?; find "$1"; exit $status'
SCRIPT = """\
import sys, time

with open("small.txt", "w") as file:
    file.write("small")
with open("runs/last.ckpt", "wb", buffering=0) as file:
    for _ in range(10 * 48):
        file.write(bytes(1 << 20))
        time.sleep(0.02)
"""


@pytest.mark.parametrize(
    ("total", "free", "used", "lacks"),
    [
        (100 * GIB, 50 * GIB, 40 * GIB, False),
        (100 * GIB, 6 * GIB, 90 * GIB, False),
        (100 * GIB, 4 * GIB, 90 * GIB, True),
        (100 * GIB, 4 * GIB, GIB // 2, False),
        (4000 * GIB, 100 * GIB, 50 * GIB, False),
        (4000 * GIB, 15 * GIB, 50 * GIB, True),
        (8 * GIB, GIB // 2, 2 * GIB, True),
        (8 * GIB, 2 * GIB, 6 * GIB, False),
    ],
)
def test_when_the_room_is_short(total: int, free: int, used: int, lacks: bool) -> None:
    assert short(total, free, used) == lacks


def test_what_stays_free() -> None:
    assert (floor(GIB), floor(100 * GIB), floor(4000 * GIB)) == (LEAST_FREE, 5 * GIB, MOST_FREE)


def mounted(words: str, *args: str) -> subprocess.CompletedProcess[str]:
    """Runs a shell with file systems of its own, where the system lets one."""
    command = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", words, "sh", *args]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_a_disk_is_not_filled(tmp_path: Path) -> None:
    disk, project = tmp_path / "disk", tmp_path / "project"
    for folder in (disk, project / "runs"):
        folder.mkdir(parents=True)
    if sys.platform != "linux" or mounted(MOUNT, str(disk), str(DISK)).returncode:
        pytest.skip("a small file system cannot be mounted here")
    (project / "train.py").write_text(SCRIPT)
    found = mounted(TUNE, str(disk), str(DISK), str(project), sys.executable)
    assert found.returncode == 2, found.stderr
    assert "Traceback" not in found.stderr
    assert f"\nError: what the script writes fills the disk of {disk}: " in found.stderr
    assert "of it in runs/last.ckpt, and " in found.stderr
    assert found.stderr.endswith("let it save less, or set TMPDIR to a folder on a larger disk\n")
    assert found.stdout.splitlines() == [str(disk)]
    assert sorted(path.name for path in project.rglob("*")) == ["runs", "train.py"]
