"""What a guard removes of a trial whose own guard and parent were killed, and what it leaves to others."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from accel_advisor.tuning.probe.guard import SHARED_MEMORY, recover

pytestmark = pytest.mark.skipif(not os.path.isdir(SHARED_MEMORY), reason="shared memory has no names here")


def dead() -> int:
    """The number of a process that is gone."""
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        process.wait()
        return process.pid


@pytest.fixture
def segments() -> Iterator[dict[str, Path]]:
    """Named as torch names them: after the worker that makes them."""
    numbers = {"killed": dead(), "another's": os.getpid(), "before": dead(), "of a stranger": dead()}
    found = {name: Path(SHARED_MEMORY, f"torch_{number}_{os.getpid()}_0") for name, number in numbers.items()}
    for path in found.values():
        path.write_bytes(b"")
    yield found
    for path in found.values():
        path.unlink(missing_ok=True)


def test_segments_of_killed_workers_are_removed_and_no_others(tmp_path: Path, segments: dict[str, Path]) -> None:
    scratch = tmp_path / "accel-advisor-0123456789ab"
    scratch.mkdir()
    (scratch / "lock").touch()
    (scratch / "segments").write_text(str(segments["before"]))
    seen = [name for name in segments if name != "of a stranger"]
    (scratch / "pids").write_text("\n".join(segments[name].name.split("_")[1] for name in seen))
    recover(str(tmp_path))
    assert not scratch.exists()
    assert {name for name, path in segments.items() if path.exists()} == {"another's", "before", "of a stranger"}


def test_a_trial_that_runs_is_left_alone(tmp_path: Path, segments: dict[str, Path]) -> None:
    scratch = tmp_path / "accel-advisor-0123456789ab"
    scratch.mkdir()
    (scratch / "segments").touch()
    (scratch / "pids").write_text(segments["killed"].name.split("_")[1])
    holding = (
        "import fcntl, sys; lock = open(sys.argv[1], 'w'); fcntl.flock(lock, fcntl.LOCK_EX); print(flush=True); input()"
    )
    command = [sys.executable, "-c", holding, str(scratch / "lock")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        other.stdout.readline()
        recover(str(tmp_path))
        assert scratch.exists()
        assert all(path.exists() for path in segments.values())
        other.communicate(b"\n")
