"""How often each rule reports something."""

from __future__ import annotations

import pytest

from accel_advisor.commands import rule_counts
from accel_advisor.linting.report import Report


@pytest.mark.parametrize("as_json", [False, True])
def test_statistics_of_nothing(as_json: bool) -> None:
    assert rule_counts.render(Report(), as_json=as_json).strip() in ("", "[]")
