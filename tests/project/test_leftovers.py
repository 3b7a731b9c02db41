"""Which names of folders and files say that something was given up, and what of it is used all the same."""

from __future__ import annotations

import os
from typing import ClassVar

import pytest

from accel_advisor.project.leftovers import GIVEN_UP_FOLDERS, given_up_folder, has_given_up_name, unused_by_others

ROOT = os.path.join(os.sep, "home", "old", "project")


def path(name: str) -> str:
    return os.path.join(ROOT, *name.split("/"))


@pytest.mark.parametrize(
    ("name", "folder"),
    [
        ("old/train.py", "old"),
        ("Old/nets/unet.py", "Old"),
        ("src/legacy/nets/deprecated/unet.py", "src/legacy"),
        ("train.py", ""),
        ("old.py", ""),
        ("older/train.py", ""),
        ("threshold/train.py", ""),
        ("old_nets/train.py", ""),
    ],
)
def test_the_folder_around_a_file(name: str, folder: str) -> None:
    assert given_up_folder(path(name), ROOT) == (path(folder) if folder else "")


def test_every_name() -> None:
    assert GIVEN_UP_FOLDERS
    assert {given_up_folder(path(f"{one}/a.py"), ROOT) for one in GIVEN_UP_FOLDERS} == {*map(path, GIVEN_UP_FOLDERS)}


def test_a_file_elsewhere_lies_in_none() -> None:
    assert given_up_folder(os.path.join(os.sep, "home", "other", "old", "a.py"), ROOT) == ""


@pytest.mark.parametrize(
    ("name", "beside"),
    [
        ("run_old.py", "run.py"),
        ("run_OLD.py", "run.py"),
        ("nets/run-old.ipynb", "nets/run.ipynb"),
        ("run_bak.py", "run.py"),
        ("run.bak.py", "run.py"),
        ("run_backup.py", "run.py"),
        ("run_deprecated.py", "run.py"),
        ("run_legacy.py", "run.py"),
        ("run_obsolete.py", "run.py"),
        ("run_unused.py", "run.py"),
        ("old_run.py", "run.py"),
        ("deprecated_run.py", "run.py"),
        ("legacy-run.py", "run.py"),
        ("run_copy.py", "run.py"),
        ("run copy.py", "run.py"),
        ("run copy 2.py", "run.py"),
        ("run (copy).py", "run.py"),
        ("run - Copy.py", "run.py"),
        ("run - Copy (2).py", "run.py"),
        ("run-Copy1.ipynb", "run.ipynb"),
        ("Copy of run.ipynb", "run.ipynb"),
        ("run_old_old.py", "run_old.py"),
    ],
)
def test_a_name_beside_the_one_that_followed(name: str, beside: str) -> None:
    assert has_given_up_name(path(name), {path(name), path(beside)})
    assert not has_given_up_name(path(name), {path(name)}), "the name alone says nothing"
    assert not has_given_up_name(path(beside), {path(name), path(beside)})
    elsewhere = path(f"other/{beside}")
    assert not has_given_up_name(path(name), {path(name), elsewhere})


@pytest.mark.parametrize(
    ("name", "beside"),
    [
        ("threshold.py", "thresh.py"),
        ("deepcopy.py", "deep.py"),
        ("runold.py", "run.py"),
        ("oldrun.py", "run.py"),
        ("copy_run.py", "run.py"),
        ("run_older.py", "run.py"),
        ("run_old_net.py", "run_net.py"),
        ("run_old.py", "run.ipynb"),
        ("run_2.py", "run.py"),
    ],
)
def test_a_name_that_says_something_else(name: str, beside: str) -> None:
    assert not has_given_up_name(path(name), {path(name), path(beside)})


class TestUnusedByOthers:
    IMPORTS: ClassVar = {
        "train": ["nets"],
        "nets": ["old/layers"],
        "old/layers": ["old/ops"],
        "old/ops": [],
        "old/train": ["nets"],
    }
    OLD = ("old/layers", "old/ops", "old/train")

    def test_what_is_imported_near_or_far_is_used(self) -> None:
        assert unused_by_others(self.OLD, self.IMPORTS, self.IMPORTS) == {"old/train"}
        without = self.IMPORTS | {"nets": []}
        assert unused_by_others(self.OLD, without, self.IMPORTS) == set(self.OLD)

    def test_what_they_import_of_each_other_uses_none(self) -> None:
        alone = {"train": [], "old/a": ["old/b"], "old/b": ["old/a"]}
        assert unused_by_others(["old/a", "old/b"], alone, alone) == {"old/a", "old/b"}

    def test_where_nothing_else_matters_none_is_given_up(self) -> None:
        assert unused_by_others(self.OLD, self.IMPORTS, self.OLD) == set()
        assert unused_by_others(self.OLD, self.IMPORTS, [*self.OLD, "train"]) == {"old/train"}
