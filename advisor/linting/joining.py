"""What is one remark is one finding: advice about what a run pays for only once, what its rule puts together, the waits
of one step, and what several rules say of one call."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import takewhile

from accel_advisor.finding import Applicability, Confidence, Edit, Finding, Fix, Frequency, Related, Severity, Span
from accel_advisor.linting.report import Report
from accel_advisor.selection import TOOL_CODES

_LIKEWISE = ", and likewise in the other places"
_TESTS = re.compile(r"test|eval|infer|demo", re.IGNORECASE)
"""In the name of a folder that holds what no training runs."""
_FEWEST_FILES, _LIKENESS = 5, 0.8
"""Files that two copies have in common at least, and the share that these are of those of the smaller."""
_Kind = tuple[str, str, Severity, str, Confidence, Applicability | None]


def joined(findings: Iterable[Finding]) -> list[Finding]:
    """Findings in their order, with those of one rule that are only ``info`` and about what happens once, or that share
    a group, joined to the first of their file, which has the others as related places; and what is worth less than
    others of its rule joined to the nearest of them, or to the first of its kind.

    This comes last, so that comments, baselines and fixes hold for each place. What is joined is known alike, and has
    a fix that is as safe; the fix of the whole is all of theirs.
    """
    findings = list(findings)
    root = _root(findings)
    weighty = _Near(root, (one for one in findings if not one.aside))
    less: list[Finding] = []
    for one in findings:
        if one.aside and weighty.to(one) is not None:
            less.append(one)
        elif one.aside:
            weighty.add(len(findings), one)  # where none is worth more, the first of them stands for the others
    below = {id(one) for one in less}
    kept: dict[_Kind | int, list[Finding]] = {}
    for at, one in enumerate(findings):
        once = one.severity is Severity.INFO and one.frequency is Frequency.ONCE and one.code not in TOOL_CODES
        if id(one) not in below:
            kept.setdefault(_kind(one) if once or one.group else at, []).append(one)
    whole = [_joined(same) for same in kept.values()]
    shown = _Near(root, whole)
    for one in less:
        at_one = shown.to(one)
        if at_one is not None:
            whole[at_one] = _beside(whole[at_one], one)
    return whole


class _Near:
    """Which of several findings another one, of the same rule, is shown with: the first in its own file, in its folder,
    in the nearest around that, or in one below it."""

    def __init__(self, root: int, findings: Iterable[Finding]) -> None:
        self._root = root
        self._at: dict[tuple[str, ...], int] = {}
        for at, one in enumerate(findings):
            self.add(at, one)

    def add(self, at: int, finding: Finding) -> None:
        """One more of them."""
        code, folders = finding.code, _folders(finding)[self._root :]
        self._at.setdefault((code, "file", finding.filename), at)
        self._at.setdefault((code, "in", *folders), at)
        for count in range(len(folders) + 1):
            self._at.setdefault((code, "below", *folders[:count]), at)

    def to(self, finding: Finding) -> int | None:
        """Where the nearest one stands among them; None where there is none."""
        code, folders = finding.code, _folders(finding)[self._root :]
        asked: list[tuple[str, ...]] = [(code, "file", finding.filename)]
        asked += [(code, "in", *folders[:count]) for count in range(len(folders), -1, -1)]
        asked.append((code, "below", *folders))
        return next((self._at[key] for key in asked if key in self._at), None)


def _root(findings: Iterable[Finding]) -> int:
    """How many folders are around all findings."""
    folders = {_folders(one) for one in findings}
    pairs = zip(min(folders, default=()), max(folders, default=()), strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def _folders(finding: Finding) -> tuple[str, ...]:
    return tuple(os.path.abspath(finding.filename).split(os.sep)[:-1])


def _beside(finding: Finding, less: Finding) -> Finding:
    """A finding with one that is worth less as another place, and with its fix where that is as safe."""
    mine, other = finding.fix, less.fix
    alike = mine is not None and other is not None and mine.applicability is other.applicability
    fix = _fix([mine, other]) if mine is not None and other is not None and alike else mine
    place = _place(less)
    if not finding.aside:
        place = replace(place, message=f"of less consequence: {less.remedy}")
    return replace(finding, fix=fix, related=(*finding.related, place, *less.related))


def _kind(finding: Finding) -> _Kind:
    applicability = finding.fix.applicability if finding.fix else None
    return finding.filename, finding.code, finding.severity, finding.group, finding.confidence, applicability


def _joined(findings: list[Finding]) -> Finding:
    first, *others = findings
    if not others:
        return first
    places = (*first.related, *(place for one in others for place in (_place(one), *one.related)))
    related = tuple(dict.fromkeys(places))
    return replace(first, fix=_fix([one.fix for one in findings if one.fix is not None]), related=related)


def by_step(findings: Iterable[Finding]) -> list[Finding]:
    """Findings in their order, with the waits of one step in a file, whatever rules report them, as places of the one
    that says most of the step: a report has one remark of a step, while an editor marks each place.
    """
    findings = list(findings)
    steps: dict[tuple[str, str], list[Finding]] = {}
    for one in findings:
        if one.wait is not None:
            steps.setdefault((one.filename, one.wait.loop), []).append(one)
    whole = {id(first := max(waits, key=_says)): _of_step(first, waits) for waits in steps.values()}
    return [whole.get(id(one), one) for one in findings if one.wait is None or id(one) in whole]


def once_in_copies(findings: Iterable[Finding], report: Report) -> list[Finding]:
    """Findings in their order, with those in a copy of a whole folder beside it, at the same line of the same file, as
    places of those in the other: of one for testing and one for training, in that for training.
    """
    findings = list(findings)
    copies = _Copies(report.asked)
    often = Counter((one.code, one.message) for one in findings)
    first: dict[tuple[object, ...], tuple[int, str]] = {}
    into: dict[int, list[Finding]] = {}
    told: set[int] = set()
    for at in sorted(range(len(findings)), key=lambda at: bool(_TESTS.search(findings[at].filename))):
        one = findings[at]
        asked = often[one.code, one.message] > 1 and one.code not in TOOL_CODES
        document = report.document(one.filename) if asked else None
        if document is None:
            continue
        said = one.code, one.message, one.confidence, document.line(one.span.start.row).strip()
        parts = os.path.realpath(one.filename).split(os.sep)
        for count in range(1, len(parts) - 1):
            folder, below = os.sep.join(parts[: count + 1]), tuple(parts[count + 1 :])
            known, other = first.setdefault((*said, *parts[:count], below), (at, folder))
            if known not in told and folder != other and copies.are(folder, other):
                told.add(at)
                into.setdefault(known, []).append(one)
                break
    return [_with_copies(one, into.get(at, [])) for at, one in enumerate(findings) if at not in told]


class _Copies:
    """Which folders are copies of each other, by most of the files in them that were asked for: their names, and what
    stands in them but for white space."""

    def __init__(self, paths: Iterable[str]) -> None:
        self._paths = list(paths)
        self._below: dict[str, set[str]] = {}
        self._known: dict[tuple[str, str], bool] = {}

    def are(self, one: str, other: str) -> bool:
        """Whether two folders are."""
        if (one, other) not in self._known:
            mine, theirs = self._in(one), self._in(other)
            both = mine & theirs
            same = len(both) >= _FEWEST_FILES and len(both) >= _LIKENESS * min(len(mine), len(theirs))
            equal = sum(_code(one + name) == _code(other + name) for name in both) if same else 0
            self._known[one, other] = same and 2 * equal > len(both)
        return self._known[one, other]

    def _in(self, folder: str) -> set[str]:
        if folder not in self._below:
            top = folder + os.sep
            self._below[folder] = {path[len(folder) :] for path in self._paths if path.startswith(top)}
        return self._below[folder]


def _code(path: str) -> bytes | None:
    """What stands in a file, without white space."""
    try:
        with open(path, "rb") as file:
            return b"".join(file.read().split())
    except OSError:  # it vanished
        return None


def _with_copies(finding: Finding, others: list[Finding]) -> Finding:
    for one in others:
        place = replace(_place(one), message="the same code in a copy of this folder")
        fixes = [each.fix for each in (finding, one) if each.fix is not None]
        alike = len({each.applicability for each in fixes}) == 1
        fix = _fix(fixes) if alike else finding.fix
        finding = replace(finding, fix=fix, related=(*finding.related, place, *one.related))
    return finding


def _says(finding: Finding) -> tuple[int, int]:
    """How much a wait says of its step."""
    return (finding.wait.pause.rank if finding.wait else -1, finding.severity.rank)


def _of_step(first: Finding, waits: list[Finding]) -> Finding:
    """A wait that has the others of its step as places."""
    others = [one for one in waits if one is not first]
    if not others:
        return first
    more = "one more place" if len(others) == 1 else f"{len(others)} more places"
    message = f"{first.message} (each pass waits in {more}: the host runs ahead once none is left)"
    return replace(_with(first, others, lambda one: one.remedy), message=message)


def by_call(findings: Iterable[Finding]) -> list[Finding]:
    """Findings in their order, with what several rules say of one call, such as that of a loader, as places of the most
    severe of them, and what one rule says of it for several loops said once: a report has one remark of a call.
    """
    findings = list(findings)
    calls: dict[tuple[str, Span], list[Finding]] = {}
    for one in findings:
        if one.code not in TOOL_CODES:
            calls.setdefault((one.filename, one.span), []).append(one)
    whole: dict[int, Finding] = {}
    for alike in calls.values():
        first = max(alike, key=lambda one: one.severity.rank)
        others = [one for one in alike if one is not first]
        whole[id(first)] = _with(first, others, lambda one: one.message) if others else first
    return [whole.get(id(one), one) for one in findings if one.code in TOOL_CODES or id(one) in whole]


def _with(first: Finding, others: list[Finding], said: Callable[[Finding], str]) -> Finding:
    """A finding that has others as places, is as severe as the worst of them, and has their fixes where those are as
    safe as its own, or it has none."""
    related = [*first.related]
    for one in others:
        code = one.code if one.code != first.code else ""
        place = replace(_place(one), message=f"{one.code}: {said(one)}" if code else said(one), code=code)
        here = [] if one.span == first.span and not code else [place]
        related += [*here, *(replace(also, code=also.code or code) for also in one.related)]
    places = tuple(dict.fromkeys(related))
    fixes = [one.fix for one in (first, *others) if one.fix is not None]
    kind = first.fix or max(fixes, key=lambda one: one.applicability.rank, default=None)
    alike = [one for one in _apart(fixes) if kind is not None and one.applicability is kind.applicability]
    severity = max((one.severity for one in (first, *others)), key=lambda one: one.rank)
    return replace(first, severity=severity, fix=_fix(alike), related=places)


def _place(finding: Finding) -> Related:
    return Related(finding.filename, finding.span, finding.remedy)


def _fix(fixes: list[Fix]) -> Fix | None:
    if not fixes:
        return None
    edits = tuple(dict.fromkeys(edit for one in fixes for edit in one.edits))
    titles = list(dict.fromkeys(one.title for one in fixes))
    first = titles[0].removesuffix(_LIKEWISE)
    title = titles[0] if len(titles) == 1 else f"{first}{_LIKEWISE}"
    return replace(fixes[0], title=title, edits=edits)


def _apart(fixes: list[Fix]) -> Iterator[Fix]:
    """Those that change no text which one before them changes otherwise."""
    taken: list[Edit] = []
    for fix in fixes:
        new = [one for one in fix.edits if one not in taken]
        if not any(_meet(one, other) for one in new for other in taken):
            taken += new
            yield fix


def _meet(one: Edit, other: Edit) -> bool:
    """Whether two edits change the same text, or insert at the same place."""
    if one.filename != other.filename:
        return False
    start, end = max(one.span.start, other.span.start), min(one.span.end, other.span.end)
    return start < end or (start == end and (one.span == other.span or one.span.start < start < one.span.end))
