"""Annotations of GitHub."""

from __future__ import annotations

from accel_advisor.finding import Severity
from accel_advisor.output import Screen, github

from .findings import finding, report


def test_github_escapes_and_puts_first_what_matters() -> None:
    minor = finding("f(a", ")", severity=Severity.INFO)
    major = finding("import", "torch", severity=Severity.ERROR, message="100 %\nbad")
    assert github.render(report(minor, major), Screen()) == (
        "::error title=accel-advisor (ACC102),file=train.py,line=1,col=1,endLine=1,endColumn=13"
        "::train.py:1:1: ACC102 100 %25%0Abad\n"
        "::notice title=accel-advisor (ACC102),file=train.py,line=2,col=11,endLine=4,endColumn=2"
        "::train.py:2:11: ACC102 It waits.\n"
    )
