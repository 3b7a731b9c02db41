"""Where a project begins."""

from __future__ import annotations

from pathlib import Path

import pytest

from accel_advisor.configurations import Configurations
from accel_advisor.project.roots import Roots


@pytest.fixture
def top(tmp_path: Path) -> Path:
    """A folder of which it is certain that no mark stands above it."""
    assert Roots().of(str(tmp_path)) == str(tmp_path)
    return tmp_path


def make(top: Path, *names: str) -> None:
    for name in names:
        path = top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()


def root(top: Path, name: str) -> str:
    """The root of a file, relative to the top."""
    return str(Path(Configurations().root(str((top / name).parent))).relative_to(top))


class TestMarked:
    def test_the_repository_before_the_package_before_the_requirements(self, top: Path) -> None:
        make(top, "a/requirements.txt", "a/b/train.py")
        assert root(top, "a/b/train.py") == "a"
        make(top, "setup.py")
        assert root(top, "a/b/train.py") == "."
        (top / "a" / "b" / ".git").mkdir()
        assert root(top, "a/b/train.py") == "a/b"

    def test_the_topmost_configuration_of_the_repository(self, top: Path) -> None:
        make(top, "repo/.git", "repo/a/b/train.py", "repo/a/other.py")
        for folder in (top, top / "repo" / "a", top / "repo" / "a" / "b"):
            (folder / "pyproject.toml").write_text("[tool.accel-advisor]\n")
        assert root(top, "repo/a/b/train.py") == "repo/a"
        assert root(top, "repo/a/other.py") == "repo/a"
        assert root(top, "repo/main.py") == "."
        (top / "repo" / "pyproject.toml").write_text("[tool.accel-advisor]\n")
        assert root(top, "repo/a/b/train.py") == "repo"
        assert root(top, "repo/main.py") == "repo"


class TestUnmarked:
    def test_a_script_beside_its_package(self, top: Path) -> None:
        make(top, "train.py", "pkg/__init__.py", "pkg/loaders.py", "pkg/inner/__init__.py", "pkg/inner/a.py")
        assert root(top, "train.py") == root(top, "pkg/loaders.py") == root(top, "pkg/inner/a.py") == "."

    @pytest.mark.parametrize(
        "line",
        ["import data.loaders", "from data.loaders import build", "import os, data as d", "  from data import x"],
    )
    def test_a_script_that_imports_the_folder_beside_it(self, top: Path, line: str) -> None:
        make(top, "data/loaders.py")
        (top / "train.py").write_text("import torch\nfrom database import data\nx = 'import data'\n")
        assert root(top, "data/loaders.py") == "data"
        (top / "train.py").write_text(f"import torch\n{line}\n")
        assert root(top, "data/loaders.py") == "."

    def test_a_folder_that_nothing_imports(self, top: Path) -> None:
        make(top, "train.py", "other/train.py")
        assert root(top, "other/train.py") == "other"
