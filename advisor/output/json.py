"""For programs: the shape that Ruff has, with what this tool knows besides."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from accel_advisor.finding import Finding, Location, Span
from accel_advisor.linting.report import Report
from accel_advisor.output import Screen


def render(report: Report, screen: Screen) -> str:
    """A list of objects, one a finding."""
    return json.dumps([plain(one) for one in report.findings], indent=2, ensure_ascii=False) + "\n"


def plain(finding: Finding) -> dict[str, Any]:
    """A finding as plain data."""
    fix = finding.fix
    return {
        "code": finding.code,
        "name": finding.name,
        "severity": finding.severity.value,
        "confidence": finding.confidence.value,
        "frequency": finding.frequency.value,
        "price": asdict(finding.price) if finding.price is not None else None,
        "message": finding.message,
        "filename": finding.filename,
        **_span(finding.span),
        "fix": None
        if fix is None
        else {
            "applicability": fix.applicability.value,
            "message": fix.title,
            "edits": [
                {
                    "filename": edit.filename,
                    "content": edit.content,
                    **_span(edit.span),
                }
                for edit in fix.edits
            ],
        },
        "related": [
            {
                "code": one.code or finding.code,
                "message": one.message,
                "filename": one.filename,
                **_span(one.span),
            }
            for one in finding.related
        ],
        "help": f"accel-advisor rule {finding.code}",
        "url": None,
    }


def _span(span: Span) -> dict[str, Any]:
    """Where something stands; rows count from the start of the cell in a notebook."""
    cell = span.start.cell
    return {
        "cell": cell.number if cell else None,
        "location": _place(span.start),
        "end_location": _place(span.end),
    }


def _place(location: Location) -> dict[str, int]:
    return {"row": location.cell.row if location.cell else location.row, "column": location.column}
