"""Which configuration, and which root, a file has, and which findings that shows."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from accel_advisor.configurations import Configurations
from accel_advisor.finding import Confidence, Finding, Location, Severity, Span


class TestRoot:
    def test_the_repository_before_the_package(self, project: Path) -> None:
        (project / "inner").mkdir()
        (project / "inner" / "setup.py").touch()
        path = project / "inner" / "a.py"
        assert Configurations().root(str(path.parent)) == str(project)

    def test_the_configured_one_first(self, project: Path) -> None:
        (project / "inner").mkdir()
        (project / "inner" / "pyproject.toml").write_text("[tool.accel-advisor]\n")
        path = project / "inner" / "a.py"
        assert Configurations().root(str(path.parent)) == str(project / "inner")


@pytest.mark.parametrize(
    ("key", "shown"),
    [
        ("", [Confidence.PROVEN, Confidence.EVIDENT]),
        ('min-confidence = "evident"', [Confidence.PROVEN, Confidence.EVIDENT]),
        ('min-confidence = "proven"', [Confidence.PROVEN]),
    ],
)
def test_findings_that_are_sure_enough_are_shown(project: Path, key: str, shown: list[Confidence]) -> None:
    (project / "pyproject.toml").write_text(f"[tool.accel-advisor]\n{key}\n")
    place = Location(0, 1, 1)
    proven = Finding("ACC102", "no-workers", "It waits.", Severity.WARNING, "train.py", Span(place, place))
    found = [replace(proven, confidence=one) for one in Confidence]
    assert [one.confidence for one in filter(Configurations().shows, found)] == shown
