from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from accel_advisor.project.import_graph import WHOLE_BYTES, Group, imports_of, programs
from accel_advisor.project.project_index import ProjectIndex

FILES = {
    "train.py": "import torch\nfrom nets import Net\n",
    "nets.py": "import torch\n",
    "score.py": "import torch\n",
    "plain.py": "x = 1\n",
}


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project whose files count as having changed long ago."""
    monkeypatch.setattr("accel_advisor.project.project_index.SETTLED_SECONDS", -3600.0)
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def index(
    root: Path, known: object = None, texts: Mapping[str, str] | None = None, settled: bool = False
) -> ProjectIndex:
    contents = {str(root / name): text.encode() for name, text in (texts or {}).items()}
    return ProjectIndex(str(root), [str(root / name) for name in FILES], contents, known, settled=settled)


def alone(root: Path, found: ProjectIndex) -> list[Group]:
    """The groups of an index that knows nothing from before."""
    known = {id(one): one for one in programs(found._sources, imports_of(found._sources, str(root)))}
    return list(known.values())


def test_a_text_with_the_same_imports_leaves_the_groups(root: Path) -> None:
    first = index(root)
    second = index(root, first, {"train.py": FILES["train.py"] + "x = 1\n"})
    assert second.changed
    assert second._imports is first._imports
    assert second._groups == first._groups == alone(root, second)


@pytest.mark.parametrize("text", ["import torch\n", "x = 1\n", "import torch, score\nfrom nets import Net\n"])
def test_other_imports_make_other_groups(root: Path, text: str) -> None:
    first = index(root)
    second = index(root, first, {"train.py": text})
    assert second._groups != first._groups
    assert second._groups == alone(root, second)


def test_a_text_that_becomes_too_long_for_its_group_makes_others(root: Path) -> None:
    first = index(root)
    longer = FILES["nets.py"] + "#" * WHOLE_BYTES
    second = index(root, first, {"nets.py": longer})
    assert second._groups == alone(root, second) != first._groups
    third = index(root, second, {"nets.py": longer[:-100]})
    assert third._groups == alone(root, third)
    fourth = index(root, third, {"nets.py": FILES["nets.py"]})
    assert fourth._groups == first._groups


def test_what_is_on_disk_is_looked_at_unless_it_is_settled(root: Path) -> None:
    first = index(root)
    (root / "train.py").write_text("import torch\n")
    assert index(root, first, settled=True).digest(str(root / "train.py")) == first.digest(str(root / "train.py"))
    assert index(root, first).digest(str(root / "train.py")) != first.digest(str(root / "train.py"))


def test_a_text_that_is_given_counts_although_all_is_settled(root: Path) -> None:
    first = index(root)
    second = index(root, first, {"score.py": "import torch, nets\n"}, settled=True)
    assert str(root / "nets.py") in second.program(str(root / "score.py")).files
    third = index(root, second, settled=True)
    assert third.digest(str(root / "score.py")) == first.digest(str(root / "score.py"))
    assert third._groups == first._groups


def test_its_data_says_the_same(root: Path) -> None:
    first = index(root)
    again = index(root, json.loads(json.dumps(first.data)))
    assert not again.changed
    assert again._groups == first._groups
    assert again._imports == first._imports


@pytest.mark.parametrize("damaged", [None, 1, {}, {"files": {}}, {"files": {"a": 1}, "groups": []}])
def test_damaged_data_count_as_none(root: Path, damaged: object) -> None:
    assert index(root, damaged)._groups == index(root)._groups


def test_files_that_were_given_up_make_groups_of_their_own(root: Path) -> None:
    path = {name: str(root / name) for name in FILES}

    def made(known: object, *given_up: str) -> ProjectIndex:
        return ProjectIndex(str(root), path.values(), None, known, given_up=[path[one] for one in given_up])

    first = made(None)
    second = made(json.loads(json.dumps(first.data)), "train.py", "nets.py")
    assert second.changed
    assert second.given_up == {path["train.py"], path["nets.py"]}
    assert second.program(path["train.py"]) == Group((path["train.py"], path["nets.py"]))
    third = made(json.loads(json.dumps(second.data)), "train.py")
    assert third.program(path["nets.py"]) == Group((path["nets.py"],))
    assert third.program(path["train.py"]) == Group((path["train.py"],), (path["nets.py"],))
    again = made(json.loads(json.dumps(third.data)), "train.py")
    assert not again.changed
    assert again._groups == third._groups
    assert made(again, "nets.py").given_up == set(), "another file imports it"
    assert made(again, "nets.py")._groups == first._groups
