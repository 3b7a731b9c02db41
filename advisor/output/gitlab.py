"""GitLab's code quality report."""

from __future__ import annotations

import json
import os

from ..finding import Severity
from ..linter import Report
from .sarif import line_hashes

SEVERITIES = {Severity.ERROR: "major", Severity.WARNING: "minor", Severity.INFO: "info"}


def render(report: Report) -> str:
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
                    "begin": {"line": one.span.start.row, "column": one.span.start.column},
                    "end": {"line": one.span.end.row, "column": one.span.end.column},
                },
            },
        }
        for one, fingerprint in zip(report.findings, line_hashes(report), strict=True)
    ]
    return json.dumps(issues, indent=2, ensure_ascii=False) + "\n"
