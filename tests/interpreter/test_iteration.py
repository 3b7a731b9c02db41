"""Which of several loaders a loop goes over, where a function returns a pair or a single one."""

from __future__ import annotations

from pathlib import Path

from accel_advisor.analysis.project import analyze
from accel_advisor.records.loaders import loaders_in
from accel_advisor.source.document import Document

MAKES = """
from torch.utils.data import DataLoader

def make(data, training):
    if training:
        first = DataLoader(data, batch_size=8)
        second = DataLoader(data, batch_size=4)
        return first, second
    only = DataLoader(data, batch_size=2)
    return only

"""


def loaders_of_loops(source: str, folder: Path) -> list[list[str]]:
    path = folder / "train.py"
    path.write_text(MAKES + source)
    facts = analyze([Document.read(path)], folder).facts[str(path)]
    return [[one.name for one in loaders_in(loop)] for loop in facts.loops]


def test_what_is_taken_apart_is_the_pair(tmp_path: Path) -> None:
    source = "left, right = make(data, True)\nfor x in left:\n    pass\nfor x in right:\n    pass\n"
    assert loaders_of_loops(source, tmp_path) == [["first"], ["second"]]


def test_what_is_iterated_is_the_single_one(tmp_path: Path) -> None:
    assert loaders_of_loops("loader = make(data, False)\nfor x in loader:\n    pass\n", tmp_path) == [["only"]]


def test_either_is_iterated_where_nothing_tells_them_apart(tmp_path: Path) -> None:
    source = MAKES.replace("return first, second", "return first") + "for x in make(data, flag):\n    pass\n"
    path = tmp_path / "train.py"
    path.write_text(source)
    facts = analyze([Document.read(path)], tmp_path).facts[str(path)]
    assert [[one.name for one in loaders_in(loop)] for loop in facts.loops] == [["first", "only"]]


def test_a_list_that_loaders_were_added_to(tmp_path: Path) -> None:
    source = """
def make_all(datasets):
    loaders = []
    for one in datasets:
        loader = DataLoader(one)
        loaders.append(loader)
    return loaders

for x in make_all(parts())[0]:
    pass
for loader in make_all(parts()):
    for x in loader:
        pass
"""
    assert loaders_of_loops(source, tmp_path)[-3:] == [["loader"]] * 3


def test_a_list_that_something_else_was_added_to(tmp_path: Path) -> None:
    source = "names = []\nfor one in parts():\n    names.append(one)\nfor x in names[0]:\n    pass\n"
    assert loaders_of_loops(source, tmp_path) == [[], []]
