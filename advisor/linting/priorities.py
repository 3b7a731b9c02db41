"""What to do first about the findings of a run."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from accel_advisor.finding import Finding
from accel_advisor.selection import TOOL_CODES

MOST = 3
WORTH_RANKING = 3
"""Fewer findings are seen at a glance."""


@dataclass(frozen=True, slots=True)
class Priority:
    """One thing to do: what a rule found in a run.

    Attributes:
        finding: where to begin.
        count: how many findings there are, that one among them.
    """

    finding: Finding
    count: int


def priorities(findings: Iterable[Finding]) -> list[Priority]:
    """The things to do first, in their order: by severity, by how often a run pays for it, by how sure it is, and by
    how many findings there are. None where there are only a few."""
    by_rule: dict[str, list[Finding]] = {}
    for one in findings:
        if one.code not in TOOL_CODES:
            by_rule.setdefault(one.code, []).append(one)
    if sum(map(len, by_rule.values())) < WORTH_RANKING:
        return []
    found = [Priority(max(same, key=_weight), len(same)) for same in by_rule.values()]
    found.sort(key=lambda one: (*_weight(one.finding)[:-1], one.count), reverse=True)
    return found[:MOST]


def _weight(finding: Finding) -> tuple[int, int, int, int]:
    return finding.severity.rank, finding.frequency.rank, finding.confidence.rank, len(finding.related)
