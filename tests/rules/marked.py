"""Programs with the findings that they must have written beside the lines: ``# -> ACC101 warning safe``."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

from accel_advisor.analysis.project import analyze
from accel_advisor.editing.fixer import apply_edits
from accel_advisor.finding import Finding
from accel_advisor.rule import registry
from accel_advisor.source.document import Document

_MARK = re.compile(r"# -> (.*)$")


def findings_in(source: str, folder: Path, others: dict[str, str] | None = None) -> tuple[Document, list[Finding]]:
    """Everything that all rules say about a program, which may import other files of the same folder."""
    path = folder / "train.py"
    path.write_text(textwrap.dedent(source))
    for name, text in (others or {}).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(textwrap.dedent(text))
    document = Document.read(path)
    analysis = analyze([document], folder)
    assert not analysis.failures
    facts = analysis.facts[str(path)]
    found = [
        finding for rule in registry().values() for finding in rule.check(facts) if rule.enabled or rule.code in source
    ]
    return document, sorted(found, key=lambda one: one.sort_key)


def check(source: str, folder: Path, others: dict[str, str] | None = None) -> list[Finding]:
    """Asserts that the findings are those that are marked, and no others; each mark may end with the fix's class."""
    document, found = findings_in(source, folder, others)
    wanted = []
    for row, line in enumerate(document.text.splitlines(), 1):
        marks = _MARK.search(line)
        wanted += [(row, *mark.split()) for mark in marks[1].split(",")] if marks else []
    got = []
    for one in found:
        row = (one.span.start.row, one.code, str(one.severity))
        length = next((len(mark) for mark in wanted if mark[:3] == row), 3)
        fix = (str(one.fix.applicability) if one.fix else "none",)
        got.append(row + fix if length == 4 else row)
    assert sorted(got) == sorted(wanted), "\n".join(f"{one.span.start.row}: {one.code} {one.message}" for one in found)
    return found


def fixed(source: str, folder: Path, code: str) -> str:
    """The program after the fixes of one rule."""
    document, found = findings_in(source, folder)
    edits = [edit for one in found if one.code == code and one.fix for edit in one.fix.edits]
    return apply_edits(document.text, edits)
