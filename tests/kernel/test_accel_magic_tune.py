"""``%accel tune`` in a real kernel: one trial of a notebook, applied, and what it shows and leaves of the file."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from ..source.notebooks import code, lines, notebook
from .test_accel_magic import outputs

SETUP = """\
%matplotlib inline
!pip install \\
    nothing-of-that-name
import time
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, get_worker_info
torch.set_num_threads(1)
words = !echo über
assert words == ["über"]"""
DATA = """\
class Slow(Dataset):
    def __len__(self):
        return 400_000

    def __getitem__(self, index):
        time.sleep(0.003 * max(1, getattr(get_worker_info(), "num_workers", 0) ** 2 / 4))  # two read best
        return torch.randn(8), torch.zeros(())"""
LOADER = """\
data = Slow()
display(data); loader = DataLoader(data, batch_size=8)  # für alle
data?"""
TRAIN = """\
%%time
model = nn.Linear(8, 1)
for x, y in loader:
    model.zero_grad()
    nn.functional.mse_loss(model(x).squeeze(), y).backward()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter -= 0.1 * parameter.grad"""
AFTER = "raise SystemError('no trial comes so far')"


@dataclass(frozen=True)
class Run:
    """What became of a notebook, and what was shown of it."""

    before: bytes
    after: bytes
    files: set[str]
    text: str
    markup: str


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    folder, temporary = tmp_path_factory.mktemp("nb"), tmp_path_factory.mktemp("t")
    (folder / "deep").mkdir()
    (folder / "pyproject.toml").write_text("[project]\nname = 'x'\nversion = '1'\n")
    path = folder / "deep" / "train.ipynb"
    saved = [{"name": "stdout", "output_type": "stream", "text": ["saved\n"]}]
    cells = (code(lines(one), id=f"c{at}", outputs=saved) for at, one in enumerate((SETUP, DATA, LOADER, TRAIN, AFTER)))
    before = (json.dumps(notebook(*cells), indent=3) + "\n\n").encode()
    path.write_bytes(before)
    tune = "%accel tune deep/train.ipynb --apply --budget 40 --knobs num_workers"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TMPDIR", str(temporary))  # where trials of other tests have no lock
        *_, shown = outputs(folder, "%load_ext accel_advisor", tune, timeout=400)
    files = {str(one.relative_to(folder)) for one in folder.rglob("*") if one.is_file()}
    assert "data" in shown[0], shown
    yield Run(before, path.read_bytes(), files, shown[0]["data"]["text/plain"], shown[0]["data"]["text/html"])
    assert not list(temporary.glob("accel-advisor-*/*"))


def test_nothing_changes_but_the_line_of_the_loader(run: Run) -> None:
    assert "Applied and verified" in run.text, run.text
    old, new = run.before.splitlines(), run.after.splitlines()
    changed = [number for number, pair in enumerate(zip(old, new, strict=True)) if pair[0] != pair[1]]
    assert len(changed) == 1
    written = new[changed[0]].replace(old[changed[0]].partition(b"batch_size=8")[0] + b"batch_size=8", b"")
    assert re.fullmatch(rb", num_workers=[1-9]\d*\)" + re.escape(old[changed[0]].partition(b"=8)")[2]), written)
    assert run.files == {"deep/train.ipynb", "pyproject.toml"}


def test_places_are_those_of_cells(run: Run) -> None:
    assert "built at deep/train.ipynb:cell 4:2; decided by the call of `loader` (train.ipynb:cell 4:2)" in run.text
    assert "--- a/deep/train.ipynb:cell 4" in run.text
    assert "Slow.__getitem__" in run.text
    assert "deep/train.ipynb:cell 3:6" in run.text


def test_what_was_left_out_is_said(run: Run) -> None:
    left_out = "`!pip install nothing-of-that-name` in cell 2 was left out: a trial installs nothing"
    assert left_out in " ".join(run.text.split())


def test_the_same_is_shown_as_html(run: Run) -> None:
    assert "<td>num_workers=0</td>" in run.markup
    assert re.search(r'<tr class="best"><td>num_workers=[1-9]', run.markup)
    assert "+display(data); loader = DataLoader(data, batch_size=8, num_workers=" in run.markup
    assert "<p>Applied and verified: the new source runs" in run.markup
    assert "reload the notebook from disk" in run.markup
    assert "<code>!pip install nothing-of-that-name</code>" in run.markup
    assert "prefers-color-scheme: dark" in run.markup


def test_wrong_use_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "My Notebooks").mkdir()
    for name in ("empty.ipynb", "My Notebooks/empty one.ipynb"):
        (tmp_path / name).write_text(json.dumps(notebook()))
    asked = (
        *("tune", "tune gone.ipynb", "tune train.py", "tune --budget soon", "tune empty.ipynb", "mend"),
        *("tune 'My Notebooks/empty one.ipynb'", r"tune My\gone.ipynb", 'tune "My Notebooks', "tune #.ipynb"),
    )
    _, *said = outputs(tmp_path, "%load_ext accel_advisor", *(f"%accel {one}" for one in asked))
    shown = ["".join(one.get("text", "") or one.get("evalue", "") for one in each) for each in said]
    for text, words in zip(
        shown,
        (
            "does not say which file this notebook is saved in: name it, as in `%accel tune train.ipynb`",
            "gone.ipynb does not exist: save the notebook",
            "train.py is no notebook: name it",
            "invalid float value: 'soon'",
            "empty.ipynb has no code cell in Python",
            "invalid choice: 'mend'",
            "empty one.ipynb has no code cell in Python",
            r"My\gone.ipynb does not exist: save the notebook",
            'tune "My Notebooks: a quote is not closed',
            "#.ipynb does not exist",
        ),
        strict=True,
    ):
        assert words in text
        assert "Traceback" not in text
