"""Ctrl-C at every step of the writing and of the telling: what is said is what stands in the files."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import FrameType
from typing import Any

import click
import pytest
from click.testing import CliRunner, Result

from accel_advisor.commands.tune_command import tune
from accel_advisor.finding import Edit, Location, Span
from accel_advisor.machine.machine import inspect_machine
from accel_advisor.tuning import tuner
from accel_advisor.tuning.applying import verified_rewrite
from accel_advisor.tuning.applying.rewrite import Recommendation, Rewrite
from accel_advisor.tuning.knobs.knob_trials import KnobTrials
from accel_advisor.tuning.knobs.tried_knobs import TriedKnob
from accel_advisor.tuning.probe.channel.wire import Frame, LoaderInfo, Settings
from accel_advisor.tuning.probe.knobs.threads_knob import Threads
from accel_advisor.tuning.record.outcome import Outcome, Row
from accel_advisor.tuning.search.statistics import Interval
from accel_advisor.tuning.search.verification import Verification
from accel_advisor.tuning.target.command import Command
from accel_advisor.tuning.trial.interrupts import Interrupts, undisturbed
from accel_advisor.tuning.trial.session import Session

GAIN = Interval(2.65, 2.58, 2.72, 5)
OLD, NEW = b"WORKERS = 0\n", b"WORKERS = 4\n"
NAMES = ("train.py", "settings.py")
MOST = 100_000
SESSION = Session(Command(Path("train.py"), None, (), Path()), deadline=0.0, start_timeout=0.0)
"""Never started: what runs is left out."""


class Steps:
    """Counts the steps of what runs in it, and sends SIGINT at one of them: calls and returns, of Python and of C."""

    def __init__(self, at: int = MOST) -> None:
        self.taken = 0
        self._at = at

    def __enter__(self) -> Steps:
        sys.setprofile(self._step)
        return self

    def __exit__(self, *_: object) -> None:
        sys.setprofile(None)

    def _step(self, frame: FrameType, _event: str, _what: Any) -> None:
        if frame.f_code is click.Command.main.__code__:
            sys.setprofile(None)  # the command is over, and what remains is click's
            return
        self.taken += 1
        if self.taken == self._at:
            signal.raise_signal(signal.SIGINT)


def recommended(folder: Path) -> Outcome:
    """An outcome whose change touches two files, which hold the old source."""
    paths = [folder / name for name in NAMES]
    for path in paths:
        path.write_bytes(OLD)
    rewrite = Rewrite(dict.fromkeys(paths, OLD), dict.fromkeys(paths, NEW), "--- a\n+++ b\n@@ -1 +1 @@\n-0\n+4\n")
    frame = Frame(str(paths[0]), "<module>", 1, 1, 1, 2)
    info = LoaderInfo(0, "train", (frame,), Settings(), 16, 100, 4096, "__main__.Data", "fork")
    found = Recommendation(Settings(4), Settings(), GAIN, rewrite=rewrite)
    rows = (Row(Settings(), 412.0, None, 9), Row(Settings(4), 1093.0, GAIN, 7))
    return Outcome(folder, (info,), "cpu", "2.13.0", rows=rows, recommendation=found, script="train.py")


def stands(folder: Path) -> bool:
    """Whether the new source does: all of it, or nothing."""
    contents = {(folder / name).read_bytes() for name in NAMES}
    assert len(contents) == 1
    assert {path.name for path in folder.iterdir()} - {"out.json", "pyproject.toml"} == set(NAMES)
    return contents == {NEW}


@pytest.fixture
def verified(monkeypatch: pytest.MonkeyPatch) -> None:
    """The runs of old source and new, which take half a minute, have shown the gain."""
    monkeypatch.setattr(verified_rewrite, "_verify", lambda *_: Verification(True, GAIN))


def applied(outcome: Outcome, interrupts: Interrupts) -> None:
    outcome.verification = verified_rewrite.apply(SESSION, outcome.recommendation, None, 0.0, interrupts)  # type: ignore[arg-type]


def each_step(run: Callable[[Steps], None], every: int = 1) -> int:
    """Runs it with an interrupt at its first step, at its second and so on; how many steps there are."""
    run(counted := Steps())
    for at in range(1, counted.taken + 1, every):
        run(Steps(at))
    return counted.taken


@pytest.mark.usefixtures("verified")
def test_what_is_known_of_the_writing_is_what_stands_in_the_files(tmp_path: Path) -> None:
    found = set()

    def run(steps: Steps) -> None:
        outcome = recommended(tmp_path)
        with Interrupts() as interrupts:
            with steps:
                applied(outcome, interrupts)
            assert outcome.verification is not None
            assert outcome.verification.holds == stands(tmp_path)
            found.add((interrupts.heard, outcome.verification.holds))

    assert each_step(run) > 100
    assert found == {(False, True), (True, True), (True, False)}


@pytest.mark.usefixtures("verified")
def test_files_are_whole_for_a_caller_who_lets_ctrl_c_through(tmp_path: Path) -> None:
    def run(steps: Steps) -> None:
        outcome, interrupts = recommended(tmp_path), Interrupts()
        try:
            with steps:
                applied(outcome, interrupts)
        except KeyboardInterrupt:
            sys.setprofile(None)
            stands(tmp_path)
        else:
            assert outcome.verification is not None
            assert outcome.verification.holds == stands(tmp_path)

    assert each_step(run, every=3) > 100


def test_what_is_known_of_the_knobs_is_what_stands_in_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The knobs of the training, from their last run on: one pays, and its patch is verified."""
    edit = Edit("train.py", Span(Location(10, 1, 11), Location(11, 1, 12)), "4")
    monkeypatch.setattr(KnobTrials, "_tried", lambda *_: TriedKnob(Threads(4), "WORKERS = 4", GAIN, edits=(edit,)))
    found = set()

    def run(steps: Steps) -> None:
        outcome = recommended(tmp_path)
        monkeypatch.setattr(KnobTrials, "verify", lambda *_: (steps.__enter__(), Verification(True, GAIN))[1])
        command, options = Command(tmp_path / "train.py", None, (), tmp_path), tuner.Options(frozenset({"threads"}))
        options = replace(options, apply=True, unsafe=True)
        with Interrupts() as interrupts:
            tuner._turn(command, options, outcome, inspect_machine(), lambda *_: None, interrupts)
            steps.__exit__()
            assert outcome.turns is not None
            assert outcome.turns.written == ((tmp_path / "train.py").read_bytes() == NEW)
            found.add((interrupts.heard, outcome.turns.written))

    assert each_step(run, every=3) > 100
    assert found == {(False, True), (True, True), (True, False)}


@pytest.mark.usefixtures("verified")
def test_the_command_says_what_stands_in_the_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From the writing to the end of the command: at some of the first steps and of all, and each of the last."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pyproject.toml").write_text("[project]\nname = 'x'\nversion = '1'\n")
    steps = Steps()

    def story(_command: Command, _options: object, *, interrupts: Interrupts, **_: object) -> Outcome:
        outcome = recommended(tmp_path)
        sys.setprofile(steps._step)
        applied(outcome, interrupts)
        outcome.interrupted = interrupts.heard
        return outcome

    def call(at: int) -> Result:
        nonlocal steps
        recommended(tmp_path)
        steps = Steps(at)
        try:
            return CliRunner().invoke(tune, ["train.py", "--apply", "--json", "out.json"])
        finally:
            sys.setprofile(None)

    monkeypatch.setattr(tuner, "tune", story)
    for _ in range(2):  # the first also imports
        assert call(MOST).exit_code == 0
    most = steps.taken
    for at in (*range(1, 400, 16), *range(400, most, max(1, most // 16)), *range(most - 200, most + 1)):
        result = call(at)
        ended = result.exit_code == 1 and result.stderr.endswith("\nAborted!\n")  # after the last word: as click ends
        assert ended or result.exit_code in (0, 130), (at, result.output)
        assert ("Applied and verified" in result.stdout) == stands(tmp_path), at
        assert ("Left as it was" in result.stdout) != stands(tmp_path), at
        data = json.loads((tmp_path / "out.json").read_text())
        assert data["applied"] == stands(tmp_path)
        assert ("Interrupted" in result.stdout) == data["interrupted"] == (result.exit_code == 130), at


def test_a_window_is_left_at_once_and_what_comes_outside_waits() -> None:
    with Interrupts() as interrupts:
        signal.raise_signal(signal.SIGINT)
        assert interrupts.heard
        with pytest.raises(KeyboardInterrupt), interrupts.heeded():
            raise AssertionError("it was entered")
    with Interrupts() as interrupts:
        with pytest.raises(KeyboardInterrupt), interrupts.heeded():
            signal.raise_signal(signal.SIGINT)
        assert interrupts.heard
        signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="no such signal here")
def test_requests_wait_until_what_must_be_whole_is_done_and_are_passed_on() -> None:
    seen: list[int] = []
    before = signal.signal(signal.SIGTERM, lambda number, _frame: seen.append(number))
    hup = signal.signal(signal.SIGHUP, signal.SIG_IGN)

    def whole() -> None:
        with undisturbed():
            for number in (signal.SIGHUP, signal.SIGTERM, signal.SIGINT):
                os.kill(os.getpid(), number)
            assert not seen

    try:
        with pytest.raises(KeyboardInterrupt):
            whole()
        assert seen == [signal.SIGTERM]
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGTERM, before)
        signal.signal(signal.SIGHUP, hup)
