"""Formats, on findings that stand in awkward places."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from accel_advisor.finding import Applicability, Edit, Finding, Fix, Location, Related, Severity, Span
from accel_advisor.lint.report import Report
from accel_advisor.output import concise, github, gitlab, rule_counts, sarif, text
from accel_advisor.output import json as ruff_json
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


class TestText:
    def test_nothing(self) -> None:
        assert text.render(Report(checked=1)) == "1 file checked, nothing found.\n"
        assert text.render(Report(checked=1234), fixed=2) == "Fixed 2 findings. 1,234 files checked, nothing left.\n"

    def test_tabs_wide_characters_and_several_lines(self) -> None:
        assert text.render(report(finding("f(a", ")"))) == (
            "train.py:2:11: ACC102 dataloader-num-workers-zero (warning)\n"
            "  It waits.\n"
            "    |\n"
            "  2 |     x = '表'; f(a,\n"
            "    |               ^^^^\n"
            "  3 |         b,\n"
            "    |         ^^\n"
            "  4 | )\n"
            "    | ^\n"
            "    = other.py:4:2: the model is moved here\n"
            "    = fix: Do it (safe, --fix makes it)\n"
            "\n"
            "1 finding (warning) in 1 of 3 files; 1 fixable with --fix.\n"
        )

    def test_the_middle_of_a_long_span_is_left_out(self) -> None:
        shown = text.render(report(finding("import", "z = ")))
        assert "   4 | )\n" in shown
        assert "     | ...\n  13 | z = " in shown
        assert "y = 1" not in shown

    def test_a_long_line_is_cut_around_the_place(self) -> None:
        shown = text.render(report(finding("w\n", "w"))).splitlines()
        line = next(one for one in shown if one.startswith("  13 |"))
        caret = next(one for one in shown if one.endswith("^"))
        assert len(line) < 170
        assert line[caret.index("^")] == "w"

    def test_an_empty_span_and_one_past_the_end(self) -> None:
        place = Location(len(SOURCE), 14, 1)
        one = Finding("ACC001", "syntax-error", "Odd.", Severity.ERROR, "train.py", Span(place, place))
        assert "  Odd.\n" in text.render(report(one))
        place = Location(0, 99, 1)
        far = Finding("ACC001", "syntax-error", "Far.", Severity.ERROR, "train.py", Span(place, place))
        assert "  Far.\n" in text.render(report(far))

    def test_messages_are_wrapped_where_a_width_is_known(self) -> None:
        shown = text.render(report(finding("f(a", ")", message="one `two-three` " * 9)), width=40).splitlines()
        assert shown[1:5] == ["  one `two-three` one `two-three` one"] + ["  `two-three` one `two-three` one"] * 3

    def test_nothing_steers_the_terminal(self) -> None:
        evil = Document("train.py", "x = 1  # \x1b[2J\x07\n")
        one = Finding(
            "ACC102", "n", "It \x1b[31m waits.", Severity.INFO, "train.py", Span(evil.location(0), evil.location(1))
        )
        shown = text.render(Report([one], 1, {"train.py": evil.text.encode()}))
        assert "\x1b" not in shown
        assert "\x07" not in shown

    def test_the_summary_counts(self) -> None:
        findings = [finding("f(a", ")", severity=one) for one in (Severity.INFO, Severity.ERROR, Severity.ERROR)]
        assert text.summary(report(*findings), fixed=1) == (
            "Fixed 1 finding. 3 findings (2 errors, 1 info) in 1 of 3 files; 3 fixable with --fix."
        )


def test_concise() -> None:
    assert concise.render(report(finding("f(a", ")"))) == (
        "train.py:2:11: ACC102 [*] It waits.\n1 finding (warning) in 1 of 3 files; 1 fixable with --fix.\n"
    )


def test_json_names_the_file_of_each_edit() -> None:
    (one,) = json.loads(ruff_json.render(report(finding("f(a", ")"))))
    assert [edit["filename"] for edit in one["fix"]["edits"]] == ["train.py", "other.py"]
    assert one["related"] == [
        {
            "message": "the model is moved here",
            "filename": "other.py",
            "cell": None,
            "location": {"row": 4, "column": 2},
            "end_location": {"row": 4, "column": 3},
        }
    ]


def test_github_escapes_and_puts_first_what_matters() -> None:
    minor = finding("f(a", ")", severity=Severity.INFO)
    major = finding("import", "torch", severity=Severity.ERROR, message="100 %\nbad")
    assert github.render(report(minor, major)) == (
        "::error title=accel-advisor (ACC102),file=train.py,line=1,col=1,endLine=1,endColumn=13"
        "::train.py:1:1: ACC102 100 %25%0Abad\n"
        "::notice title=accel-advisor (ACC102),file=train.py,line=2,col=11,endLine=4,endColumn=2"
        "::train.py:2:11: ACC102 It waits.\n"
    )


def test_sarif(project: Path) -> None:
    data = json.loads(sarif.render(report(finding("f(a", ")"), finding("import", "torch"))))
    (run,) = data["runs"]
    (rule,) = run["tool"]["driver"]["rules"]
    assert rule["id"] == "ACC102"
    assert "## Use instead" in rule["help"]["markdown"]
    first, second = run["results"]
    place = first["locations"][0]["physicalLocation"]
    assert place["artifactLocation"] == {"uri": "train.py"}
    assert place["region"] == {"startLine": 2, "startColumn": 11, "endLine": 4, "endColumn": 2}
    assert [one["artifactLocation"]["uri"] for one in first["fixes"][0]["artifactChanges"]] == ["train.py", "other.py"]
    assert first["partialFingerprints"] != second["partialFingerprints"]
    assert run["columnKind"] == "unicodeCodePoints"


def test_gitlab_fingerprints_survive_a_line_that_moves(project: Path) -> None:
    one = finding("f(a", ")")
    before = json.loads(gitlab.render(report(one, one)))
    start = Location(one.span.start.offset + 2, one.span.start.row + 2, one.span.start.column)
    moved = Finding(one.code, one.name, one.message, one.severity, one.filename, Span(start, start))
    after = json.loads(gitlab.render(Report([moved], 1, {"train.py": b"#\n#\n" + SOURCE.encode()})))
    assert len({issue["fingerprint"] for issue in before}) == 2
    assert after[0]["fingerprint"] == before[0]["fingerprint"]
    assert before[0]["location"]["positions"]["begin"] == {"line": 2, "column": 11}


@pytest.mark.parametrize("as_json", [False, True])
def test_statistics_of_nothing(as_json: bool) -> None:
    assert rule_counts.render(Report(), as_json=as_json).strip() in ("", "[]")
