"""Fixes of whole projects: the copy that is fixed is the project that is read."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.fix_check.project import KINDS, check, copied, lint
from benchmarks.fix_check.rows import names_lost, stray_lines

OPERATION = """
import torch
from torch.cuda.amp import custom_fwd


class Encode(torch.autograd.Function):
    @staticmethod
    @custom_fwd
    def forward(ctx, x):
        return x
"""
ASKS = "import torch\nfrom encoding.ops import Encode\nif torch.__version__ < '2':\n    print(Encode, 'old')\n"
TRAINS = """
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

loader = DataLoader(TensorDataset(torch.zeros(64, 8), torch.zeros(64)), batch_size=16, num_workers=4)
model = nn.Linear(8, 2).cuda()
for x, y in loader:
    model(x.cuda()).sum().backward()
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A repository one folder of which would be a project of its own, were it none."""
    folder = tmp_path / "project"
    for name, text in {
        "encoding/__init__.py": "",
        "encoding/setup.py": "from setuptools import setup\nsetup(name='encoding')\n",
        "encoding/ops.py": OPERATION,
        "main.py": ASKS,
        "train.py": TRAINS,
    }.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    (folder / ".git").mkdir()
    return folder


def test_a_copy_is_read_as_its_project_is(project: Path, tmp_path: Path) -> None:
    first = lint(project)
    assert {one["code"] for one in first} == {"ACC101", "ACC201"}
    copy = copied(project, tmp_path / "copy")
    assert lint(copy) == first
    (copy / ".git").rmdir()
    assert "ACC402" in {one["code"] for one in lint(copy)}


@pytest.mark.parametrize("kind", KINDS)
def test_all_fixes_of_a_project_are_as_they_must_be(kind: str, project: Path, tmp_path: Path) -> None:
    outcome = check(project, tmp_path / "scratch", kind, lint(project))
    assert (outcome.fixes, outcome.files, outcome.wrong, outcome.new) == (2, 1, [], [])


def test_an_import_without_a_use_goes_unnamed_and_another_line_does_not() -> None:
    before = b"import gc\nimport os\n\n\ndef f():\n    gc.collect()\n    return os.getpid()\n"
    after = before.replace(b"import gc\n", b"").replace(b"    gc.collect()\n", b"")
    assert stray_lines(before, after, {6}) == []
    assert names_lost(before, after) == set()
    wrong = after.replace(b"import os\n", b"")
    assert names_lost(before, wrong) == {"os"}
    assert stray_lines(before, before.replace(b"def f", b"def g"), {9}) == [5]
