"""What was measured last of a script, from the files that `tune --json` and `tune --history` write."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from accel_advisor.finding import Location, Span
from accel_advisor.server.measured_figures import Measured, Trials, lines_of
from accel_advisor.sights import Landmark, Sight
from accel_advisor.tuning.record.history import Entry, append, entry_of
from accel_advisor.tuning.record.record_file import read_record

from ..conftest import RECORDED

BEGAN = json.loads(RECORDED.read_text(encoding="utf-8"))["began"]
LATER = "2030-01-02T03:04:05+00:00"


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "train.py"
    path.write_text("# a training\n")
    return path


def entry(**changes: object) -> Entry:
    found = entry_of(read_record(RECORDED))
    assert found is not None
    return replace(found, **changes)  # type: ignore[arg-type]


def of(script: Path, *named: str, root: Path | None = None) -> Measured | None:
    return Trials().of(str(script), str(root or script.parent), named)


def test_the_last_line_of_a_history_counts_that_is_about_the_script(script: Path) -> None:
    history = script.parent / "runs.jsonl"
    assert of(script) is None
    append(history, entry(script="other.py", at=LATER))
    assert of(script) is None
    append(history, entry(rate=100.0, wait=0.5, gain=None, at="2029-01-01T00:00:00+00:00"))
    append(history, entry(rate=1234.5, wait=0.63, gain=2.104, at=LATER))
    append(history, entry(rate=5.04, wait=None, gain=None, at=BEGAN))
    measured = of(script)
    assert measured is not None
    assert (measured.at, measured.loader) == (LATER, None)
    assert measured.text == (
        "1,234 samples/s, 63 % of each step waits for data; a change would make it 2.10 times as fast"
    )


def test_a_record_counts_where_it_is_newer_and_says_whether_it_was_applied(script: Path) -> None:
    append(script.parent / "runs.jsonl", entry(rate=100.0, at="2020-01-01T00:00:00+00:00"))
    record = json.loads(RECORDED.read_text(encoding="utf-8"))
    (script.parent / "trial.json").write_text(json.dumps(record))
    measured = of(script)
    assert measured is not None
    assert measured.at == BEGAN
    assert measured.loader == (None, record["loaders"][0]["site"]["row"])
    assert "; changed 1.65 times as fast" in measured.text
    (script.parent / "trial.json").write_text(json.dumps({**record, "applied": False}))
    measured = of(script)
    assert measured is not None
    assert "; a change makes it 1.65 times as fast" in measured.text
    append(script.parent / "runs.jsonl", entry(rate=100.0, at=LATER))
    measured = of(script)
    assert measured is not None
    assert measured.at == LATER


@pytest.mark.parametrize(
    ("verdict", "words"),
    [("nothing_to_gain", "; nothing to gain"), ("undecided", "; whether a change would pay is undecided"), (None, "")],
)
def test_a_record_without_a_change_says_why(script: Path, verdict: str | None, words: str) -> None:
    record = json.loads(RECORDED.read_text(encoding="utf-8"))
    kept = {**record, "applied": False, "kept": "no other settings are faster", "verdict": verdict}
    (script.parent / "trial.json").write_text(json.dumps(kept))
    measured = of(script)
    assert measured is not None
    assert measured.text.endswith(f" of each step waits for data{words}")


def test_files_that_are_named_lie_anywhere_and_others_are_no_matter(script: Path, tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    kept.mkdir()
    append(kept / "runs.jsonl", entry(script="../train.py"))
    for name, text in {"a.json": "{", "b.json": '{"schema": 99}', "c.jsonl": '{"history": 1', "d.json": "[]"}.items():
        (tmp_path / name).write_text(text)
    assert of(script) is None
    measured = of(script, "kept/runs.jsonl", "gone.json")
    assert measured is not None
    assert measured.at == BEGAN


def test_a_file_is_read_again_where_it_changed(script: Path) -> None:
    trials, history = Trials(), script.parent / "runs.jsonl"
    append(history, entry(rate=100.0))
    first = trials.of(str(script), str(script.parent))
    append(history, entry(rate=200.0, at=LATER))
    again = trials.of(str(script), str(script.parent))
    os.remove(history)
    assert [one.text.split(",")[0] if one else None for one in (first, again)] == ["100 samples/s", "200 samples/s"]
    assert trials.of(str(script), str(script.parent)) is None


def test_figures_stand_at_the_loader_that_was_measured_and_else_at_the_first_landmark() -> None:
    def landmark(sight: Sight, row: int) -> Landmark:
        return Landmark(sight, "train.py", Span(Location(row, row, 1), Location(row + 1, row, 2)))

    marks = [landmark(Sight.LOOP, 30), landmark(Sight.LOADER, 12), landmark(Sight.LOADER, 9)]

    def shown(measured: Measured | None) -> dict[int, str]:
        return {one.span.start.row: text for one, text in lines_of(marks, measured)}

    text = "measured 2030-01-02: fast"
    assert shown(Measured(LATER, "fast", (None, 12))) == {9: "", 12: text, 30: ""}
    assert shown(Measured(LATER, "fast", (None, 99))) == {9: text, 12: "", 30: ""}
    assert shown(Measured(LATER, "fast")) == {9: text, 12: "", 30: ""}
    assert shown(None) == {9: "", 12: "", 30: ""}
