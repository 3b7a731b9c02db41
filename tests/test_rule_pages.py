"""Every rule's page is true: its Example triggers it and nothing else, its Use instead is what its fix makes of it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from accel_advisor.configurations import Configurations
from accel_advisor.finding import Applicability, Finding, Severity
from accel_advisor.linting.fix_loop import fix
from accel_advisor.linting.linter import lint
from accel_advisor.linting.report import Report
from accel_advisor.project.discovery import Found
from accel_advisor.records.facts import Facts
from accel_advisor.rule import Rule, registry
from accel_advisor.rule_page import HEADINGS, RulePageError, rule_page
from accel_advisor.selection import Selection, selectors

BROKEN = registry().failures
RULES = [pytest.param(rule, id=code) for code, rule in registry().items()]
EVERYTHING = frozenset(Applicability)


def linted(project: Path, text: str, rule: Rule) -> Report:
    (project / "example.py").write_text(text, encoding="utf-8")
    alone = Selection(None, selectors([rule.code], "test"))
    configurations = Configurations(lambda config: replace(config, selection=alone))
    return lint([Found("example.py", named=True)], configurations)


def listed(findings: list[Finding]) -> list[str]:
    return [f"{one.span.start.row}: {one.code} {one.message}" for one in findings]


@pytest.mark.parametrize("rule", RULES)
class TestEveryRule:
    def test_its_example_triggers_it_and_nothing_else(self, rule: Rule, project: Path) -> None:
        report = linted(project, rule_page(rule).example, rule)
        assert {one.code for one in report.findings} == {rule.code}, listed(report.findings)

    def test_its_remedy_has_no_finding(self, rule: Rule, project: Path) -> None:
        report = linted(project, rule_page(rule).use_instead, rule)
        assert listed(report.findings) == []

    def test_its_fix_makes_the_remedy_of_the_example(self, rule: Rule, project: Path) -> None:
        page = rule_page(rule)
        report = linted(project, page.example, rule)
        fixes = [one for one in report.findings if one.fix and one.fix.applicability is not Applicability.DISPLAY]
        assert bool(fixes) == page.has_fix, "a rule explains its fix exactly where it has one"
        if fixes:
            outcome = fix(report, EVERYTHING)
            assert outcome.document_after("example.py").text == page.use_instead
            assert listed(outcome.report.findings) == []

    def test_its_snippets_are_python(self, rule: Rule) -> None:
        page = rule_page(rule)
        ast.parse(page.example)
        ast.parse(page.use_instead)

    def test_its_code_and_name_have_their_form(self, rule: Rule) -> None:
        assert re.fullmatch(r"ACC[1-6]\d\d", rule.code)
        assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)+", rule.name)
        assert len(rule_page(rule).summary) <= 120

    def test_it_stands_in_a_file_of_its_own(self, rule: Rule) -> None:
        module = type(rule).__module__
        assert [other.code for other in registry().values() if type(other).__module__ == module] == [rule.code]


GOOD = """A thing is slow.

    What it does
        Finds it.

    Why it costs time
        It waits.

    Example
        for x in y:
            pass

    Use instead
        pass

    When to ignore it
        Never.

    References
        - Docs: https://example.org/page.
    """


def page_of(docstring: str | None) -> Rule:
    class Sample(Rule):
        code, name, severity = "ACC199", "sample-rule", Severity.INFO
        __doc__ = docstring

        def check(self, facts: Facts) -> Iterator[Finding]:
            yield from ()

    return Sample()


class TestForm:
    def test_a_good_page(self) -> None:
        page = rule_page(page_of(GOOD))
        assert page.summary == "A thing is slow."
        assert page.example == "for x in y:\n    pass\n"
        assert page.url == "https://example.org/page"
        assert not page.has_fix
        assert "## Example\n\n```python\nfor x in y:\n    pass\n```\n" in page.markdown()

    @pytest.mark.parametrize(
        ("docstring", "sentence"),
        [
            (None, "has no docstring"),
            (GOOD.replace("    Use instead\n        pass\n", ""), "the heading 'Use instead' is missing"),
            (GOOD.replace("        Never.\n", ""), "nothing stands under 'When to ignore it'"),
            (GOOD.replace("        It waits.", "    It waits."), "'It waits.' is neither a heading nor indented"),
            (GOOD.replace("References", "What it does"), "the heading 'What it does' stands twice"),
            (GOOD.replace("A thing is slow.\n", "\n"), "the first line is empty"),
            (
                GOOD.replace("What it does", "?")
                .replace("Why it costs time", "What it does")
                .replace("?", HEADINGS[1]),
                "the headings must stand in this order",
            ),
        ],
    )
    def test_a_page_without_the_form(self, docstring: str | None, sentence: str) -> None:
        with pytest.raises(RulePageError, match=re.escape(sentence)):
            rule_page(page_of(docstring))


def test_every_rule_can_be_loaded() -> None:
    assert BROKEN == []
