"""For programs: the shape that Ruff has, with ``severity``, ``name`` and ``related`` besides."""

from __future__ import annotations

import json
from typing import Any

from ..finding import Finding, Location
from ..linter import Report


def render(report: Report) -> str:
    """A list of objects, one a finding."""
    return json.dumps([plain(one) for one in report.findings], indent=2, ensure_ascii=False) + "\n"


def plain(finding: Finding) -> dict[str, Any]:
    """A finding as plain data."""
    fix = finding.fix
    return {
        "code": finding.code,
        "name": finding.name,
        "severity": finding.severity.value,
        "message": finding.message,
        "filename": finding.filename,
        "location": _place(finding.span.start),
        "end_location": _place(finding.span.end),
        "fix": None
        if fix is None
        else {
            "applicability": fix.applicability.value,
            "message": fix.title,
            "edits": [
                {
                    "filename": edit.filename,
                    "content": edit.content,
                    "location": _place(edit.span.start),
                    "end_location": _place(edit.span.end),
                }
                for edit in fix.edits
            ],
        },
        "related": [
            {
                "message": one.message,
                "filename": one.filename,
                "location": _place(one.span.start),
                "end_location": _place(one.span.end),
            }
            for one in finding.related
        ],
        "cell": None,
        "url": None,
    }


def _place(location: Location) -> dict[str, int]:
    return {"row": location.row, "column": location.column}
