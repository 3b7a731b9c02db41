"""Code in folders such as `old` and files such as `run_old.py` is linted where it is named, used, or all there is."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

from accel_advisor.configurations import Configurations
from accel_advisor.linting.cache import Caches
from accel_advisor.linting.linter import lint, to_lint
from accel_advisor.linting.report import Report
from accel_advisor.project.discovery import Discoverer, Found

NET = """\
import torch
from torch import nn


class Net(nn.Module):
    def forward(self, x):
        return x + torch.zeros(8).to(x.device)
"""
TRAIN = """\
import torch

from nets import Net

model = Net().cuda()
optimizer = torch.optim.SGD(model.parameters(), 0.1)
for x in torch.utils.data.DataLoader([torch.zeros(8)] * 90, 3):
    optimizer.zero_grad()
    model(x.cuda()).sum().backward()
    optimizer.step()
"""
IN_NET = ("nets.py", "ACC205")


@pytest.fixture
def root(project: Path) -> Path:
    """A project that trains, and a folder of what trained before."""
    for folder in (project, project / "old"):
        folder.mkdir(exist_ok=True)
        (folder / "train.py").write_text(TRAIN)
        (folder / "nets.py").write_text(NET)
    (project / "old" / "paths.py").write_text("DATA = 'photos'\n")
    return project


def found(names: Iterable[str], *, force: bool = False) -> list[Found]:
    return Discoverer(Configurations().patterns, force_exclude=force).discover(names).files


def linted(*names: str, force: bool = False, caches: Caches | None = None) -> Report:
    return lint(found(names, force=force), Configurations(), memory=caches)


def codes(report: Report) -> set[tuple[str, str]]:
    return {(Path(one.filename).as_posix(), one.code) for one in report.findings if not one.minor}


def listed(*names: str, force: bool = False) -> list[str]:
    files = to_lint(found(names, force=force), Configurations())
    return [Path(one.filename).as_posix() for one in files]


def test_what_lies_in_such_a_folder_is_counted_and_left_out(root: Path) -> None:
    report = linted(".")
    assert IN_NET in codes(report)
    assert {name for name, _ in codes(report)} <= {"nets.py", "train.py"}
    assert report.checked == 2
    assert report.left_out == {str(root / "old" / name): "old" for name in ("nets.py", "paths.py", "train.py")}
    assert listed(".") == ["nets.py", "train.py"]


def test_another_name_of_folder_is_linted(root: Path) -> None:
    (root / "old").rename(root / "older")
    report = linted(".")
    assert ("older/nets.py", "ACC205") in codes(report)
    assert (report.checked, report.left_out) == (5, {})


@pytest.mark.parametrize("names", [("old",), ("old/nets.py", "old/train.py", "old/paths.py"), (".", "old")])
def test_what_is_named_is_linted(root: Path, names: tuple[str, ...]) -> None:
    report = linted(*names)
    assert ("old/nets.py", "ACC205") in codes(report), "it is understood with the script that trains it"
    assert not report.left_out
    assert {"old/nets.py", "old/train.py", "old/paths.py"} <= set(listed(*names))


def test_a_folder_within_it_that_is_named(root: Path) -> None:
    (root / "old" / "runner").mkdir()
    (root / "old" / "train.py").rename(root / "old" / "runner" / "train.py")
    assert listed("old/runner") == ["old/runner/train.py"]
    assert linted("old/runner").checked == 1


def test_from_within_it(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(root / "old")
    assert IN_NET in codes(linted("."))


def test_what_is_all_that_there_is(root: Path) -> None:
    (root / "train.py").unlink()
    (root / "nets.py").write_text("DATA = 'photos'\n")
    report = linted(".")
    assert ("old/nets.py", "ACC205") in codes(report)
    assert (report.checked, report.left_out) == (4, {})


def test_what_is_imported_is_used(root: Path) -> None:
    (root / "nets.py").write_text("import torch\nfrom old.nets import Net\n")
    report = linted(".")
    assert ("old/nets.py", "ACC205") in codes(report)
    assert [Path(one).name for one in report.left_out] == ["paths.py", "train.py"]
    (root / "pkg").mkdir()
    (root / "old").rename(root / "pkg" / "old")
    (root / "nets.py").write_text("import torch\nfrom pkg.old.nets import Net\n")
    assert ("pkg/old/nets.py", "ACC205") in codes(linted("pkg")), "although nothing in the folder that is named uses it"


def test_others_are_understood_without_it(root: Path) -> None:
    """A module that such a script trains does not run in a training for that."""
    (root / "train.py").write_text(TRAIN.replace("from nets import Net", "Net = torch.nn.Identity"))
    (root / "old" / "nets.py").unlink()
    (program,) = linted("nets.py").programs
    assert program.filenames == ("nets.py",)
    (program,) = linted("old/train.py").programs
    assert (program.filenames, program.callers) == (("old/train.py", "nets.py"), {"nets.py"})
    (root / "old").rename(root / "older")
    (program,) = linted("nets.py").programs
    assert program.filenames == ("nets.py", "older/train.py")


def test_include_brings_it_back(root: Path) -> None:
    (root / "pyproject.toml").write_text("[tool.accel-advisor]\ninclude = ['old/']\n")
    assert ("old/nets.py", "ACC205") in codes(linted("."))
    assert len(listed(".")) == 5


def test_named_files_that_are_held_to_the_rules(root: Path) -> None:
    named = ("train.py", "nets.py", "old/train.py", "old/nets.py")
    report = linted(*named, force=True)
    assert report.checked == 2
    assert listed(*named, force=True) == ["train.py", "nets.py"]
    assert len(listed(*named)) == 4


def test_generated_files_are_not_counted_twice(root: Path) -> None:
    (root / "old" / "nets.py").write_text("# @generated\n" + NET)
    report = linted(".")
    assert report.checked == 2
    assert len(report.left_out) == 2


def test_with_a_cache_and_another_configuration(root: Path) -> None:
    def again() -> Report:
        caches = Caches()
        report = linted(".", caches=caches)
        caches.save()
        return report

    assert len(again().left_out) == len(again().left_out) == 3
    (root / "pyproject.toml").write_text("[tool.accel-advisor]\ninclude = ['old/train.py']\n")
    back = again()
    assert ("old/nets.py", "ACC205") in codes(back) == codes(linted(".")), "what is brought back uses it"
    assert [Path(one).name for one in back.left_out] == ["paths.py"]
    (root / "pyproject.toml").unlink()
    assert codes(again()) == codes(linted("."))
    assert len(again().left_out) == 3


class TestByTheNameOfTheFile:
    @pytest.fixture
    def root(self, project: Path) -> Path:
        """A project that trains, and what trained before, beside it."""
        for name in ("train.py", "train_old.py"):
            (project / name).write_text(TRAIN)
        for name in ("nets.py", "old_nets.py"):
            (project / name).write_text(NET)
        return project

    def test_it_is_counted_and_left_out_beside_what_followed(self, root: Path) -> None:
        report = linted(".")
        assert IN_NET in codes(report)
        assert {name for name, _ in codes(report)} <= {"nets.py", "train.py"}
        assert report.checked == 2
        assert report.left_out == {str(root / name): name for name in ("old_nets.py", "train_old.py")}
        assert listed(".") == ["nets.py", "train.py"]

    def test_without_what_followed_it_is_linted(self, root: Path) -> None:
        (root / "train.py").unlink()
        report = linted(".")
        assert "train_old.py" in {name for name, _ in codes(report)}
        assert [Path(one).name for one in report.left_out] == ["old_nets.py"]

    def test_another_name_is_linted(self, root: Path) -> None:
        (root / "train_old.py").rename(root / "train_older.py")
        report = linted(".")
        assert "train_older.py" in {name for name, _ in codes(report)}
        assert [Path(one).name for one in report.left_out] == ["old_nets.py"]

    def test_what_is_named_is_linted(self, root: Path) -> None:
        assert "train_old.py" in {name for name, _ in codes(linted("train_old.py"))}
        assert listed(".", "train_old.py") == ["nets.py", "train.py", "train_old.py"]
        assert not linted(".", "train_old.py", "old_nets.py").left_out

    def test_what_is_imported_is_used(self, root: Path) -> None:
        (root / "train.py").write_text(TRAIN.replace("nets", "old_nets"))
        report = linted(".")
        assert ("old_nets.py", "ACC205") in codes(report)
        assert [Path(one).name for one in report.left_out] == ["train_old.py"]

    def test_what_imports_only_what_was_given_up_uses_nothing(self, root: Path) -> None:
        (root / "train_old.py").write_text(TRAIN.replace("nets", "old_nets"))
        assert [Path(one).name for one in linted(".").left_out] == ["old_nets.py", "train_old.py"]

    def test_what_is_all_that_there_is(self, root: Path) -> None:
        (root / "nets.py").unlink()
        (root / "old_nets.py").unlink()
        (root / "train.py").write_text("STEPS = 90\n")
        report = linted(".")
        assert "train_old.py" in {name for name, _ in codes(report)}
        assert not report.left_out

    def test_a_folder_that_is_named_is_linted_as_a_whole(self, root: Path) -> None:
        (root / "old").mkdir()
        for name in ("train.py", "train_old.py", "nets.py"):
            (root / "old" / name).write_bytes((root / name).read_bytes())
        assert linted(".").left_out[str(root / "old" / "train_old.py")] == "old"
        assert listed("old") == ["old/nets.py", "old/train.py", "old/train_old.py"]

    def test_include_brings_it_back(self, root: Path) -> None:
        (root / "pyproject.toml").write_text("[tool.accel-advisor]\ninclude = ['train_old.py']\n")
        assert listed(".") == ["nets.py", "train.py", "train_old.py"]

    def test_held_to_the_rules_as_hooks_do(self, root: Path) -> None:
        assert listed("train.py", "train_old.py", force=True) == ["train.py"]
