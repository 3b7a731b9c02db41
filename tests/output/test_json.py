"""The JSON of Ruff, with what we add."""

from __future__ import annotations

import json
from dataclasses import replace

from accel_advisor.finding import Confidence, Frequency
from accel_advisor.output import Screen
from accel_advisor.output import json as ruff_json

from .findings import finding, report


def test_json_names_the_file_of_each_edit() -> None:
    (one,) = json.loads(ruff_json.render(report(finding("f(a", ")")), Screen()))
    assert [edit["filename"] for edit in one["fix"]["edits"]] == ["train.py", "other.py"]
    assert one["related"] == [
        {
            "code": one["code"],
            "message": "the model is moved here",
            "filename": "other.py",
            "cell": None,
            "location": {"row": 4, "column": 2},
            "end_location": {"row": 4, "column": 3},
        }
    ]


def test_json_says_how_a_finding_is_known() -> None:
    proven = finding("f(a", ")")
    evident = replace(proven, confidence=Confidence.EVIDENT)
    found = json.loads(ruff_json.render(report(proven, evident), Screen()))
    assert [one["confidence"] for one in found] == ["proven", "evident"]


def test_json_says_how_often_a_run_pays() -> None:
    often = finding("f(a", ")")
    once = replace(often, frequency=Frequency.ONCE)
    found = json.loads(ruff_json.render(report(often, once), Screen()))
    assert [one["frequency"] for one in found] == ["step", "once"]
