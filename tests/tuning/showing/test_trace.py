"""The trace: the documented keys of Chrome's trace-event format, spans that nest, the times of the record."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from accel_advisor.tuning.record.record_file import read_record
from accel_advisor.tuning.showing.trace import trace

RECORD = read_record(Path(__file__).parents[3] / "docs" / "recorded" / "trial.json")
KEYS = {
    "M": {"ph", "pid", "tid", "name", "args"},
    "X": {"ph", "pid", "tid", "name", "cat", "ts", "dur", "args"},
    "C": {"ph", "pid", "tid", "name", "ts", "args"},
}


@pytest.fixture(scope="module")
def events() -> list[dict[str, Any]]:
    data = json.loads(json.dumps(trace(RECORD), allow_nan=False))
    assert set(data) == {"traceEvents", "displayTimeUnit", "otherData"}
    found: list[dict[str, Any]] = data["traceEvents"]
    return found


def test_every_event_has_the_keys_of_its_kind(events: list[dict[str, Any]]) -> None:
    for event in events:
        assert set(event) == KEYS[event["ph"]]
        assert isinstance(event["name"], str)
        assert isinstance(event["pid"], int)
        assert isinstance(event["tid"], int)
        assert isinstance(event["args"], dict)
        if event["ph"] != "M":
            assert event["ts"] >= 0
        if event["ph"] == "X":
            assert event["dur"] >= 0
        if event["ph"] == "C":
            assert all(isinstance(value, (int, float)) for value in event["args"].values())
    assert {event["name"] for event in events if event["ph"] == "M"} == {
        "process_name",
        "thread_name",
        "thread_sort_index",
    }


def test_spans_of_a_track_nest(events: list[dict[str, Any]]) -> None:
    tracks = {event["tid"] for event in events if event["ph"] == "X"}
    named = {event["tid"] for event in events if event["name"] == "thread_name"}
    assert tracks == named
    for track in tracks:
        spans = sorted(
            ((e["ts"], -e["dur"]) for e in events if e["ph"] == "X" and e["tid"] == track), key=lambda span: span
        )
        open_ends: list[float] = []
        for began, length in spans:
            while open_ends and open_ends[-1] <= began + 1:
                open_ends.pop()
            assert not open_ends or began - length <= open_ends[-1] + 1
            open_ends.append(began - length)


def test_every_block_is_there_with_its_rate(events: list[dict[str, Any]]) -> None:
    measured = [block for block in RECORD.blocks if block.rate]
    spans = [event for event in events if event["ph"] == "X" and event["cat"] == "block"]
    assert len(spans) == len(measured)
    for span, block in zip(spans, measured, strict=True):
        assert span["args"]["samples/s"] == block.rate
        assert span["dur"] == pytest.approx(1e6 * (block.measured or 0), abs=1e3)
    rates = [event["args"]["samples/s"] for event in events if event["ph"] == "C" and event["name"] == "rate"]
    assert rates[::2] == [block.rate for block in measured]
    assert set(rates[1::2]) == {0}
    phases = [event["name"] for event in events if event["ph"] == "X" and event["cat"] == "phase"]
    assert phases[:2] == ["startup", "ceilings"]
