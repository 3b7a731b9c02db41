"""Reports of GitLab."""

from __future__ import annotations

import json
from pathlib import Path

from accel_advisor.finding import Finding, Location, Span
from accel_advisor.linting.report import Report
from accel_advisor.output import Screen, gitlab

from .findings import SOURCE, finding, report


def test_gitlab_fingerprints_survive_a_line_that_moves(project: Path) -> None:
    one = finding("f(a", ")")
    before = json.loads(gitlab.render(report(one, one), Screen()))
    start = Location(one.span.start.offset + 2, one.span.start.row + 2, one.span.start.column)
    moved = Finding(one.code, one.name, one.message, one.severity, one.filename, Span(start, start))
    after = json.loads(gitlab.render(Report([moved], 1, sources={"train.py": b"#\n#\n" + SOURCE.encode()}), Screen()))
    assert len({issue["fingerprint"] for issue in before}) == 2
    assert after[0]["fingerprint"] == before[0]["fingerprint"]
    assert before[0]["location"]["positions"]["begin"] == {"line": 2, "column": 11}
