"""Annotations of GitHub Actions."""

from __future__ import annotations

from accel_advisor.finding import Severity
from accel_advisor.linting.report import Report
from accel_advisor.output import Screen

LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}


def render(report: Report, screen: Screen) -> str:
    """One workflow command a finding. GitHub shows only the first ten of a level, so what matters most comes first."""
    lines = []
    for one in sorted(report.findings, key=lambda finding: (-finding.severity.rank, finding.sort_key)):
        (row, column), (end_row, end_column) = one.span.start.in_file, one.span.end.in_file
        properties = {
            "title": f"accel-advisor ({one.code})",
            "file": one.filename,
            "line": row,
            "col": column,
            "endLine": end_row,
            "endColumn": end_column,
        }
        listed = ",".join(f"{key}={_property(str(value))}" for key, value in properties.items())
        text = f"{one.filename}:{one.span.start}: {one.code} {one.message}"
        lines.append(f"::{LEVELS[one.severity]} {listed}::{_data(text)}\n")
    return "".join(lines)


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
