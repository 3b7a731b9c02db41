"""Cells as Python that runs: line by line where they were, IPython's own as calls of it."""

from __future__ import annotations

import pytest

from accel_advisor.source.notebook import Notebook
from accel_advisor.source.runnable_cells import RunnableCells

from .notebooks import code, document, notebook


def runnable(*cells: str) -> RunnableCells:
    read = document(notebook(*map(code, cells))).notebook
    assert isinstance(read, Notebook)
    return RunnableCells.of(read)


def call(words: str) -> str:
    return f"exec(get_ipython().transform_cell({words!r}))"


@pytest.mark.parametrize(
    "text",
    ["x = 1\nprint('%s'\n      % x)\n", "s = '''\n!ls\n'''", "await train()", "x = (", ""],
)
def test_python_stays_as_it_is(text: str) -> None:
    assert runnable(text).cells[0].python == text


@pytest.mark.parametrize(
    ("text", "python"),
    [
        ("%matplotlib inline\nx = 1", f"{call('%matplotlib inline')}\nx = 1"),
        ("if x:\n    !ls {x}\ny", f"if x:\n    {call('!ls {x}')}\ny"),
        ("!echo \\\n  a\nx", call("!echo \\\n  a") + "\n\nx"),
        ("files = !ls -l\nx", "files = get_ipython().getoutput('ls -l')\nx"),
        ("t = %timeit -o f()", "t = get_ipython().run_line_magic('timeit', '-o f()')"),
        ("%%bash\nls\n", call("%%bash\nls") + "\n\n"),
    ],
)
def test_what_is_ipythons_is_called_on_its_own_lines(text: str, python: str) -> None:
    found = runnable(text)
    assert found.cells[0].python == python
    assert found.cells[0].python.count("\n") == text.count("\n")
    assert [one.cell for one in found.magics] == [2]


def test_what_is_timed_runs_as_it_stands() -> None:
    found = runnable("%%time\nx = f()", "%time x = f()")
    assert [one.python for one in found.cells] == ["0     \nx = f()", "0    ;x = f()"]
    assert not found.magics


@pytest.mark.parametrize("text", ["model?", "?model", "%accel tune", "%load_ext accel_advisor", "%tensorboard --x"])
def test_what_only_shows_something_is_left_out_without_a_word(text: str) -> None:
    found = runnable(f"{text}\nx = 1")
    assert found.cells[0].python.split() == ["0", "x", "=", "1"]
    assert not found.magics
    assert not found.left_out


@pytest.mark.parametrize(
    ("text", "installs"),
    [
        ("!pip install -q einops", True),
        ("%pip install einops", True),
        ("pip install einops", True),
        ("!{sys.executable} -m pip install \\\n  einops", True),
        ("!cd x && pip install -e .", True),
        ("%conda install -y einops", True),
        ("!apt-get -y install ffmpeg", True),
        ("%%bash\nuv pip install einops", True),
        ("!wget https://example.com/pip-install.zip", False),
        ("!ls pip", False),
    ],
)
def test_nothing_is_installed(text: str, installs: bool) -> None:
    found = runnable(text)
    assert [one.text for one in found.left_out] == ([text] if installs else [])
    assert bool(found.magics) is not installs


def test_rows_are_those_of_the_program() -> None:
    read = document(notebook(code("a = 1\r\nb = 2"), code("c = 3"), code("d = 4"))).notebook
    assert read is not None
    lines = read.text.splitlines()
    assert [lines[one.row - 1] for one in RunnableCells.of(read).cells] == ["a = 1", "c = 3", "d = 4"]
