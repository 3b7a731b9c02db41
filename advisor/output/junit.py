"""JUnit XML, as Jenkins, GitLab, Azure Pipelines and others read the results of tests."""

from __future__ import annotations

from itertools import groupby
from xml.etree import ElementTree

from accel_advisor.finding import Finding, Severity
from accel_advisor.linting.report import Report
from accel_advisor.output import Screen
from accel_advisor.output.text import printable

SUITE = "accel-advisor"


def render(report: Report, screen: Screen) -> str:
    """A suite for each file that has findings, and in it a case for each of them: an error or a warning fails, what is
    only ``info`` is skipped. Without any finding there is one case that passes."""
    findings = report.findings
    failed = sum(map(_fails, findings))
    root = ElementTree.Element(
        "testsuites", name=SUITE, tests=str(len(findings) or 1), failures=str(failed), errors="0"
    )
    if not findings:
        ElementTree.SubElement(_suite(root, SUITE, [], 1), "testcase", classname=SUITE, name="nothing found")
    for filename, group in groupby(findings, lambda one: one.filename):
        listed = list(group)
        suite = _suite(root, printable(filename), listed, len(listed))
        for one in listed:
            _case(suite, one)
    ElementTree.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ElementTree.tostring(root, encoding="unicode")}\n'


def _suite(root: ElementTree.Element, name: str, findings: list[Finding], tests: int) -> ElementTree.Element:
    failed = sum(map(_fails, findings))
    counts = {"tests": tests, "failures": failed, "errors": 0, "skipped": len(findings) - failed}
    return ElementTree.SubElement(root, "testsuite", {"name": name, **{key: str(one) for key, one in counts.items()}})


def _case(suite: ElementTree.Element, finding: Finding) -> None:
    filename, message = printable(finding.filename), printable(finding.message)
    place = f"{filename}:{finding.span.start}"
    case = ElementTree.SubElement(
        suite, "testcase", classname=filename, name=f"{finding.code} {finding.name} ({finding.span.start})"
    )
    outcome = ElementTree.SubElement(
        case, "failure" if _fails(finding) else "skipped", type=finding.severity.value, message=f"{place}: {message}"
    )
    related = [f"{printable(one.filename)}:{one.span.start}: {printable(one.message)}" for one in finding.related]
    remedy = [f"fix: {printable(finding.fix.title)} ({finding.fix.applicability})"] if finding.fix else []
    outcome.text = "\n".join([f"{place}: {finding.code} {message}", *related, *remedy])


def _fails(finding: Finding) -> bool:
    return finding.severity is not Severity.INFO
