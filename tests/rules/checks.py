"""What the tests of rules are made of: a program, and what must be found in it.

check: every rule's findings are those that the program's lines name (``# -> ACC101 warning safe``).
check_named: the findings of the rules that the program's lines name are those, whatever other rules say.
check_one: one rule's findings are those that the program's lines mark (``# -> warning unsafe``).
check_pair: one condition keeps a rule silent about a program, and without it the rule reports something.
check_since: a rule is silent where torch is pinned before a version, and names it where older ones are allowed.
"""

from __future__ import annotations

import re
import textwrap
from dataclasses import dataclass, field
from pathlib import Path

from accel_advisor.analysis.project import analyze
from accel_advisor.editing.fixer import apply_edits
from accel_advisor.finding import Applicability, Finding
from accel_advisor.project.target import Target, Versions
from accel_advisor.rule import registry
from accel_advisor.source.document import Document

_NAMED = re.compile(r"# -> (.*)$")
_MARKED = re.compile(r"# -> ((?:error|warning|info)(?: (?:safe|unsafe|display|none))?)$")


def findings_in(source: str, folder: Path, others: dict[str, str] | None = None) -> tuple[Document, list[Finding]]:
    """Everything that all rules say about a program, which may import other files of the same folder.

    Rules that are off by default run where the program names them.
    """
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


def findings_of(code: str, source: str, folder: Path, others: dict[str, str] | None = None) -> list[Finding]:
    """What one rule says about a program, whether it is on by default or not."""
    _, found = findings_in(f"{textwrap.dedent(source)}\n# {code}\n", folder, others)
    return [one for one in found if one.code == code]


def severities(code: str, source: str, folder: Path, others: dict[str, str] | None = None) -> list[str]:
    """How severe each finding of one rule about a program is."""
    return [str(one.severity) for one in findings_of(code, source, folder, others)]


def check(source: str, folder: Path, others: dict[str, str] | None = None) -> list[Finding]:
    """Asserts that the findings of all rules are those that are marked, and no others.

    Marks are divided by commas; each may end with the class of the fix, or ``none``.
    """
    document, found = findings_in(source, folder, others)
    _compare([(one.span.start.row, one.code, str(one.severity)) for one in found], _named(document.text), found)
    return found


def check_named(source: str, folder: Path, others: dict[str, str] | None = None) -> list[Finding]:
    """Asserts that the findings of those rules that marks name are those that are marked, and that some are.

    Marks are written as for ``check``.
    """
    document, found = findings_in(source, folder, others)
    wanted = _named(document.text)
    assert wanted
    found = [one for one in found if any(mark[1] == one.code for mark in wanted)]
    _compare([(one.span.start.row, one.code, str(one.severity)) for one in found], wanted, found)
    return found


def _named(text: str) -> list[tuple[object, ...]]:
    """The row, code, severity and class of fix of each mark."""
    wanted: list[tuple[object, ...]] = []
    for row, line in enumerate(text.splitlines(), 1):
        marks = _NAMED.search(line)
        wanted += [(row, *mark.split()) for mark in marks[1].split(",")] if marks else []
    return wanted


def check_one(code: str, source: str, folder: Path, others: dict[str, str] | None = None) -> list[Finding]:
    """Asserts that the findings of one rule are those that are marked, and no others."""
    found = findings_of(code, source, folder, others)
    wanted: list[tuple[object, ...]] = []
    for row, line in enumerate(textwrap.dedent(source).splitlines(), 1):
        mark = _MARKED.search(line)
        wanted += [(row, *mark[1].split())] if mark else []
    _compare([(one.span.start.row, str(one.severity)) for one in found], wanted, found)
    return found


def _compare(rows: list[tuple[object, ...]], wanted: list[tuple[object, ...]], found: list[Finding]) -> None:
    """Asserts that the two are the same; the class of a fix counts where it is wanted."""
    got = []
    for row, one in zip(rows, found, strict=True):
        with_fix = (*row, str(one.fix.applicability) if one.fix else "none")
        got.append(with_fix if any(mark[:-1] == row for mark in wanted) else row)
    said = "\n".join(f"{one.span.start.row}: {one.code} {one.message}" for one in found)
    assert sorted(got, key=str) == sorted(wanted, key=str), said


def fixed(code: str, source: str, folder: Path) -> str:
    """The program after the fixes of one rule, which is on by default or named in the program."""
    document, found = findings_in(source, folder)
    edits = [edit for one in found if one.code == code and one.fix for edit in one.fix.edits]
    return apply_edits(document.text, edits)


@dataclass(frozen=True)
class Pair:
    """A program that is silent because of something in it.

    Attributes:
        condition: what keeps the rule silent; it stands in the program, or in another of the files.
        instead: what stands in its place where the rule reports something.
        others: other files of the project, by name.
    """

    source: str
    condition: str
    instead: str = ""
    others: dict[str, str] = field(default_factory=dict)


def check_pair(code: str, pair: Pair, folder: Path) -> None:
    """Asserts that a rule is silent about the program, and reports something where the condition is taken away."""
    files = {"train.py": pair.source, **pair.others}
    without = {name: text.replace(pair.condition, pair.instead) for name, text in files.items()}
    assert without != files
    assert [one.message for one in _findings_in_project(code, files, folder / "with")] == []
    said = f"{code} never reports anything in this program:\n{without['train.py']}"
    assert _findings_in_project(code, without, folder / "without"), said


def _findings_in_project(code: str, files: dict[str, str], folder: Path) -> list[Finding]:
    """What one rule says of ``train.py`` in a run over all files, whether it is on by default or not."""
    folder.mkdir()
    for name, text in files.items():
        (folder / name).write_text(text)
    documents = [Document.read(path) for path in sorted(folder.glob("*.py"))]
    analysis = analyze(documents, folder)
    assert not analysis.failures
    return list(registry()[code].check(analysis.facts[str(folder / "train.py")]))


def check_since(
    code: str,
    source: str,
    since: tuple[int, int],
    folder: Path,
    python: tuple[int, int] | None = None,
    package: str = "torch",
) -> None:
    """Asserts that a rule is silent where a package is pinned before this version, and reports one thing else: where
    the version before is only allowed, it names this one and has no safe fix.

    Args:
        python: the oldest Python that is supported, if that is stated.
    """
    # torch 2.0 follows 1.13
    before = (since[0], since[1] - 1) if since[1] else (since[0] - 1, 13)
    path = folder / "train.py"
    path.write_text(source)
    facts = analyze([Document.read(path)], folder).facts[str(path)]
    oldest = Versions(python) if python else Versions()
    clause = f" ({package} {since[0]}.{since[1]} or later)"
    for stated, said in ((Versions(before, since), False), (Versions(before), True), (Versions(since), True)):
        others = Target(python=oldest, libraries=((package, stated),))
        facts.target = others if package != "torch" else Target(python=oldest, torch=stated)
        found = list(registry()[code].check(facts))
        assert len(found) == said
        for one in found:
            assert one.message.endswith(clause) == (stated.oldest == before)
            assert stated.oldest == since or one.fix is None or one.fix.applicability is not Applicability.SAFE
