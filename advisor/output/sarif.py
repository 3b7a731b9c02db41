"""SARIF 2.1.0, as code scanning services read it."""

from __future__ import annotations

import hashlib
import json
import os
from collections import Counter
from pathlib import Path
from typing import Any
from urllib.parse import quote

from accel_advisor import __version__
from accel_advisor.finding import Edit, Finding, Severity, Span
from accel_advisor.linting.report import Report
from accel_advisor.output import Screen
from accel_advisor.rule import registry
from accel_advisor.rule_page import RulePageError, rule_page
from accel_advisor.source.document import is_notebook

LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}
SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def render(report: Report, screen: Screen) -> str:
    """One run with its results, and the help texts of the rules that reported something."""
    codes = sorted({(one.code, one.name) for one in report.findings})
    indices = {code: index for index, (code, _) in enumerate(codes)}
    hashes = line_hashes(report)
    document = {
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "accel-advisor",
                        "semanticVersion": __version__,
                        "rules": [_rule(code, name) for code, name in codes],
                    }
                },
                "columnKind": "unicodeCodePoints",
                "results": [
                    _result(one, indices[one.code], line_hash)
                    for one, line_hash in zip(report.findings, hashes, strict=True)
                ],
            }
        ],
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _rule(code: str, name: str) -> dict[str, Any]:
    plain: dict[str, Any] = {"id": code, "name": name}
    rule = registry().get(code)
    try:
        page = rule_page(rule) if rule is not None else None
    except RulePageError:  # a rule of another package that is documented in a form of its own
        page = None
    if rule is None or page is None:
        return plain
    plain["shortDescription"] = {"text": page.summary}
    plain["fullDescription"] = {"text": page.sections["What it does"]}
    plain["help"] = {"text": page.markdown(), "markdown": page.markdown()}
    plain["defaultConfiguration"] = {"level": LEVELS[rule.severity]}
    if page.url:
        plain["helpUri"] = page.url
    return plain


def _result(finding: Finding, index: int, line_hash: str) -> dict[str, Any]:
    result: dict[str, Any] = {
        "ruleId": finding.code,
        "ruleIndex": index,
        "level": LEVELS[finding.severity],
        "message": {"text": finding.message},
        "locations": [_location(finding.filename, finding.span)],
        "partialFingerprints": {"primaryLocationLineHash": line_hash},
        "properties": {"confidence": finding.confidence.value, "frequency": finding.frequency.value},
    }
    if finding.related:
        result["relatedLocations"] = [
            {"id": number, "message": {"text": one.message}, **_location(one.filename, one.span)}
            for number, one in enumerate(finding.related)
        ]
    if finding.fix is not None and not any(is_notebook(edit.filename) for edit in finding.fix.edits):
        # what replaces a stretch of a notebook's JSON is not the code that an edit says
        by_file: dict[str, list[Edit]] = {}
        for edit in finding.fix.edits:
            by_file.setdefault(edit.filename, []).append(edit)
        result["fixes"] = [
            {
                "description": {"text": finding.fix.title},
                "artifactChanges": [
                    {
                        "artifactLocation": {"uri": _uri(filename)},
                        "replacements": [
                            {"deletedRegion": _region(edit.span), "insertedContent": {"text": edit.content}}
                            for edit in edits
                        ],
                    }
                    for filename, edits in by_file.items()
                ],
            }
        ]
    return result


def _location(filename: str, span: Span) -> dict[str, Any]:
    return {"physicalLocation": {"artifactLocation": {"uri": _uri(filename)}, "region": _region(span)}}


def _region(span: Span) -> dict[str, int]:
    (row, column), (end_row, end_column) = span.start.in_file, span.end.in_file
    return {"startLine": row, "startColumn": column, "endLine": end_row, "endColumn": end_column}


def _uri(filename: str) -> str:
    relative = os.path.relpath(filename)
    if relative.startswith(os.pardir):
        return Path(os.path.abspath(filename)).as_uri()
    return quote(os.fsencode(relative.replace(os.sep, "/")))


def line_hashes(report: Report) -> list[str]:
    """A hash of each finding's code and line that stays when the line moves, and a number where it stands again."""
    seen: Counter[str] = Counter()
    hashes = []
    for finding in report.findings:
        document = report.document(finding.filename)
        line = document.line(finding.span.start.row).strip() if document is not None else ""
        digest = hashlib.sha256(f"{finding.code}\0{finding.filename}\0{line}".encode(errors="replace")).hexdigest()[:16]
        seen[digest] += 1
        hashes.append(f"{digest}:{seen[digest]}")
    return hashes
