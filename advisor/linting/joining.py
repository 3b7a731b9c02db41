"""What is one remark is one finding: advice about what a run pays for only once, and what its rule puts together."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from accel_advisor.finding import Applicability, Confidence, Finding, Fix, Frequency, Related, Severity
from accel_advisor.selection import TOOL_CODES

_Kind = tuple[str, str, Severity, str, Confidence, Applicability | None]


def joined(findings: Iterable[Finding]) -> list[Finding]:
    """Findings in their order, with those of one rule that are only ``info`` and about what happens once, or that share
    a group, joined to the first of their file, which has the others as related places.

    This comes last, so that comments, baselines and fixes hold for each place. What is joined is known alike, and has
    a fix that is as safe; the fix of the whole is all of theirs.
    """
    kept: dict[_Kind | int, list[Finding]] = {}
    for at, one in enumerate(findings):
        once = one.severity is Severity.INFO and one.frequency is Frequency.ONCE and one.code not in TOOL_CODES
        kept.setdefault(_kind(one) if once or one.group else at, []).append(one)
    return [_joined(same) for same in kept.values()]


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


def _place(finding: Finding) -> Related:
    return Related(finding.filename, finding.span, finding.remedy)


def _fix(fixes: list[Fix]) -> Fix | None:
    if not fixes:
        return None
    edits = tuple(dict.fromkeys(edit for one in fixes for edit in one.edits))
    titles = list(dict.fromkeys(one.title for one in fixes))
    title = titles[0] if len(titles) == 1 else f"{titles[0]}, and likewise in the other places"
    return Fix(title, edits, fixes[0].applicability)
