"""Which configuration, and which root, a file has."""

from __future__ import annotations

from pathlib import Path

from accel_advisor.configurations import Configurations


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
