"""Whoever is killed, nothing stays: the fixtures check processes, shared memory, scratch folders and the project."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import tempfile
import threading
import time
from multiprocessing.connection import Client
from pathlib import Path

import psutil
import pytest

from accel_advisor.tuning.probe.channel.wire import BASELINE, Measure, Settings
from accel_advisor.tuning.target.command import Command
from accel_advisor.tuning.trial.contained_run import ContainedRun
from accel_advisor.tuning.trial.trial import Trial
from accel_advisor.tuning.trial.trial_errors import ScriptFailed, TimedOut, TrialEnded


def trial(project: Path, name: str, seconds: float = 300.0, **limits: float) -> Trial:
    command = Command(Path(f"{name}.py"), None, (), project)
    return Trial(command, deadline=time.monotonic() + seconds, **limits)


def child_of(parent: psutil.Process, program: str) -> psutil.Process:
    """The child that runs a program; others may end meanwhile, or have ended without being asked for their status."""
    for child in parent.children():
        with contextlib.suppress(psutil.Error):
            if program in " ".join(child.cmdline()):
                return child
    raise AssertionError(f"no child runs {program}")


@pytest.mark.parametrize("delay", [0.0, 0.17])
def test_the_parent_is_killed(project: Path, delay: float) -> None:
    host = subprocess.Popen(
        [sys.executable, str(Path(__file__).with_name("killed_parent.py")), str(project), "leaves_processes.py"],
        stdout=subprocess.PIPE,
        env={**os.environ, "TMPDIR": tempfile.gettempdir()},
    )
    assert host.stdout is not None
    for _ in range(2):
        assert host.stdout.readline() == b"measuring\n"
    time.sleep(delay)
    assert len(psutil.Process(host.pid).children(recursive=True)) >= 2
    host.kill()
    host.wait()
    host.stdout.close()


def test_the_parent_is_killed_before_the_script_runs(project: Path) -> None:
    host = subprocess.Popen(
        [sys.executable, str(Path(__file__).with_name("killed_parent.py")), str(project), "leaves_processes.py"],
        env={**os.environ, "TMPDIR": tempfile.gettempdir()},
    )
    while not list(Path(tempfile.gettempdir()).glob("*/overlay")):
        time.sleep(0.01)
    host.kill()
    host.wait()


def test_what_went_past_the_overlay_is_put_back_when_the_parent_is_killed(project: Path) -> None:
    host = subprocess.Popen(
        [sys.executable, str(Path(__file__).with_name("killed_parent.py")), str(project), "behind_python.py"],
        stdout=subprocess.PIPE,
        env={**os.environ, "TMPDIR": tempfile.gettempdir()},
    )
    assert host.stdout is not None
    assert host.stdout.readline() == b"measuring\n"
    assert (project / "raw.bin").exists()
    host.kill()
    host.wait()
    host.stdout.close()
    patience = time.monotonic() + 20
    while list(Path(tempfile.gettempdir()).iterdir()) and time.monotonic() < patience:
        time.sleep(0.05)


def test_the_next_trial_recovers_from_parent_and_guard_killed_at_once(project: Path) -> None:
    host = subprocess.Popen(
        [sys.executable, str(Path(__file__).with_name("killed_parent.py")), str(project), "spawned.py"],
        stdout=subprocess.PIPE,
        env={**os.environ, "TMPDIR": tempfile.gettempdir()},
    )
    assert host.stdout is not None
    assert host.stdout.readline() == b"measuring\n"
    guard = child_of(psutil.Process(host.pid), "guard.py")
    for process in (guard, psutil.Process(host.pid)):
        process.kill()
    host.wait()
    host.stdout.close()
    assert list(Path(tempfile.gettempdir()).glob("accel-advisor-*"))
    with trial(project, "plain_loop") as running:
        running.start()
        assert len(list(Path(tempfile.gettempdir()).glob("accel-advisor-*"))) == 1


def test_the_guard_is_killed(project: Path) -> None:
    with trial(project, "leaves_processes") as running:
        running.start()
        child_of(psutil.Process(), "guard.py").kill()
        with pytest.raises(TrialEnded):
            running.measure(Measure(Settings(1, 2), min_batches=100_000))


def test_the_child_is_killed(project: Path) -> None:
    with trial(project, "leaves_processes") as running:
        running.start()
        running.measure(Measure(BASELINE, min_batches=8, min_seconds=0.0))
        child_of(child_of(psutil.Process(), "guard.py"), "launch.py").kill()
        with pytest.raises(TrialEnded, match=r"killed by SIGKILL while num_workers=2, prefetch_factor=2 was"):
            running.measure(Measure(Settings(2, 2), min_batches=1000, min_seconds=1.0))


def test_a_child_that_ends_while_it_is_let_in(project: Path) -> None:
    run = ContainedRun(Command(Path("plain_loop.py"), None, (), project), extend_epochs=False)
    Client(run.child._listener.address).close()
    assert run.child._heard.wait(60)
    closing = threading.Thread(target=run.close, daemon=True)
    closing.start()
    closing.join(60)
    assert not closing.is_alive()


def test_the_deadline_ends_a_script_that_is_stuck(project: Path) -> None:
    with trial(project, "stuck", start_timeout=60.0) as running:
        running.start()
        running.deadline = time.monotonic() + 2.0
        with pytest.raises(TimedOut, match=r"the time for the trial was spent"):
            running.measure(Measure(BASELINE, min_batches=1000))
        assert time.monotonic() < running.deadline + 30.0


def test_the_start_takes_too_long(project: Path) -> None:
    with trial(project, "plain", start_timeout=0.3) as running, pytest.raises(TimedOut, match=r"first batch"):
        running.start()


def test_an_interpreter_that_is_missing(project: Path) -> None:
    command = Command(Path("plain.py"), None, (), project, python="no-such-python")
    running = Trial(command, deadline=time.monotonic() + 20)
    with running, pytest.raises(ScriptFailed, match=r"could not be started: .*no-such-python"):
        running.start()


def test_a_script_that_is_missing(project: Path) -> None:
    with trial(project, "missing") as running, pytest.raises(ScriptFailed, match=r"missing\.py"):
        running.start()
