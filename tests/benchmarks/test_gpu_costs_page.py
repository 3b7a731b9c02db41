"""docs/costs.md says what was recorded on a GPU."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from accel_advisor.rule import registry
from benchmarks.gpu.costs_page import PAGE, RESULTS, page
from benchmarks.gpu.habits import table


def test_the_page_has_the_tables_of_the_records() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert page(text) == text, "run `python -m benchmarks.gpu.costs_page`"


def test_a_cost_whose_interval_reaches_one_is_not_said() -> None:
    record = json.loads((RESULTS / "habits.json").read_text())
    group = record["groups"]["waits, 5 ms"]
    told = group["habits"][0] | {"low": 1.02, "high": 1.05, "ratio": 1.03, "microseconds": 150.0}
    quiet = told | {"low": 0.99}
    (seen,) = [line for line in table(_only(record, told)).splitlines() if line.startswith("| ACC")]
    assert "| 150 µs | 1.03 (1.02 to 1.05) |" in seen
    (unseen,) = [line for line in table(_only(record, quiet)).splitlines() if line.startswith("| ACC")]
    assert "| nothing seen | 1.03 (0.99 to 1.05) |" in unseen


def _only(record: dict[str, object], habit: dict[str, object]) -> dict[str, object]:
    return record | {"groups": {"one": {"about": "a step", "habits": [habit]}}}


def test_each_habit_is_one_of_a_rule() -> None:
    known = set(registry())
    named = set(re.findall(r"^\| (ACC\d+) \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE))
    assert named
    assert named <= known
