"""The cells of a notebook, run one after the other in a process of their own."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from accel_advisor.source.notebook import Notebook
from accel_advisor.tuning.target.notebook_script import cells_of

from ....source.notebooks import code, notebook

PROGRAM = """\
import json, sys
{before}
from accel_advisor.tuning.probe.script import runner
script, cells = json.load(sys.stdin)
sys.path.insert(0, "")
ending = runner.run(script, None, [], ".", cells)
print(json.dumps([ending.status, ending.traceback]))
"""


def ran(folder: Path, *cells: str, before: str = "") -> tuple[list[str], int, str]:
    """What the cells print, the exit status, and the traceback."""
    raw = json.dumps(notebook(*map(code, cells))).encode()
    (folder / "train.ipynb").write_bytes(raw)
    given: list[Any] = ["train.ipynb", cells_of(Notebook(raw))]
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(before=before)],
        input=json.dumps(given),
        capture_output=True,
        text=True,
        cwd=folder,
        check=True,
    )
    *said, ending = done.stdout.splitlines()
    status, traceback = json.loads(ending)
    return said, status, traceback


def test_cells_run_in_their_order_in_one_module(tmp_path: Path) -> None:
    (tmp_path / "beside.py").write_text("value = 3\n")
    said, status, traceback = ran(
        tmp_path,
        "from __future__ import annotations\nimport beside, sys\n%matplotlib inline\n%env LEVEL=7",
        "import asyncio, os\nawait asyncio.sleep(0)\nwords = !echo a b",
        "def kept(x: Unknown): ...\nclass Data: pass",
        "print(beside.value, os.environ['LEVEL'], words[0], __name__, Data.__module__)",
        "%%capture\nprint(sys.argv, '__file__' in globals(), kept.__annotations__)\n!echo from a shell",
        "display(words); get_ipython().run_line_magic('env', 'LEVEL')",
        "import inspect\nprint(inspect.getsource(kept))",
    )
    assert (status, traceback) == (0, "")
    assert said[-6:] == [
        "3 7 a b __main__ __main__",
        "['train.ipynb'] False {'x': 'Unknown'}",
        "from a shell",
        "['a b']",
        "def kept(x: Unknown): ...",
        "",
    ]


def test_a_cell_that_raises_ends_it_at_its_line(tmp_path: Path) -> None:
    said, status, traceback = ran(tmp_path, "print(1)", "x = 1\n1 / 0", "print(2)")
    assert (said, status) == (["1"], 1)
    assert f'File "{tmp_path / "train.ipynb"}", line 4, in <module>\n    1 / 0' in traceback


def test_a_cell_that_is_not_python_shows_its_own_line(tmp_path: Path) -> None:
    said, status, traceback = ran(tmp_path, "print(1)", "x = (", "print(2)")
    assert (said, status) == (["1"], 1)
    assert "    x = (\n" in traceback
    assert "SyntaxError" in traceback


@pytest.mark.parametrize(("cell", "status"), [("print(1)", 0), ("display(1)", 1)])
def test_without_ipython_the_python_runs(tmp_path: Path, cell: str, status: int) -> None:
    before = (
        "import importlib.util as found\nfind = found.find_spec\n"
        "found.find_spec = lambda name, *rest: None if name == 'IPython' else find(name, *rest)"
    )
    _, ended, traceback = ran(tmp_path, cell, before=before)
    assert ended == status
    assert ("name 'display' is not defined" in traceback) is bool(status)
