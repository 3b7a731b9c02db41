"""Which file of a project an import means."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from accel_advisor.analysis.module_finder import ModuleFinder


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A project of a script, a package and a folder of sources."""
    for name in ("train.py", "parts/__init__.py", "parts/model.py", "src/inner.py", "lib/far.py"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("")
    return Path(os.path.realpath(tmp_path))


def found(root: Path, name: str, text: str = "", importer: str = "train.py", level: int = 0) -> str | None:
    path = ModuleFinder(str(root)).resolve(name, level, str(root / importer), text)
    return None if path is None else Path(path).relative_to(root).as_posix()


class TestResolve:
    def test_modules_stand_beside_the_importer_above_it_or_below_src(self, root: Path) -> None:
        assert found(root, "parts.model") == "parts/model.py"
        assert found(root, "parts") == "parts/__init__.py"
        assert found(root, "train", importer="parts/model.py") == "train.py"
        assert found(root, "inner") == "src/inner.py"
        assert found(root, "numpy") is None

    def test_dots_climb(self, root: Path) -> None:
        assert found(root, "model", importer="parts/__init__.py", level=1) == "parts/model.py"
        assert found(root, "train", importer="parts/model.py", level=2) == "train.py"
        assert found(root, "train", importer="parts/model.py", level=1) is None

    def test_a_folder_that_the_importer_adds_counts_for_it_alone(self, root: Path) -> None:
        adds = "import sys\nsys.path.append('lib')\nimport far\n"
        (root / "train.py").write_text(adds)
        assert found(root, "far", adds) == "lib/far.py"
        assert found(root, "far", "import far\n", importer="other.py") is None

    def test_a_folder_that_an_imported_file_adds_counts_and_is_said_to_come_from_there(self, root: Path) -> None:
        (root / "paths.py").write_text(
            "import os, sys\nsys.path.append(os.path.join(os.path.dirname(__file__), 'lib'))\n"
        )
        finder, importer, text = ModuleFinder(str(root)), str(root / "train.py"), "import paths, far\n"
        assert list(finder.adders(importer)) == []
        assert finder.resolve("far", 0, importer, text) == str(root / "lib" / "far.py")
        assert list(finder.adders(importer)) == [str(root / "paths.py")]

    def test_an_unsaved_text_stands_instead_of_the_file(self, root: Path) -> None:
        new = str(root / "new.py")
        unsaved = {new: b"", str(root / "train.py"): b"import sys\nsys.path.append('lib')\n"}
        finder = ModuleFinder(str(root), unsaved)
        assert finder.resolve("new", 0, str(root / "parts" / "model.py"), "") == new
        assert finder.resolve("far", 0, str(root / "train.py"), "") == str(root / "lib" / "far.py")
        assert found(root, "new") is None


class TestInFolders:
    def test_a_module_that_one_of_them_holds(self, root: Path) -> None:
        (root / "parts" / "far.py").write_text("")
        (root / "lib" / "lightning.py").write_text("")
        finder, lib, parts = ModuleFinder(str(root)), str(root / "lib"), str(root / "parts")
        assert finder.in_folders("far", [lib]) == str(root / "lib" / "far.py")
        assert finder.in_folders("far", [lib, parts]) is None, "it may be either"
        assert finder.in_folders("lightning", [lib]) is None, "it is a library"
        assert finder.in_folders("near", [lib, parts]) is None
        assert finder.in_folders("far", [str(root.parent / "elsewhere")]) is None


class TestMembers:
    def test_the_modules_of_a_package_by_how_their_names_begin_and_end(self, root: Path) -> None:
        (root / "parts" / "model_b.py").write_text("")
        finder, importer = ModuleFinder(str(root)), str(root / "train.py")
        names = [os.path.basename(one) for one in finder.members("parts", 0, importer, "", "mod", "")]
        assert names == ["model.py", "model_b.py"]
        assert finder.members("parts", 0, importer, "", "loss", "") == []
