"""Programs of several files, the pool, the cache, and files that change under the linter's eyes."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from accel_advisor.configurations import Configurations
from accel_advisor.finding import Applicability
from accel_advisor.lint.cache import FOLDER, Caches
from accel_advisor.lint.fix_loop import fix
from accel_advisor.lint.linter import lint
from accel_advisor.lint.report import Report
from accel_advisor.project.discovery import Found
from accel_advisor.project.import_graph import Source, programs

from ..conftest import Install

LOADERS = """\
from PIL import Image
from torch.utils.data import DataLoader, Dataset
from torchvision.transforms.functional import to_tensor


class Photos(Dataset):
    def __init__(self, paths):
        self.paths = paths

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, index):
        return to_tensor(Image.open(self.paths[index]))


def build_loader(paths, workers=0):
    return DataLoader(Photos(paths), batch_size=2, num_workers=workers)
"""
TRAIN = """\
import torch
from loaders import build_loader

model = torch.nn.Linear(8, 2).cuda()
for x in build_loader(["a.jpg"]):
    model(x.cuda()).sum().backward()
"""


def linted(*names: str, caches: Caches | None = None, jobs: int = 1) -> Report:
    return lint([Found(name, named=True) for name in names], Configurations(), caches=caches, jobs=jobs)


def listed(report: Report) -> list[tuple[str, int, str]]:
    return [(one.filename, one.span.start.row, one.code) for one in report.findings]


def grouped(files: dict[str, bytes]) -> list[list[str]]:
    """The programs of files by relative name; all mention accelerators but for those with a comment that says so."""
    folder = os.getcwd()
    sources = {
        os.path.join(folder, name): Source.of(name, raw + (b"" if b"# quiet" in raw else b"\n# torch\n"))
        for name, raw in files.items()
    }
    return [[os.path.relpath(path, folder) for path in one] for one in programs(sources, folder)]


class TestPrograms:
    def test_files_that_do_not_import_each_other_stand_alone(self) -> None:
        files = {"a.py": b"import torch\n", "b.py": b"import os, sys\nfrom . import gone\n"}
        assert grouped(files) == [["a.py"], ["b.py"]]

    @pytest.mark.parametrize(
        "line",
        [
            "import pkg.inner",
            "import os, pkg.inner as x",
            "from pkg.inner import f",
            "from pkg import inner",
            "from pkg import (  # why\n    other,\n    inner,\n)",
            "from .pkg.inner import f",
            "if True:\n    from pkg.inner import *",
        ],
    )
    def test_imports_join_files(self, line: str) -> None:
        files = {"b.py": b"", os.path.join("pkg", "inner.py"): b"", "a.py": line.encode()}
        assert grouped(files) == [["b.py"], [os.path.join("pkg", "inner.py"), "a.py"]]

    def test_the_nearest_module_is_meant(self) -> None:
        names = [os.path.join("x", "utils.py"), os.path.join("y", "utils.py"), os.path.join("x", "a.py"), "utils.py"]
        files = dict.fromkeys(names, b"") | {names[2]: b"import utils"}
        assert grouped(files) == [[names[0], names[2]], [names[1]], [names[3]]]

    def test_relative_imports_climb(self) -> None:
        names = [os.path.join("p", "q", "a.py"), os.path.join("p", "b.py"), os.path.join("p", "__init__.py")]
        files = {names[0]: b"from ..b import f\nfrom .. import c\n", names[1]: b"", names[2]: b""}
        assert grouped(files) == [names]

    def test_a_large_program_is_taken_in_pieces(self) -> None:
        files = {f"m{number}.py": b"import m0\n" + b"#" * 1_000_000 for number in range(7)}
        assert [len(one) for one in grouped(files)] == [2, 2, 2, 1]

    def test_files_without_a_word_of_ours_belong_to_what_they_call(self) -> None:
        files = {"main.py": b"import a, b  # quiet", "a.py": b"", "b.py": b"", "other.py": b"import main  # quiet"}
        assert grouped(files) == [["a.py", "b.py", "main.py"]]
        assert grouped(files | {"main.py": b"import c  # quiet"}) == [["a.py"], ["b.py"]]


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


class TestSeveralFiles:
    @pytest.fixture(autouse=True)
    def files(self, project: Path) -> None:
        (project / "loaders.py").write_text(LOADERS)
        (project / "train.py").write_text(TRAIN)

    def test_a_factory_in_another_file_is_understood(self) -> None:
        together = listed(linted("loaders.py", "train.py"))
        assert ("loaders.py", 18, "ACC102") in together
        assert listed(linted("loaders.py")) == [one for one in together if one[0] == "loaders.py"]
        assert listed(linted("train.py")) == [one for one in together if one[0] == "train.py"]

    def test_every_file_is_fixed_and_nothing_is_left(self, project: Path) -> None:
        outcome = fix(linted("loaders.py", "train.py"), frozenset(Applicability))
        left = [
            one for one in outcome.report.findings if one.fix and one.fix.applicability is not Applicability.DISPLAY
        ]
        assert left == []
        assert "non_blocking=True" in outcome.document_after("train.py").text
        assert (project / "train.py").read_text() == TRAIN
        for name, raw in outcome.after.items():
            (project / name).write_bytes(raw)
        again = fix(linted("loaders.py", "train.py"), frozenset(Applicability))
        assert again.after == {}

    def test_a_pool_finds_the_same(self, project: Path) -> None:
        names = []
        for number in range(4):
            folder = project / f"part{number}"
            folder.mkdir()
            (folder / "loaders.py").write_text(LOADERS + "#" * 250_000)
            (folder / "train.py").write_text(TRAIN)
            names += [os.path.join(f"part{number}", "loaders.py"), os.path.join(f"part{number}", "train.py")]
        alone = linted(*names)
        assert len(alone.findings) >= 8
        assert linted(*names, jobs=2).findings == alone.findings


DEADLY = """
    import os

    from accel_advisor.finding import Severity
    from accel_advisor.rule import Rule

    class RuleThatKills(Rule):
        code, name, severity = "ZZZ008", "kills", Severity.INFO
        def check(self, facts):
            if "DEADLY" in facts.document.text:
                os._exit(11)
            return iter(())
"""


def test_a_process_that_dies_costs_its_own_program_only(project: Path, install_rules: Install) -> None:
    install_rules(DEADLY)
    text = TRAIN.replace("from loaders", "from gone") + "#" * 450_000
    for name in ("a.py", "b.py", "c.py"):
        (project / name).write_text(text + ("  DEADLY\n" if name == "b.py" else "\n"))
    report = linted("a.py", "b.py", "c.py", jobs=2)
    (internal,) = [one for one in report.findings if one.code == "ACC003"]
    assert internal.filename == "b.py"
    assert "the process that analysed this file died" in internal.message
    assert {name for one in report.programs for name in one.filenames} == {"a.py", "b.py", "c.py"}


def compiles(raw: bytes) -> bool:
    try:
        compile(raw, "train.py", "exec")
    except (SyntaxError, ValueError):
        return False
    return True


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(data=st.data())
def test_damaged_programs_are_linted_and_fixed_without_harm(project: Path, data: st.DataObject) -> None:
    text = LOADERS + "\n\n" + TRAIN.replace("from loaders import build_loader\n", "")
    for _ in range(data.draw(st.integers(0, 3))):
        start = data.draw(st.integers(0, len(text)))
        length = data.draw(st.integers(0, 30))
        put = data.draw(st.sampled_from(["", "\n", "    ", "(", ")", "é", "# accel: ignore"]))
        text = text[:start] + put + text[start + length :]
    (project / "train.py").write_text(text, encoding="utf-8")
    report = linted("train.py")
    assert not [one for one in report.findings if one.code == "ACC003"], listed(report)
    outcome = fix(report, frozenset(Applicability))
    assert not [one for one in outcome.report.findings if one.code == "ACC003"], listed(outcome.report)
    for name, raw in outcome.after.items():
        if compiles(text.encode()):
            assert compiles(raw)
        (project / name).write_bytes(raw)
    assert fix(linted("train.py"), frozenset(Applicability)).after == {}


CROSS = """
    import os

    from accel_advisor.finding import Applicability, Edit, Fix, Location, Severity, Span
    from accel_advisor.rule import Rule

    class RuleThatEditsAnotherFile(Rule):
        code, name, severity = "ZZZ009", "edits-another-file", Severity.INFO
        def check(self, facts):
            document = facts.document
            if "# DONE" not in document.text:
                place = Location(0, 1, 1)
                edit = Edit(os.path.abspath("settings.py"), Span(place, place), "WORKERS = 4\\n")
                mine = document.edit(0, 0, "# DONE\\n")
                yield self.finding(facts, document.tree.body[0], "Edit both.",
                                   fix=Fix("Edit both", (edit, mine), Applicability.SAFE))
"""


def test_a_fix_may_change_another_file(project: Path, install_rules: Install) -> None:
    install_rules(CROSS)
    (project / "train.py").write_text("import torch\nfrom settings import SIZE\n")
    (project / "settings.py").write_text("SIZE = 3\r\n")
    report = linted("train.py")
    outcome = fix(report, {Applicability.SAFE})
    assert {os.path.basename(name): raw for name, raw in outcome.after.items()} == {
        "train.py": b"# DONE\nimport torch\nfrom settings import SIZE\n",
        "settings.py": b"WORKERS = 4\nSIZE = 3\r\n",
    }
    assert [one.code for one in outcome.report.findings] == []


class TestFilesThatChange:
    def test_one_that_vanished(self, project: Path) -> None:
        assert linted("gone.py").checked == 0

    @pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="the superuser may read everything")
    def test_one_that_may_not_be_read(self, project: Path) -> None:
        (project / "a.py").write_text("import torch\n")
        (project / "a.py").chmod(0)
        (found,) = linted("a.py").findings
        assert (found.code, found.message) == ("ACC001", "This file cannot be read: Permission denied.")

    def test_generated_code_is_passed_by_unless_it_is_named(self, project: Path) -> None:
        (project / "a.py").write_text("# @generated\n" + LOADERS)
        assert lint([Found("a.py", named=False)], Configurations()).checked == 0
        assert lint([Found("a.py", named=True)], Configurations()).checked == 1

    @pytest.mark.skipif(sys.platform == "win32", reason="newlines differ")
    def test_deep_nesting_is_told(self, project: Path) -> None:
        (project / "a.py").write_text("import torch\nx = " + "(" * 3000 + ")" * 3000 + "\n")
        (found,) = linted("a.py").findings
        assert found.code in ("ACC001", "ACC004")


class TestCache:
    @pytest.fixture(autouse=True)
    def files(self, project: Path) -> None:
        (project / "loaders.py").write_text(LOADERS)
        (project / "train.py").write_text(TRAIN)

    def cached(self) -> tuple[Report, bool]:
        """A report, and whether everything in it was known."""
        caches = Caches()
        report = linted("train.py", caches=caches)
        caches.save()
        return report, not caches.of(os.getcwd())._changed

    def test_the_same_again(self) -> None:
        first, known = self.cached()
        assert not known
        assert first.findings
        again, known = self.cached()
        assert known
        assert again.findings == first.findings

    def test_another_file_of_the_program_is_known(self) -> None:
        self.cached()
        caches = Caches()
        assert {one.filename for one in linted("loaders.py", caches=caches).findings} == {"loaders.py"}
        assert not caches.of(os.getcwd())._changed

    @pytest.mark.parametrize(
        ("name", "text"),
        [
            ("train.py", TRAIN + "\n"),
            ("loaders.py", LOADERS.replace("workers=0", "workers=4")),
            ("torchvision.py", ""),
            ("main.py", "import train\n"),
            ("pyproject.toml", "[tool.accel-advisor]\nignore = ['ACC102']\n"),
        ],
    )
    def test_whatever_matters_changes(self, project: Path, name: str, text: str) -> None:
        self.cached()
        (project / name).write_text(text)
        _, known = self.cached()
        assert not known

    def test_what_does_not_matter_changes(self, project: Path) -> None:
        (project / "other").mkdir()
        self.cached()
        (project / "other" / "other.py").write_text("import torch\n")
        (project / "notes.txt").write_text("torch\n")
        _, known = self.cached()
        assert known

    @pytest.mark.parametrize("raw", [b"", b"{", b"[]", b'{"salt": 1, "entries": 3}', b'{"salt": "$", "entries": 3}'])
    def test_a_damaged_one_counts_as_empty(self, project: Path, raw: bytes) -> None:
        first, _ = self.cached()
        salt = json.loads((project / FOLDER / "lint.json").read_bytes())["salt"]
        (project / FOLDER / "lint.json").write_bytes(raw.replace(b"$", salt.encode()))
        again, known = self.cached()
        assert not known
        assert again.findings == first.findings

    @pytest.mark.parametrize("index", [[], {}, {"files": 1}, {"files": {"a": 1}, "groups": []}, None])
    def test_a_damaged_index_counts_as_none(self, project: Path, index: object) -> None:
        first, _ = self.cached()
        path = project / FOLDER / "index.json"
        data = json.loads(path.read_bytes())
        assert data["index"]["files"]
        path.write_text(json.dumps(data | {"index": index}))
        again, known = self.cached()
        assert known
        assert again.findings == first.findings

    def test_it_is_ignored_by_git(self, project: Path) -> None:
        self.cached()
        assert (project / FOLDER / ".gitignore").read_text() == "*\n"
