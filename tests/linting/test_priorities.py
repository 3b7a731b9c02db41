"""What to do first: one thing a rule, in the order of what it costs."""

from __future__ import annotations

from accel_advisor.finding import Confidence, Finding, Frequency, Location, Related, Severity, Span
from accel_advisor.linting.priorities import priorities


def at(row: int) -> Span:
    return Span(Location(row * 10, row, 1), Location(row * 10 + 1, row, 2))


def found(
    code: str,
    severity: Severity = Severity.WARNING,
    frequency: Frequency = Frequency.STEP,
    confidence: Confidence = Confidence.PROVEN,
    *,
    row: int = 1,
    related: int = 0,
) -> Finding:
    others = tuple(Related("train.py", at(50 + one), "so does this one") for one in range(related))
    return Finding(
        code, "rule", "It waits; mend it.", severity, "train.py", at(row), None, others, confidence, frequency
    )


def codes(*findings: Finding) -> list[str]:
    return [one.finding.code for one in priorities(findings)]


class TestPriorities:
    def test_few_findings_need_no_order(self) -> None:
        assert codes(found("ACC101"), found("ACC102")) == []
        assert codes(found("ACC101"), found("ACC102"), found("ACC201")) == ["ACC101", "ACC102", "ACC201"]

    def test_the_tool_s_own_codes_do_not_count(self) -> None:
        assert codes(found("ACC101"), found("ACC102"), found("ACC002")) == []
        assert "ACC002" not in codes(found("ACC002"), *(found("ACC101") for _ in range(3)))

    def test_severity_comes_before_frequency_before_confidence_before_number(self) -> None:
        error = found("ACC207", Severity.ERROR, Frequency.ONCE, Confidence.EVIDENT)
        often = found("ACC101", frequency=Frequency.STEP, confidence=Confidence.EVIDENT)
        sure = found("ACC401", frequency=Frequency.EPOCH)
        many = [found("ACC106", frequency=Frequency.EPOCH, confidence=Confidence.EVIDENT) for _ in range(2)]
        narrow = found("ACC107", frequency=Frequency.EPOCH, confidence=Confidence.EVIDENT)
        assert codes(narrow, *many, sure, often, error) == ["ACC207", "ACC101", "ACC401"]
        assert codes(narrow, *many, sure) == ["ACC401", "ACC106", "ACC107"]

    def test_a_rule_is_one_thing_to_do_and_begins_where_it_costs_most(self) -> None:
        once = found("ACC205", Severity.INFO, Frequency.ONCE, row=1)
        often = found("ACC205", row=7, related=1)
        (only,) = priorities([once, once, often])
        assert only.finding is often
        assert only.count == 3
