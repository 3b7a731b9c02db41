"""Records that come back from files: whole ones are read, all others cost one sentence."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from accel_advisor.commands.report_command import report
from accel_advisor.tune.probe.channel.wire import Settings
from accel_advisor.tune.record.schema import Choice, Record
from accel_advisor.tune.record.stored import read_record, record_of
from accel_advisor.tune.showing.comparison import lines, ratio, verdict

RECORDED = Path(__file__).parents[3] / "docs" / "recorded" / "trial.json"
DATA: dict[str, Any] = json.loads(RECORDED.read_text())
DOCUMENTED = (Path(__file__).parents[3] / "docs" / "json.md").read_text()


@pytest.fixture(scope="module")
def record() -> Record:
    return read_record(RECORDED)


def call(*args: object) -> tuple[int, str, str]:
    result = CliRunner().invoke(report, [str(one) for one in args])
    assert "Traceback" not in result.output
    return result.exit_code, result.stdout, result.stderr


def test_what_was_written_is_read_again(record: Record) -> None:
    again = json.loads(json.dumps(asdict(record), allow_nan=False))
    assert list(again)[: len(DATA)] == list(DATA)
    assert record_of(again) == record


def test_keys_from_a_newer_version_are_passed_over(record: Record) -> None:
    data = copy.deepcopy(DATA)
    data["news"], data["tried"][0]["news"] = 1, {"x": [None]}
    assert record_of(data) == record


def test_every_key_is_documented() -> None:
    for name in (*DATA, *DATA["loaders"][0], *DATA["tried"][0], *DATA["blocks"][0], *DATA["machine"]):
        assert f"`{name}`" in DOCUMENTED or f".{name}`" in DOCUMENTED, name


def without(key: str) -> Callable[[dict[str, Any]], object]:
    return lambda data: data.pop(key)


def setting(path: str, value: Any) -> Callable[[dict[str, Any]], object]:
    def put(data: Any) -> None:
        *way, last = path.split(".")
        for step in way:
            data = data[int(step) if step.isdigit() else step]
        data[last] = value

    return put


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (without("loaders"), "is not the record of a run"),
        (without("schema"), "has `schema` None"),
        (setting("schema", 2), "has `schema` 2, and this version"),
        (without("seconds"), "has no `seconds`"),
        (setting("loaders", []), "names no loader"),
        (setting("loaders", {}), "`loaders` that is not a list"),
        (setting("seconds", "long"), "`seconds` that is not a number"),
        (setting("seconds", 10**400), "not so large"),
        (setting("shares.wait", True), "`shares.wait` that is not a number"),
        (setting("tried.0.settings.num_workers", 1.5), "`tried[0].settings.num_workers` that is not a whole number"),
        (setting("tried.0.rate", -1), "not above 0"),
        (setting("tried.0.gain", {"ratio": 0, "low": None, "high": None}), "not above 0"),
        (setting("blocks.0.tried", 99), "a candidate that it does not list"),
        (setting("blocks.0.seconds", -1), "below 0"),
        (setting("began", "yesterday"), "no time"),
        (setting("notes", "one"), "`notes` that is not a list"),
        (setting("ceilings", []), "`ceilings` that is not an object"),
        (setting("kept", 1), "`kept` that is not a text"),
    ],
)
def test_a_record_that_is_wrong_is_named_with_its_key(
    tmp_path: Path, spoil: Callable[[dict[str, Any]], object], words: str
) -> None:
    data, path = copy.deepcopy(DATA), tmp_path / "run.json"
    spoil(data)
    path.write_text(json.dumps(data))
    status, _, error = call(path, "--html", tmp_path / "out.html")
    assert status == 2
    assert words in error
    assert str(path) in error
    assert len(error.strip().splitlines()) == 1
    assert not (tmp_path / "out.html").exists()


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is not JSON"),
        (b"[1, 2]", "is not the record of a run"),
        (b"\xff\xfe\x00", "is not text in UTF-8"),
        (b'{"loaders": NaN}', "NaN is no number"),
        (b"[" * 100_000, "nested too deeply"),
    ],
)
def test_what_is_no_record_at_all(tmp_path: Path, content: bytes, words: str) -> None:
    path = tmp_path / "run.json"
    path.write_bytes(content)
    status, _, error = call(path)
    assert status == 2
    assert words in error


def test_wrong_use(tmp_path: Path) -> None:
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
    data, path = copy.deepcopy(DATA), tmp_path / "run.json"
    data.update(
        sentence="\x1b[2J\x1b]0;owned\x07", notes=["a\x1b[31m"], diff="--- a\x1b[0m\n+\x9b31m\n", origin="\u202e"
    )
    data["tried"][0]["failed"] = "\x1b[5m"
    path.write_text(json.dumps(data))
    for text in (call(path)[1], call(path, path)[1]):
        assert not {"\x1b", "\x07", "\x9b", "\u202e"} & set(text)
    assert "\\x1b[2J" in call(path)[1]


def with_rate(record: Record, rate: float) -> Record:
    choice = Choice(Settings(), rate, 0.98 * rate, 1.02 * rate)
    return replace(record, loaders=(replace(record.trained, baseline=choice),), applied=False)


def test_two_records_are_compared(record: Record, tmp_path: Path) -> None:
    one, same, faster, slower = (with_rate(record, rate) for rate in (100, 101, 150, 50))
    assert "no difference beyond doubt" in verdict([one, same])
    assert verdict([one, faster]).startswith("The second run was 1.5 times as fast as the first (1.46-1.54)")
    assert verdict([one, slower]).startswith("The second run reached only 50 % of the rate of the first")
    found = ratio(one.trained.baseline, faster.trained.baseline)
    assert found is not None
    assert found.low is not None
    assert found.high is not None
    assert found.low < 1.5 < found.high
    assert {line.name for line in lines([one, faster]) if line.differs} == {"samples/s now"}
    paths = []
    for number, each in enumerate((one, faster)):
        paths.append(tmp_path / f"{number}.json")
        paths[-1].write_text(json.dumps(asdict(each)))
    status, text, _ = call(*paths, "--html", tmp_path / "out.html")
    assert status == 0
    assert "1.5 times as fast" in text
    assert "1.5 times as fast" in (tmp_path / "out.html").read_text(encoding="utf-8")


def test_what_cannot_be_compared_is_said(record: Record, tmp_path: Path) -> None:
    other, path = replace(record, script="other.py"), tmp_path / "b.json"
    path.write_text(json.dumps(asdict(other)))
    assert "These are different scripts." in call(RECORDED, path)[1]
