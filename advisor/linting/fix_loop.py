"""Lint, fix, lint again, until nothing is left to fix: the text that comes out, before anything is written."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from accel_advisor.editing.fixer import EditConflictError, edited_python, edits_by_file, plan
from accel_advisor.editing.unused_imports import imports_left_over
from accel_advisor.finding import Applicability, Edit, Finding, Severity
from accel_advisor.linting.checker import Checker
from accel_advisor.linting.report import Report
from accel_advisor.selection import INTERNAL_ERROR
from accel_advisor.source.document import Document
from accel_advisor.source.parsing import DocumentError
from accel_advisor.source.shown_path import shown_path

MOST_PASSES = 10


@dataclass(slots=True)
class FixOutcome:
    """What fixing came to.

    Attributes:
        report: what is left, as a report on the new texts.
        fixed: the findings whose fixes were made.
        before: the documents that change, as they are on disk.
        read: their bytes, as they were linted.
        after: their new bytes.
        unsaved: bytes by absolute path that stand instead of what is on disk.
    """

    report: Report
    fixed: list[Finding] = field(default_factory=list)
    before: dict[str, Document] = field(default_factory=dict)
    read: dict[str, bytes] = field(default_factory=dict)
    after: dict[str, bytes] = field(default_factory=dict)
    unsaved: dict[str, bytes] = field(default_factory=dict)

    def document_after(self, filename: str) -> Document:
        """A document that changes, with its new text."""
        return Document.from_bytes(filename, self.after[filename])


def fix(
    report: Report,
    allow: Collection[Applicability],
    shown: Callable[[Report], list[Finding]] = lambda report: report.findings,
    unsaved: Mapping[str, bytes] | None = None,
) -> FixOutcome:
    """Makes the fixes of a report, and those that they make possible, in memory.

    A fix after which a file would no longer parse is not made; it is reported as an error of its rule.

    Args:
        report: of the files as they are on disk, but for those that are not saved.
        allow: which fixes may be made.
        shown: which findings of a report are to be fixed.
        unsaved: bytes by filename that stood instead of what is on disk.
    """
    outcome = FixOutcome(report, unsaved={os.path.realpath(name): raw for name, raw in (unsaved or {}).items()})
    checker = Checker()
    errors: list[Finding] = []
    broken: set[tuple[str, str, str]] = set()
    for _ in range(MOST_PASSES):
        wanted = [one for one in shown(outcome.report) if _identity(one) not in broken]
        chosen, _ = plan(wanted, allow)
        if not chosen:
            break
        made, failed = _make(outcome, _without_crowds(outcome, chosen))
        for finding, sentence in failed:
            broken.add(_identity(finding))
            errors.append(_failure(finding, sentence))
        if made:
            outcome.fixed += made
            outcome.report = _again(outcome, checker, {one for finding in made for one in edits_by_file([finding])})
    else:
        left, _ = plan([one for one in shown(outcome.report) if _identity(one) not in broken], allow)
        errors += [_failure(one, f"is not done after {MOST_PASSES} passes") for one in left]
    outcome.report.findings = sorted([*outcome.report.findings, *errors], key=lambda one: one.sort_key)
    return outcome


def _without_crowds(outcome: FixOutcome, chosen: Sequence[Finding]) -> list[Finding]:
    """Fixes without those that insert at a place where another one does, and where both do not fit the line: these find
    it broken in the next pass, and are laid out anew."""
    documents: dict[str, Document] = {}
    there: dict[tuple[str, int], list[Edit]] = {}
    kept: list[Finding] = []
    for finding in chosen:
        insertions = [one for one in finding.fix.edits if one.span.start == one.span.end] if finding.fix else []
        places = {(one.filename, one.span.start.offset) for one in insertions}
        beside = {place: [one for one in there.get(place, ()) if one not in insertions] for place in places}
        mine = {
            place: [one for one in insertions if (one.filename, one.span.start.offset) == place] for place in places
        }
        if any(beside[one] and _are_too_long(outcome, documents, [*beside[one], *mine[one]]) for one in places):
            continue
        kept.append(finding)
        for place in places:
            there.setdefault(place, []).extend(mine[place])
    return kept


def _are_too_long(outcome: FixOutcome, documents: dict[str, Document], insertions: Sequence[Edit]) -> bool:
    """Whether insertions at one place break its line, or would make it longer than the lines of its file are."""
    added = [one.content for one in dict.fromkeys(insertions)]
    if any("\n" in one or "\r" in one for one in added):
        return True
    first = insertions[0]
    if first.filename not in documents:
        documents[first.filename] = Document.from_bytes(first.filename, _bytes(outcome, first.filename))
    document = documents[first.filename]
    return len(document.line(first.span.start.row)) + sum(map(len, added)) > document.width


def _make(outcome: FixOutcome, chosen: Sequence[Finding]) -> tuple[list[Finding], list[tuple[Finding, str]]]:
    """Makes fixes together or, where the result does not parse, those that do one by one."""
    try:
        changed = _changed(outcome, chosen)
    except (EditConflictError, DocumentError, UnicodeEncodeError) as error:
        if len(chosen) == 1:
            return [], [(chosen[0], str(error))]
        made: list[Finding] = []
        failed: list[tuple[Finding, str]] = []
        for finding in chosen:
            try:
                _changed(outcome, [finding])
            except (EditConflictError, DocumentError, UnicodeEncodeError) as alone:
                failed.append((finding, str(alone)))
            else:
                made.append(finding)
        if not failed:  # each is right and all together are not: one at a time then
            made = made[:1]
        again, worse = _make(outcome, made) if made else ([], [])
        return again, failed + worse
    for filename, (document, old, new) in changed.items():
        outcome.before.setdefault(filename, document)
        outcome.read.setdefault(filename, old)
        outcome.after[filename] = new
    return list(chosen), []


def _changed(outcome: FixOutcome, findings: Iterable[Finding]) -> dict[str, tuple[Document, bytes, bytes]]:
    """The documents that fixes change, each with its old bytes and its new ones.

    Raises:
        EditConflictError: edits overlap or lie outside the text.
        DocumentError: a file cannot be read, or would no longer parse.
        UnicodeEncodeError: new text does not fit the file's encoding.
    """
    changed: dict[str, tuple[Document, bytes, bytes]] = {}
    for filename, edits in edits_by_file(findings).items():
        try:
            old = _bytes(outcome, filename)
        except OSError as unread:
            raise DocumentError(f"changes {filename}, which cannot be read: {unread.strerror or unread}") from unread
        document = Document.from_bytes(filename, old)
        more = imports_left_over(document, edits, partial(_other_texts, outcome, filename))
        new, _ = edited_python(document, [*edits, *more])
        changed[filename] = (document, old, new)
    return changed


def _other_texts(outcome: FixOutcome, filename: str) -> Iterator[str]:
    """The texts of the other files of the programs that a file belongs to, as far as they can be read."""
    own = os.path.realpath(filename)
    for program in outcome.report.programs:
        others = [name for name in program.filenames if os.path.realpath(name) != own]
        for name in others if len(others) < len(program.filenames) else ():
            with suppress(OSError):
                yield _bytes(outcome, outcome.report.asked.get(os.path.realpath(name), name)).decode(errors="replace")


def _again(outcome: FixOutcome, checker: Checker, changed: Collection[str]) -> Report:
    """The report on the new texts: the programs in which a file changed are checked again."""
    old = outcome.report
    report = Report(checked=old.checked, left_out=old.left_out, asked=old.asked, notes=old.notes, failures=old.failures)
    after = {**outcome.unsaved, **{os.path.realpath(name): raw for name, raw in outcome.after.items()}}
    paths = {os.path.realpath(name) for name in changed}
    again: set[str] = set()
    for program in old.programs:
        members = [os.path.realpath(name) for name in program.filenames]
        consulted = {os.path.realpath(name) for name in program.consulted}
        if paths.isdisjoint(members) and paths.isdisjoint(consulted):
            report.programs.append(program)
            continue
        contents: dict[str, bytes] = {}
        for name, path in zip(program.filenames, members, strict=True):
            shown = old.asked.get(path, name)
            with suppress(OSError):  # it vanished, so that nothing can be said about it
                contents[name] = report.sources[shown] = _bytes(outcome, shown)
            again.add(shown)
        sources = {shown_path(path): raw for path, raw in after.items()}
        result = checker.check(program, contents, sources)
        found = replace(result.program, consulted=result.program.consulted | consulted)
        report.take(replace(result, program=found))
    report.findings += [one for one in old.findings if one.filename not in again]
    report.findings.sort(key=lambda one: one.sort_key)
    report.sources.update({name: raw for name, raw in old.sources.items() if name not in again})
    return report


def _bytes(outcome: FixOutcome, filename: str) -> bytes:
    raw = outcome.after.get(filename, outcome.report.sources.get(filename))
    raw = raw if raw is not None else outcome.unsaved.get(os.path.realpath(filename))
    return raw if raw is not None else Path(filename).read_bytes()


def _identity(finding: Finding) -> tuple[str, str, str]:
    fix = finding.fix
    edits = "" if fix is None else repr([(one.filename, one.content) for one in fix.edits])
    return finding.code, finding.filename, edits


def _failure(finding: Finding, sentence: str) -> Finding:
    return Finding(
        code=INTERNAL_ERROR[0],
        name=INTERNAL_ERROR[1],
        message=(
            f"Internal error: the fix of rule {finding.code} ({finding.name}) {sentence}, so it was not made; "
            "please report it."
        ),
        severity=Severity.ERROR,
        filename=finding.filename,
        span=finding.span,
    )
