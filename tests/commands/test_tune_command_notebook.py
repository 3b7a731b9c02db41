"""``tune train.ipynb``: one real trial, applied, and what it leaves of the notebook; and cells that do not run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from ..source.notebooks import code, notebook

SETUP = """\
%matplotlib inline
!pip install \\
    nothing-of-that-name
import time
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset
torch.set_num_threads(1)
words = !echo über
assert words == ["über"]"""
DATA = """\
class Slow(Dataset):
    def __len__(self):
        return 4000

    def __getitem__(self, index):
        time.sleep(0.003)
        return torch.randn(8), torch.zeros(())"""
LOADER = """\
data = Slow()
display(data); loader = DataLoader(data, batch_size=8)  # für alle
data?"""
TRAIN = """\
%%time
model = nn.Linear(8, 1)
optimizer = torch.optim.SGD(model.parameters(), 0.1)
for x, y in loader:
    optimizer.zero_grad()
    nn.functional.mse_loss(model(x).squeeze(), y).backward()
    optimizer.step()"""
AFTER = "raise SystemError('no trial comes so far')"


def lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def written(path: Path, *cells: str) -> bytes:
    """A notebook with outputs, identities and escapes of its own, as it stands on disk."""
    saved = [{"name": "stdout", "output_type": "stream", "text": ["saved\n"]}]
    data = notebook(*(code(lines(one), id=f"c{at}", outputs=saved) for at, one in enumerate(cells)))
    raw = (json.dumps(data, indent=3) + "\n\n").encode()
    path.write_bytes(raw)
    return raw


@dataclass(frozen=True)
class Run:
    """What became of a notebook."""

    before: bytes
    after: bytes
    files: set[str]
    record: dict[str, Any]
    out: str
    err: str


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


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    folder, temporary = tmp_path_factory.mktemp("nb"), tmp_path_factory.mktemp("t")
    (folder / "deep").mkdir()
    (folder / "pyproject.toml").write_text("[project]\nname = 'x'\nversion = '1'\n")
    path = folder / "deep" / "train.ipynb"
    before = written(path, SETUP, DATA, LOADER, TRAIN, AFTER)
    options = ("--apply", "--budget", "12", "--knobs", "num_workers", "--json", "trial.json")
    done = tuned("deep/train.ipynb", *options, folder=folder, temporary=temporary)
    assert done.returncode == 0, done.stderr
    files = {str(one.relative_to(folder)) for one in folder.rglob("*") if one.is_file()}
    record = json.loads((folder / "trial.json").read_text())
    yield Run(before, path.read_bytes(), files, record, done.stdout, done.stderr)
    assert not list(temporary.glob("accel-advisor-*/*"))


def test_nothing_changes_but_the_line_of_the_loader(run: Run) -> None:
    assert run.record["applied"], run.out
    old, new = run.before.splitlines(), run.after.splitlines()
    changed = [number for number, pair in enumerate(zip(old, new, strict=True)) if pair[0] != pair[1]]
    assert len(changed) == 1
    workers = run.record["loaders"][0]["recommended"]["settings"]["num_workers"]
    expected = old[changed[0]].replace(b"batch_size=8)", f"batch_size=8, num_workers={workers})".encode())
    assert new[changed[0]] == expected
    assert run.files == {"deep/train.ipynb", "pyproject.toml", "trial.json"}


def test_places_are_those_of_cells(run: Run) -> None:
    site = {"filename": "deep/train.ipynb", "row": 2, "cell": 4}
    assert run.record["built"] == run.record["loaders"][0]["site"] == site
    edit = run.record["loaders"][0]["edits"][0]
    assert (edit["cell"], edit["location"]["row"]) == (4, 2)
    assert "built at deep/train.ipynb:cell 4:2; decided by the call of `loader` (train.ipynb:cell 4:2)" in run.out
    assert "--- a/deep/train.ipynb:cell 4" in run.out
    assert "Slow.__getitem__  deep/train.ipynb:cell 3:6  time.sleep(0.003)" in run.out


def test_what_was_left_out_is_said(run: Run) -> None:
    said = "`!pip install nothing-of-that-name` in cell 2 was left out: a trial installs nothing"
    assert said in run.record["notes"]


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        (("x = 1", "y = 2\n1 / 0"), ('train.ipynb", cell 3, line 2', "ZeroDivisionError", "one after the other")),
        (("print(model)", "model = 1"), ("cell 2, line 1", "name 'model' is not defined", "one after the other")),
        (("input('epochs? ')",), ("cell 2, line 1", "it asks a question", "or the cell itself")),
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
