"""Where a rule stopped: its own condition, for the record that it was about."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from accel_advisor.why.stopping import watched

RULE = """
from accel_advisor.finding import Severity
from accel_advisor.rule import Rule


def answers(one):
    if one.odd:
        return True
    return False


class Example(Rule):
    code, name, severity = "XYZ101", "example", Severity.INFO

    def check(self, facts):
        chosen = [one for one in facts.loaders if not one.filtered]
        for one in chosen:
            if one.skipped:
                continue
            if answers(one) and one.wanted:
                found = one
            elif one.other:
                found = None
        again = list(facts.loaders)
        yield from ()
"""


def record(**given: bool) -> Any:
    names = ("filtered", "skipped", "odd", "wanted", "other")
    return SimpleNamespace(**{name: given.get(name, False) for name in names})


@pytest.fixture
def rule(tmp_path: Path) -> Any:
    path = tmp_path / "example_rule_of_a_test.py"
    path.write_text(RULE)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    yield module.Example()
    del sys.modules[path.stem]


@pytest.mark.parametrize(
    ("given", "what"),
    [
        ({"filtered": True}, "`not one.filtered` does not hold"),
        ({"skipped": True}, "`one.skipped` holds"),
        ({"odd": True}, "`one.other` does not hold"),
        ({"odd": True, "wanted": True}, "`yield from ()`"),
    ],
)
@pytest.mark.parametrize("others", [0, 1, 2])
def test_the_last_condition_of_each_record(rule: Any, given: dict[str, bool], what: str, others: int) -> None:
    """Whatever comes before or after it in the loop, and though its variable stays behind when the loop ends."""
    one = record(**given)
    before, after = [record() for _ in range(others)], [record(skipped=True) for _ in range(others)]
    found = watched(rule, SimpleNamespace(loaders=[*before, one, *after]), [one])  # type: ignore[arg-type]
    assert found.findings == ()
    assert found.stops[0].what == what
    assert found.stops[0].decided == what.endswith(("holds", "hold"))


def test_a_rule_that_never_held_it(rule: Any) -> None:
    assert watched(rule, SimpleNamespace(loaders=[]), [record()]).stops == {}  # type: ignore[arg-type]


def test_a_rule_that_fails_and_a_tracer_that_was_there(rule: Any) -> None:
    before = sys.gettrace()
    found = watched(rule, SimpleNamespace(), [record()])  # type: ignore[arg-type]
    assert found.failed.startswith("AttributeError: ")
    assert sys.gettrace() is before
