"""One trial at a time on a machine: real processes that hold the lock, end, and are killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from accel_advisor.tuning.trial.machine_lock import MachineBusy, machine_lock

pytest.importorskip("fcntl")

HOLD = """\
from accel_advisor.tuning.trial.machine_lock import machine_lock
with machine_lock():
    print("held", flush=True)
    input()
"""


def holder(folder: Path) -> subprocess.Popen[str]:
    """A process that holds the lock until its input ends."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD],
        env={**os.environ, "TMPDIR": str(folder)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    return process


@pytest.fixture
def other(temporary: Path) -> Iterator[subprocess.Popen[str]]:
    process = holder(temporary)
    yield process
    process.kill()
    process.communicate()


def test_alone_nobody_waits_and_nothing_is_left(temporary: Path) -> None:
    told: list[MachineBusy] = []
    for _ in range(2):
        with machine_lock(told.append):
            assert list(temporary.iterdir()) == []
    assert told == []


def test_a_second_one_is_refused_and_told_whom_it_meets(other: subprocess.Popen[str]) -> None:
    with pytest.raises(MachineBusy, match="another trial is running on this machine") as refused, machine_lock():
        pass
    assert refused.value.holder in (other.pid, None)


def test_the_lock_dies_with_its_process(other: subprocess.Popen[str]) -> None:
    other.send_signal(signal.SIGKILL)
    other.wait()
    with machine_lock():
        pass


def test_who_waits_is_told_once_and_goes_on_when_the_other_has_ended(other: subprocess.Popen[str]) -> None:
    told: list[MachineBusy] = []

    def end(busy: MachineBusy) -> None:
        told.append(busy)
        other.kill()

    with machine_lock(end):
        assert len(told) == 1
    assert other.wait() == -signal.SIGKILL
