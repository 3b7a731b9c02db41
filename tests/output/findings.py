"""Findings that stand in awkward places, for the tests of the formats."""

from __future__ import annotations

from accel_advisor.finding import Applicability, Edit, Finding, Fix, Location, Related, Severity, Span
from accel_advisor.linting.report import Report
from accel_advisor.source.document import Document

SOURCE = "import torch\n\tx = '表'; f(a,\n\t\tb,\n)\n" + "y = 1\n" * 8 + "z = " + "1 + " * 80 + "w\n"


def finding(start: str, end: str, *, severity: Severity = Severity.WARNING, message: str = "It waits.") -> Finding:
    document = Document("train.py", SOURCE)
    first = SOURCE.index(start)
    last = SOURCE.index(end, first) + len(end)
    span = Span(document.location(first), document.location(last))
    related = Related("other.py", Span(Location(0, 4, 2), Location(1, 4, 3)), "the model is moved here")
    edits = (document.edit(last, last, "!"), Edit("other.py", Span(Location(0, 1, 1), Location(0, 1, 1)), "?"))
    fix = Fix("Do it", edits, Applicability.SAFE)
    return Finding("ACC102", "dataloader-num-workers-zero", message, severity, "train.py", span, fix, (related,))


def report(*findings: Finding) -> Report:
    return Report(list(findings), checked=3, sources={"train.py": SOURCE.encode()})
