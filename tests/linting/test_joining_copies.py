"""What is found in a folder and in a copy of it beside it is one finding, with the other place."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ..conftest import Run

TRAIN = """\
import torch
from torch.utils.data import DataLoader

model = torch.nn.Linear(8, 2).cuda()
for x in DataLoader(torch.zeros(90, 8), 3, num_workers=2, pin_memory=True):
    loss = model(x.cuda()).sum()
    loss.backward()
"""
PARTS = tuple(f"part{number}.py" for number in range(6))


def make(project: Path, *folders: str) -> None:
    for folder in folders:
        (project / folder / "code").mkdir(parents=True)
        (project / folder / "code" / "train.py").write_text(TRAIN)
        for name in PARTS:
            (project / folder / "code" / name).write_text(f"import torch\n\nNAME = '{name}'\n")


def places(run: Run, *paths: str) -> list[tuple[str, list[str]]]:
    """The files of findings, each with those of the copies of it."""
    found = json.loads(run("lint", "--output-format", "json", *paths).out)
    return [
        (
            Path(one["filename"]).parts[-3],
            [Path(each["filename"]).parts[-3] for each in one["related"] if "a copy of" in each["message"]],
        )
        for one in found
        if one["code"] == "ACC201"
    ]


def test_that_for_training_is_shown(run: Run, project: Path) -> None:
    make(project, "TestCode", "TrainCode")
    assert places(run) == [("TrainCode", ["TestCode"])]
    assert places(run, "TestCode") == [("TestCode", [])], "nothing else was asked for"


def test_of_others_the_first_is_shown_for_all(run: Run, project: Path) -> None:
    make(project, "a", "b", "c")
    assert places(run) == [("a", ["b", "c"])]


def test_both_are_fixed(run: Run, project: Path) -> None:
    make(project, "a", "b")
    assert len(places(run)) == 1
    run("lint", "--select", "ACC201", "--fix", "--unsafe-fixes")
    for folder in ("a", "b"):
        assert "non_blocking=True" in (project / folder / "code" / "train.py").read_text()


def test_a_file_that_differs_elsewhere(run: Run, project: Path) -> None:
    make(project, "a", "b")
    path = project / "b" / "code" / "train.py"
    path.write_text(TRAIN.replace("\n\n", "\n\n\n").replace("x.cuda()", "x.cuda( )") + "print(model)\n")
    assert places(run) == [("a", []), ("b", [])], "the line is another one"
    path.write_text(TRAIN.replace("\n\n", "\n\n\n") + "print(model)\n")
    assert places(run) == [("a", ["b"])]


@pytest.mark.parametrize("changed", [3, 5])
def test_folders_of_which_most_is_other_code(run: Run, project: Path, changed: int) -> None:
    make(project, "a", "b")
    for name in PARTS[:changed]:
        (project / "b" / "code" / name).write_text(f"import torch\n\nNAME = 'another {name}'\n")
    assert len(places(run)) == (1 if changed == 3 else 2)


@pytest.mark.parametrize(("left", "count"), [(4, 1), (3, 2)])
def test_folders_that_have_little_in_common(run: Run, project: Path, left: int, count: int) -> None:
    make(project, "a", "b")
    for name in PARTS[left:]:
        (project / "b" / "code" / name).unlink()
    assert len(places(run)) == count


def test_folders_of_other_names_of_files(run: Run, project: Path) -> None:
    make(project, "a", "b")
    for name in PARTS[:2]:
        (project / "b" / "code" / name).rename(project / "b" / "code" / f"other_{name}")
    assert len(places(run)) == 2
