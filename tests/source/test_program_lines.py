"""Lines of files by the rows that run time knows."""

from __future__ import annotations

import json
import os
from pathlib import Path

from accel_advisor.source.program_lines import line_at, line_name, python_lines, row_for_people

from .notebooks import code, notebook

CELLS = notebook(code("%time x = 1\ny = 2"), code("z = 3"))


def test_lines_of_a_notebook_are_those_of_its_cells(tmp_path: Path) -> None:
    path = tmp_path / "a.ipynb"
    path.write_text(json.dumps(CELLS))
    name = str(path)
    assert [line_at(name, row) for row in (1, 2, 4, 9)] == ["%time x = 1\n", "y = 2\n", "z = 3\n", ""]
    assert python_lines(name)[0] == "0    ;x = 1\n"
    assert [row_for_people(name, row) for row in (1, 2, 4)] == [(2, 1), (2, 2), (3, 1)]
    assert line_name(name, 4) == "cell 3:1"
    longer = json.dumps(notebook(code("a = 0"), *CELLS["cells"][1:])).encode()
    assert row_for_people(name, 4, longer) == (3, 2)
    path.write_bytes(longer)
    os.utime(path, ns=(0, 0))
    assert line_at(name, 1) == "a = 0\n"


def test_lines_of_a_script_are_those_of_its_file(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_text("x = 1\ny = 2\n")
    assert line_at(str(path), 2) == "y = 2\n"
    assert list(python_lines(str(path))) == ["x = 1\n", "y = 2\n"]
    assert (row_for_people(str(path), 2), line_name(str(path), 2)) == ((None, 2), "2")


def test_a_notebook_that_is_gone_has_no_lines(tmp_path: Path) -> None:
    name = str(tmp_path / "a.ipynb")
    assert (line_at(name, 1), list(python_lines(name)), row_for_people(name, 1)) == ("", [], (None, 1))
