"""A notebook as a script: what it lacks, what is left out of it, and where its tracebacks point."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from accel_advisor.source.notebook import Notebook
from accel_advisor.tuning.target.notebook_script import in_cells, lack_of, left_out
from accel_advisor.tuning.target.remedies import remedy_of
from accel_advisor.tuning.target.user_command import TargetError, script_command

from ...source.notebooks import code, notebook

MAGIC = notebook(code("x = 1"), code("%matplotlib inline"))


def read(data: object) -> Notebook:
    return Notebook(json.dumps(data).encode())


def test_a_notebook_without_python_cannot_be_run() -> None:
    assert "a.ipynb has no code cell in Python" in lack_of("a.ipynb", read(notebook()))
    assert "a.ipynb has no code cell in Python" in lack_of("a.ipynb", read(notebook(code("\n"))))
    assert lack_of("a.ipynb", read(MAGIC)) == ""


def test_magics_need_ipython(tmp_path: Path) -> None:
    (tmp_path / "magic.ipynb").write_text(json.dumps(MAGIC))
    (tmp_path / "plain.ipynb").write_text(json.dumps(notebook(code("x = 1\nmodel?"))))
    program = (
        "import sys; sys.modules['IPython'] = None; from pathlib import Path\n"
        "import importlib.util as found; find = found.find_spec\n"
        "found.find_spec = lambda name, *rest: None if name == 'IPython' else find(name, *rest)\n"
        "from accel_advisor.source.notebook import Notebook\n"
        "from accel_advisor.tuning.target.notebook_script import lack_of\n"
        "for one in ('magic', 'plain'): print(lack_of(one, Notebook(Path(f'{one}.ipynb').read_bytes())))"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == (
        "cell 3 of magic needs IPython for `%matplotlib inline`, and IPython is not installed for "
        f"{sys.executable}: `{sys.executable} -m pip install ipython`\n\n"
    )


def test_what_would_install_is_named() -> None:
    cells = notebook(code("!pip install \\\n  einops"), code("!ls"))
    assert left_out(read(cells)) == ["`!pip install einops` in cell 2 was left out: a trial installs nothing"]


def test_a_traceback_names_cell_and_line(tmp_path: Path) -> None:
    path = tmp_path / "a.ipynb"
    path.write_text(json.dumps(notebook(code("x = 1"), code("y = 2\n1 / 0"))))
    text = f'  File "{path}", line 4, in <module>\n  File "{tmp_path / "b.py"}", line 4, in f\n'
    assert in_cells(text, path) == text.replace(f'{path}", line 4', f'{path}", cell 3, line 2')
    assert in_cells(text, tmp_path / "b.py") == text


def test_a_notebook_runs_in_its_own_folder_without_arguments(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "a.ipynb"
    assert script_command(path, (), tmp_path).cwd == tmp_path / "deep"
    assert script_command(tmp_path / "deep" / "a.py", ("--x",), tmp_path).cwd == tmp_path
    with pytest.raises(TargetError, match="takes no arguments"):
        script_command(path, ("--x",), tmp_path)


@pytest.mark.parametrize("name", ["display", "get_ipython"])
def test_names_of_ipython_have_a_remedy(tmp_path: Path, name: str) -> None:
    failure = f"NameError: name '{name}' is not defined"
    remedy = remedy_of(failure, ["a.ipynb"], tmp_path / "a.ipynb", tmp_path)
    assert remedy == f"`{name}` is IPython's: `{sys.executable} -m pip install ipython`"
    assert remedy_of(failure, ["a.py"], tmp_path / "a.py", tmp_path) != remedy
    assert remedy_of(f"NameError: name '{name}_it' is not defined", ["a"], tmp_path / "a.ipynb", tmp_path) == ""
