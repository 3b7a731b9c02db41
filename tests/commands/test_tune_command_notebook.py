"""``tune train.ipynb`` where cells do not run. A trial that comes to its end is that of tests/kernel."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from ..source.notebooks import code, notebook


def lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def written(path: Path, *cells: str) -> bytes:
    """A notebook with outputs, identities and escapes of its own, as it stands on disk."""
    saved = [{"name": "stdout", "output_type": "stream", "text": ["saved\n"]}]
    data = notebook(*(code(lines(one), id=f"c{at}", outputs=saved) for at, one in enumerate(cells)))
    raw = (json.dumps(data, indent=3) + "\n\n").encode()
    path.write_bytes(raw)
    return raw


def tuned(*args: str, folder: Path, temporary: Path) -> subprocess.CompletedProcess[str]:
    """The command, with a folder for temporary files of its own, where trials of other tests have no lock."""
    return subprocess.run(
        [sys.executable, "-m", "accel_advisor", "tune", *args],
        cwd=folder,
        env={**os.environ, "TMPDIR": str(temporary), "COLUMNS": "200"},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        (("x = 1", "y = 2\n1 / 0"), ('train.ipynb", cell 3, line 2', "ZeroDivisionError", "one after the other")),
        (("print(model)", "model = 1"), ("cell 2, line 1", "name 'model' is not defined", "one after the other")),
        (("input('epochs? ')",), ("cell 2, line 1", "it asks a question", "or a value in the notebook")),
        (("!pip install nix_da", "import nix_da"), ("cell 3, line 1", "`nix_da` is not installed for")),
        (("x = (",), ("cell 2, line 1\n    x = (", "SyntaxError")),
    ],
)
def test_cells_that_do_not_run_are_named(tmp_path: Path, cells: tuple[str, ...], words: tuple[str, ...]) -> None:
    before = written(tmp_path / "train.ipynb", *cells)
    (tmp_path / "t").mkdir()
    done = tuned("train.ipynb", folder=tmp_path, temporary=tmp_path / "t")
    assert done.returncode == 2
    assert [one for one in words if one not in done.stderr] == []
    assert "probe" not in done.stderr
    assert (tmp_path / "train.ipynb").read_bytes() == before
