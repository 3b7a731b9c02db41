"""The command report: a record is shown as the run was, and wrong use costs one sentence."""

from __future__ import annotations

import json
from pathlib import Path

from accel_advisor.tuning.record.schema import Record

from ..conftest import RECORDED
from ..tuning.outcomes import call


def test_wrong_use(tmp_path: Path) -> None:
    assert call()[2] == "Error: name what `accel-advisor tune --json FILE` or `--history FILE` recorded\n"
    assert "cannot be read: No such file" in call(tmp_path / "none.json")[2]
    assert "cannot be read: Is a directory" in call(tmp_path)[2]
    assert "this is what is to be read" in call(RECORDED, "--html", RECORDED)[2]
    assert "does not exist" in call(RECORDED, "--html", tmp_path / "no" / "a.html")[2]
    history = tmp_path / "h.jsonl"
    history.write_text('{"history": 1')
    assert "is drawn by itself" in call(RECORDED, history)[2]


def test_one_record_is_shown_as_the_run_was(record: Record, tmp_path: Path) -> None:
    status, text, _ = call(RECORDED, "--html", tmp_path / "out.html")
    assert status == 0
    assert record.sentence is not None
    assert text.startswith(record.sentence)
    assert "Recommended" in text
    assert record.sentence in (tmp_path / "out.html").read_text(encoding="utf-8")


def test_a_record_from_elsewhere_cannot_steer_the_terminal(tmp_path: Path) -> None:
    data, path = json.loads(RECORDED.read_text()), tmp_path / "run.json"
    data.update(
        sentence="\x1b[2J\x1b]0;owned\x07", notes=["a\x1b[31m"], diff="--- a\x1b[0m\n+\x9b31m\n", origin="\u202e"
    )
    data["tried"][0]["failed"] = "\x1b[5m"
    path.write_text(json.dumps(data))
    for text in (call(path)[1], call(path, path)[1]):
        assert not {"\x1b", "\x07", "\x9b", "\u202e"} & set(text)
    assert "\\x1b[2J" in call(path)[1]
