"""One line for each finding."""

from __future__ import annotations

from accel_advisor.output import Screen, concise

from .findings import finding, report


def test_concise() -> None:
    assert concise.render(report(finding("f(a", ")")), Screen()) == (
        "train.py:2:11: ACC102 [*] It waits.\n1 finding (warning) in 1 of 3 files; 1 fixable with --fix.\n"
    )
