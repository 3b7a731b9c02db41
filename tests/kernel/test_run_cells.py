"""Which runs of a kernel count, and the notebook that they make."""

from __future__ import annotations

from accel_advisor.kernel.run_cells import RunCells
from accel_advisor.source.notebook import Notebook


def test_each_run_is_the_cell_of_its_number() -> None:
    notebook = Notebook(RunCells(["import torch", "!ls", "x = 1"], {}).notebook().encode())
    assert [(cell.number, cell.text) for cell in notebook.cells] == [(1, "import torch"), (2, "!ls"), (3, "x = 1")]


def test_what_python_cannot_read_is_left_out() -> None:
    notebook = Notebook(RunCells(["x = )", "x = 2"], {}).notebook().encode())
    assert [cell.text for cell in notebook.cells] == ["", "x = 2"]


def test_a_later_run_of_a_cell_replaces_the_earlier() -> None:
    assert RunCells(["x = 1", "y = 1", "x = 2"], {1: "a", 2: "b", 3: "a"}).latest == {2, 3}


def test_two_cells_of_one_text_stay_two() -> None:
    assert RunCells(["x = 1", "x = 1"], {1: "a", 2: "b"}).latest == {1, 2}


def test_without_an_identity_the_text_is_one() -> None:
    assert RunCells(["x = 1", "x = 1\n", "x = 2"], {}).latest == {2, 3}
    assert RunCells(["x = 1", "x = 1"], {2: "a"}).latest == {2}
