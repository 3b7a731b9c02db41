"""GitLab's code quality report."""

from __future__ import annotations

import json
import os

from accel_advisor.finding import Location, Severity
from accel_advisor.linting.report import Report
from accel_advisor.output import Screen
from accel_advisor.output.sarif import line_hashes

SEVERITIES = {Severity.ERROR: "major", Severity.WARNING: "minor", Severity.INFO: "info"}


def render(report: Report, screen: Screen) -> str:
    """A list of issues; a fingerprint is unique in the report and survives a line that moves."""
    issues = [
        {
            "check_name": one.code,
            "description": f"{one.code}: {one.message}",
            "severity": SEVERITIES[one.severity],
            "fingerprint": fingerprint,
            "location": {
                "path": os.path.relpath(one.filename).replace(os.sep, "/"),
                "positions": {
                    "begin": _place(one.span.start),
                    "end": _place(one.span.end),
                },
            },
        }
        for one, fingerprint in zip(report.findings, line_hashes(report), strict=True)
    ]
    return json.dumps(issues, indent=2, ensure_ascii=False) + "\n"


def _place(location: Location) -> dict[str, int]:
    row, column = location.in_file
    return {"line": row, "column": column}
