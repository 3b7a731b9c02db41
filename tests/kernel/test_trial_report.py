"""What ``%accel tune`` asks for next: the line that was typed, which names the notebook where the kernel cannot."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from accel_advisor.kernel.trial_report import TrialReport
from accel_advisor.tuning.record.record_file import read_record
from accel_advisor.tuning.record.schema import Record

RECORD = Path(__file__).parents[2] / "docs" / "recorded" / "trial.json"


@pytest.fixture(scope="module")
def applied() -> Record:
    return read_record(RECORD)


def test_what_is_applied_and_verified_asks_for_nothing(applied: Record) -> None:
    assert "to write this" not in TrialReport(applied, "%accel tune train.ipynb --apply")._repr_html_()


@pytest.mark.parametrize("asked", ["%accel tune", "%accel tune train.ipynb", "%accel tune train.ipynb --budget 90"])
def test_what_is_not_applied_is_asked_for_by_the_line_that_was_typed(applied: Record, asked: str) -> None:
    shown = TrialReport(replace(applied, verification=None, applied=False), asked)._repr_html_()
    assert f"Run <code>{asked} --apply</code> to write this and verify it." in shown
