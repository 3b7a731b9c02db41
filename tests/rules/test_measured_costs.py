"""What the pages of rules say that a habit cost: each figure is one of ``benchmarks/results/habits.json``."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from accel_advisor.rule import registry
from accel_advisor.rule_page import rule_page

RESULTS = Path(__file__).parents[2] / "benchmarks" / "results" / "habits.json"
WHY = {code: " ".join(rule_page(rule).sections["Why it costs time"].split()) for code, rule in registry().items()}
MEASURED = sorted(code for code, text in WHY.items() if "docs/costs.md" in text)


@pytest.mark.parametrize("code", MEASURED)
def test_figures_are_recorded(code: str) -> None:
    record = json.loads(RESULTS.read_text(encoding="utf-8"))
    assert [one["name"] for one in record["machine"]["gpus"]] == ["NVIDIA H200"]
    habits = [one for group in record["groups"].values() for one in group["habits"] if one["code"] == code]
    times = re.findall(r"(\d+(?:\.\d+)?) times", WHY[code])
    for figure in times:
        digits = len(figure.partition(".")[2])
        assert figure in {f"{one['ratio']:.{digits}f}" for one in habits}, figure
    for figure in re.findall(r"(\d+(?:\.\d+)?) GiB", WHY[code]):
        assert figure in {f"{one['mebibytes'] / 1024:.1f}" for one in habits if "mebibytes" in one}
    if re.search("as fast .*as without", WHY[code]):
        assert any(one["low"] < 1.01 and one["ratio"] < 1.01 for one in habits)


def test_pages_that_name_a_gpu_name_the_record() -> None:
    assert MEASURED
    assert {code for code, text in WHY.items() if "H200" in text} == set(MEASURED)
