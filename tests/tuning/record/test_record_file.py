"""Records that come back from files: whole ones are read, all others cost one sentence."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from accel_advisor.tuning.record.device_schema import DeviceUse
from accel_advisor.tuning.record.record_file import record_of
from accel_advisor.tuning.record.schema import Record

from ...conftest import RECORDED
from ..outcomes import call

DATA: dict[str, Any] = json.loads(RECORDED.read_text())
DOCUMENTED = (Path(__file__).parents[3] / "docs" / "json.md").read_text()


def test_what_was_written_is_read_again(record: Record) -> None:
    again = json.loads(json.dumps(asdict(record), allow_nan=False))
    assert list(again)[: len(DATA)] == list(DATA)
    assert record_of(again) == record


def test_keys_from_a_newer_version_are_passed_over(record: Record) -> None:
    data = copy.deepcopy(DATA)
    data["news"], data["tried"][0]["news"] = 1, {"x": [None]}
    assert record_of(data) == record


def test_records_of_versions_that_did_not_count_energy_are_read() -> None:
    data = copy.deepcopy(DATA)
    for key in ("energy", "samples"):
        data.pop(key, None)
    found = record_of(data)
    assert (found.energy, found.samples) == (None, ())
    data["tried"][0]["device"] = {"busy": 0.5, "memory": 1, "power": 1.0, "clock": 1.0}
    data["samples"] = [{"at": 1.0, "busy": 0.5, "memory": 1, "power": 1.0, "clock": 1.0}]
    found = record_of(data)
    assert found.tried[0].device == DeviceUse(0.5, 1, 1.0, 1.0)
    assert found.samples[0].energy is None


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
        (setting("energy", {"now": 0}), "an energy that is not above 0"),
        (setting("energy", {"now": 1, "recommended": -1}), "an energy that is not above 0"),
        (setting("energy", {"recommended": 1}), "has no `energy.now`"),
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
