"""Results of tests."""

from __future__ import annotations

from xml.etree import ElementTree

from accel_advisor.finding import Severity
from accel_advisor.linting.report import Report
from accel_advisor.output import Screen, junit

from .findings import finding, report


def test_errors_and_warnings_fail_and_info_is_skipped() -> None:
    shown = [finding("f(a", ")"), finding("import", "torch", severity=Severity.INFO)]
    root = ElementTree.fromstring(junit.render(report(*shown), Screen()))
    assert root.attrib == {"name": "accel-advisor", "tests": "2", "failures": "1", "errors": "0"}
    (suite,) = root
    assert suite.attrib == {"name": "train.py", "tests": "2", "failures": "1", "errors": "0", "skipped": "1"}
    warning, info = suite
    assert warning.attrib == {"classname": "train.py", "name": "ACC102 dataloader-num-workers-zero (2:11)"}
    assert [one.tag for case in (warning, info) for one in case] == ["failure", "skipped"]
    assert warning[0].attrib == {"type": "warning", "message": "train.py:2:11: It waits."}
    assert (warning[0].text or "").splitlines() == [
        "train.py:2:11: ACC102 It waits.",
        "other.py:4:2: the model is moved here",
        "fix: Do it (safe)",
    ]


def test_nothing_found_is_a_case_that_passes() -> None:
    root = ElementTree.fromstring(junit.render(Report(checked=3), Screen()))
    assert [list(case) for suite in root for case in suite] == [[]]
    assert root.get("tests") == "1"


def test_characters_that_xml_does_not_have() -> None:
    text = junit.render(report(finding("f(a", ")", message="<&\x00\x1b\udc80>")), Screen())
    assert "<&\N{REPLACEMENT CHARACTER}" in (ElementTree.fromstring(text)[0][0][0].get("message") or "")
