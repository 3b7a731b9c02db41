"""Runs over time: what is appended, what is tolerated, and when a script has fallen behind its best."""

from __future__ import annotations

import json
import threading
from dataclasses import replace
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from rich.console import Console

from accel_advisor.commands.output_files import Outputs
from accel_advisor.commands.report_command import report
from accel_advisor.commands.tune_command import _finish, tune
from accel_advisor.tuning.probe.channel.wire import NO_WAIT, LoaderInfo, Settings
from accel_advisor.tuning.record.history import (
    Entry,
    append,
    behind,
    best,
    entry_of,
    is_history,
    parse_tolerance,
    read_history,
)
from accel_advisor.tuning.record.outcome import Outcome, Row
from accel_advisor.tuning.record.outcome_record import recorded
from accel_advisor.tuning.record.record_file import RecordError, read_record
from accel_advisor.tuning.record.schema import Choice, Record, TriedRecord
from accel_advisor.tuning.record.turns_schema import FixesRecord, FixPlace, FixRecord, Ratio
from accel_advisor.tuning.search.diagnosis import Diagnosis, Shares
from accel_advisor.tuning.search.statistics import Interval
from accel_advisor.tuning.search.stops import Stop

from ...conftest import RECORDED


def run(rate: float, spread: float = 0.01) -> Entry:
    found = entry_of(read_record(RECORDED))
    assert found is not None
    return replace(found, rate=rate, low=rate * (1 - spread), high=rate * (1 + spread))


@pytest.mark.parametrize(
    ("text", "share"), [("5%", 0.05), ("5 %", 0.05), ("0.05", 0.05), ("0", 0.0), ("0%", 0.0), (" 12.5% ", 0.125)]
)
def test_a_tolerance_is_a_share(text: str, share: float) -> None:
    assert parse_tolerance(text) == pytest.approx(share)


@pytest.mark.parametrize("text", ["5", "1", "100%", "-5%", "nan", "inf%", "five", "", "%", "5%%"])
def test_what_is_no_tolerance_gets_a_sentence(text: str) -> None:
    with pytest.raises(ValueError, match=r"such as 5% or 0\.05"):
        parse_tolerance(text)


def test_behind_means_beyond_the_tolerance_and_beyond_both_intervals() -> None:
    assert not behind(run(96), run(100), 0.05)
    assert behind(run(94), run(100), 0.05)
    assert not behind(run(94, spread=0.07), run(100), 0.05)
    assert not behind(run(94), run(100, spread=0.07), 0.05)
    assert not behind(run(110), run(100), 0.0)


def test_a_high_reading_of_a_noisy_day_is_no_record() -> None:
    runs = [run(100), run(130, spread=0.6), replace(run(300), low=None, high=None)]
    assert best(runs) is runs[0]
    assert best(runs[2:]) is runs[2]
    assert best([]) is None
    assert not behind(runs[0], runs[2], 0.05)
    assert not behind(replace(run(10), low=None, high=None), runs[0], 0.05)


def test_a_line_for_each_run_and_none_lost_when_runs_end_together(tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    threads = [threading.Thread(target=append, args=(path, run(rate))) for rate in range(1, 41)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    history = read_history(path)
    assert sorted(entry.rate for entry in history.entries) == [float(rate) for rate in range(1, 41)]
    top = best(history.entries)
    assert top is not None
    assert top.rate == 40
    assert is_history(path)


def test_lines_of_versions_that_did_not_count_energy_are_read(tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    append(path, run(1))
    old = json.loads(path.read_text())
    del old["joules"]
    path.write_text(json.dumps(old) + "\n")
    append(path, replace(run(2), joules=0.42))
    assert [entry.joules for entry in read_history(path).entries] == [None, 0.42]
    assert "2 samples/s (1.98-2.02), 0.42 J per sample on " in CliRunner().invoke(report, [str(path)]).stdout
    path.write_text(json.dumps({**old, "joules": -1}) + "\n")
    with pytest.raises(RecordError, match="an energy"):
        read_history(path)


def test_a_torn_line_is_left_out_and_reported_and_the_next_one_stands(tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    append(path, run(1))
    whole = path.read_bytes()
    for cut in (1, 5, len(whole) // 2, len(whole) - 2):
        path.write_bytes(whole + whole[:cut])
        assert read_history(path).torn == (2,)
        append(path, run(2))
        history = read_history(path)
        assert [entry.rate for entry in history.entries] == [1, 2]
        assert history.torn == (2,)
    result = CliRunner().invoke(report, [str(path)])
    assert result.exit_code == 0
    assert "2: this line was cut short" in result.stderr
    assert "2 runs" in result.stdout


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("print('hello')\n", "is not a line that"),
        ('{"a": 1}\n', "is not the record of a run"),
        ('{"history": 2}\n', "reads 1"),
        ('{"history": 1}\n', "has no `at`"),
        (json.dumps({"schema": 1}, indent=2), "is not a line that"),
    ],
)
def test_somebody_elses_file_is_refused_before_the_trial(tmp_path: Path, content: str, words: str) -> None:
    path, script = tmp_path / "runs.jsonl", tmp_path / "train.py"
    path.write_text(content)
    script.write_text("raise SystemExit('it ran')\n")
    result = CliRunner().invoke(tune, [str(script), "--history", str(path)])
    assert result.exit_code == 2
    assert words in result.stderr
    assert f"--history {path}:" in result.stderr
    assert path.read_text() == content


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["--tolerance", "5%"], "give both"),
        (["--check", "--tolerance", "5%"], "needs --history FILE"),
        (["--check", "--tolerance", "5", "--history", "h"], "such as 5% or 0.05"),
        (["--json", "a", "--trace", "a"], "--json names the same file"),
        (["--history", "no/h"], "folder no does not exist"),
        (["--trace", "."], "is a directory"),
    ],
)
def test_wrong_use_costs_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, args: list[str], words: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("train.py").write_text("raise SystemExit('it ran')\n")
    result = CliRunner().invoke(tune, ["train.py", *args])
    assert result.exit_code == 2
    assert words in result.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["train.py"]


def outcome(root: Path, rate: float, *, args: tuple[str, ...] = ()) -> Outcome:
    info = LoaderInfo(0, "train", (), Settings(), 16, 100, 4096, "__main__.Data", "fork")
    shares = Diagnosis(Shares(0.1, 0.0, 0.9, 0.0), {NO_WAIT: Interval(1.1, 1.0, 1.2, 3)}, 0.0, 0.0)
    spread = Interval(rate, 0.99 * rate, 1.01 * rate, 5)
    return Outcome(
        root, (info,), "cpu", "2.13.0", shares, (Row(Settings(), rate, None, 9, interval=spread),), rate,
        kept=Stop.NO_HEADROOM, script="train.py", args=args, began="2026-11-21T02:00:00+00:00",
        baseline_interval=spread,
    )  # fmt: skip


def finish(found: Outcome, outputs: Outputs) -> int:
    try:
        _finish(click.Context(click.Command("tune")), found, Console(quiet=True), outputs, check=True)
    except click.exceptions.Exit as end:
        return end.exit_code
    return 0


def test_check_fails_when_a_script_has_fallen_behind_its_best(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    outputs = Outputs(history=tmp_path / "runs.jsonl", tolerance=0.05)
    assert finish(outcome(tmp_path, 100), outputs) == 0
    assert "First run in this history" in capsys.readouterr().out
    assert finish(outcome(tmp_path, 97), outputs) == 0
    assert finish(outcome(tmp_path, 90), outputs) == 1
    assert "Fallen behind: 90 samples/s (89.1-90.9), 10 % less; the best" in capsys.readouterr().out
    assert finish(outcome(tmp_path, 50, args=("--width", "9")), outputs) == 0, "another command has its own best"
    assert finish(outcome(tmp_path, 90), outputs) == 1, "a slow run does not become the measure"
    capsys.readouterr()
    assert finish(outcome(tmp_path, 120), outputs) == 0
    assert "the best on this kind of machine so far; before, 100 samples/s" in capsys.readouterr().out
    interrupted = outcome(tmp_path, 90)
    interrupted.interrupted = True
    assert finish(interrupted, outputs) == 130
    assert len(read_history(tmp_path / "runs.jsonl").entries) == 6


def test_what_counts_is_the_script_as_it_was_left(record: Record) -> None:
    fast = Choice(Settings(64), 200.0, 190.0, 210.0)
    row = TriedRecord(fast.settings, 200.0, None, 4, None, 190.0, 210.0)
    trained = replace(record.trained, recommended=fast)
    changed = replace(record, loaders=(trained,), tried=(*record.tried, row), kept=None, applied=False)
    left, applied = entry_of(changed), entry_of(replace(changed, applied=True))
    assert left is not None
    assert applied is not None
    assert (left.rate, left.settings) == (record.tried[0].rate, record.tried[0].settings)
    assert (applied.rate, applied.settings, applied.gain) == (200.0, Settings(64), None)
    assert left.gain == record.trained.gain.ratio if record.trained.gain else False


def test_another_machine_or_device_has_a_best_of_its_own(record: Record) -> None:
    assert record.machine is not None
    machine = replace(record.machine, fingerprint="another")
    keys = {
        entry.key
        for one in (
            record,
            replace(record, device="cuda"),
            replace(record, machine=machine),
            replace(record, args=("x",)),
        )
        if (entry := entry_of(one)) is not None
    }
    assert len(keys) == 4
    same = entry_of(replace(record, torch="9.9", sentence="other", seconds=1.0))
    assert same is not None
    assert same.key in keys


def test_a_history_that_is_gone_is_reported(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match="cannot be read"):
        read_history(tmp_path / "none.jsonl")
    assert recorded(outcome(tmp_path, 5)).tried[0].rate == 5


def test_fixes_that_pay_and_are_not_in_the_source_are_kept() -> None:
    place = FixPlace("ACC205", "create-on-cpu-then-move", "train.py", 40, "Create it there")
    gain = Ratio(1.3, 1.25, 1.35)
    pays = FixRecord((place,), True, "pays", "pays here (1.25 to 1.35)", gain, 0.0, 0.0, False)
    slower = replace(pays, places=(replace(place, row=41),), verdict="slower")
    record = read_record(RECORDED)
    left = entry_of(replace(record, fixes=FixesRecord((pays, slower), "", (), False)))
    written = entry_of(replace(record, fixes=FixesRecord((replace(pays, written=True),), "", (), True)))
    assert left is not None
    assert written is not None
    assert (left.fixes, written.fixes) == (("ACC205 train.py:40",), ())
