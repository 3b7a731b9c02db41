"""Which findings stand on changed lines, while a text changes."""

from __future__ import annotations

import subprocess
from pathlib import Path

from accel_advisor.finding import Finding, Severity, Span
from accel_advisor.linting.changed_findings import ChangedFindings
from accel_advisor.linting.report import Report
from accel_advisor.project.changed_lines import ChangedLines
from accel_advisor.project.discovery import Found
from accel_advisor.selection import NOT_ANALYSED, UNUSED_SUPPRESSION
from accel_advisor.source.document import Document

OLD = "a\nb\nc\nd\n"


def at(filename: str, text: str, start: str, end: str, code: str = "ACC101") -> Finding:
    document = Document(filename, text)
    span = Span(document.location(text.index(start)), document.location(text.index(end) + len(end)))
    return Finding(code, "n", "It waits.", Severity.INFO, filename, span)


def test_findings_stay_with_their_lines_while_fixes_move_them(tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    path.write_text(OLD)
    for command in (
        ("init", "-q"),
        ("add", "-A"),
        ("-c", "user.name=A", "-c", "user.email=a@b.c", "commit", "-qm", "x"),
    ):
        subprocess.run(["git", *command], cwd=tmp_path, check=True)
    text = OLD.replace("c", "C")
    path.write_text(text)
    name = str(path)
    changes = ChangedFindings(ChangedLines("HEAD"), [Found(name, named=True)])

    def rows(text: str, *findings: Finding) -> list[int]:
        report = Report(list(findings), sources={name: text.encode()})
        return [one.span.start.row for one in changes.only(report).findings]

    assert rows(text, at(name, text, "a", "a"), at(name, text, "b", "C"), at(name, text, "b", "b\n")) == [2]
    fixed = f"import x\n{text.replace('d', 'D')}"
    path.write_text(fixed)
    letters = [at(name, fixed, one, one) for one in "abCD"]
    assert rows(fixed, at(name, fixed, "import", "x"), *letters) == [1, 4, 5]
    about_the_file = at(name, text, "a", "a", NOT_ANALYSED[0])
    assert rows(text, about_the_file, at(name, text, "a", "a", UNUSED_SUPPRESSION[0])) == [1]
