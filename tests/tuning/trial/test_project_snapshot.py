"""What counts as a change of the project's files."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from accel_advisor import lint
from accel_advisor.linting.cache import FOLDER
from accel_advisor.tuning.trial.project_snapshot import Tree


def test_the_files_that_the_command_prints_to_are_no_change(tmp_path: Path) -> None:
    """As with ``accel-advisor tune > tune.log`` in the folder of the project."""
    code = (
        "from pathlib import Path\n"
        "from accel_advisor.tuning.trial.project_snapshot import Tree\n"
        "tree = Tree.scan([Path('.')])\n"
        "print('more', flush=True)\n"
        "Path('other.txt').write_text('')\n"
        "print(tree.changed())\n"
    )
    with (tmp_path / "tune.log").open("wb") as log:
        subprocess.run([sys.executable, "-c", code], cwd=tmp_path, stdout=log, stderr=log, check=True, timeout=60)
    assert (tmp_path / "tune.log").read_text() == "more\n('./other.txt',)\n"


def test_the_files_that_slurm_writes_of_the_job_are_no_change(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = ["slurm-417.out", "train-417_2.err", "slurm-4170.out", "417.pt"]
    monkeypatch.setenv("SLURM_JOB_ID", "417")
    tree = Tree.scan([tmp_path])
    for name in files:
        (tmp_path / name).write_text("")
    assert tree.changed() == tuple(sorted(str(tmp_path / name) for name in files[2:]))
    monkeypatch.delenv("SLURM_JOB_ID")
    assert tree.changed() == tuple(sorted(str(tmp_path / name) for name in files))


TRAINS_LATE = """\
import os
import time

while not os.path.exists(os.environ["LINTED"]):
    time.sleep(0.02)

import torch
from torch.utils.data import DataLoader, Dataset


class Waits(Dataset):
    def __len__(self):
        return 100_000

    def __getitem__(self, index):
        time.sleep(0.001)
        return torch.zeros(8)


model = torch.nn.Linear(8, 1)
for batch in DataLoader(Waits(), batch_size=8):
    model(batch).sum().backward()
"""


def test_what_runs_beside_a_real_trial(tmp_path: Path, temporary: Path) -> None:
    """Lints, as an editor has them made, are no change of the project; what somebody else writes there is one."""
    project, record = tmp_path / "project", tmp_path / "trial.json"
    project.mkdir()
    (project / "train.py").write_text(TRAINS_LATE)
    (project / "pyproject.toml").write_text("[project]\nname = 'a'\nversion = '1'\n")
    own = [sys.executable, "-m", "accel_advisor"]
    linted = tmp_path / "linted"
    environment = {**os.environ, "TMPDIR": str(temporary), "OMP_NUM_THREADS": "1", "LINTED": str(linted)}
    words = ["tune", "train.py", "--budget", "5", "--knobs", "pin_memory", "--json", str(record)]
    tune = subprocess.Popen([*own, *words], cwd=project, env=environment, stdout=subprocess.DEVNULL)
    while tune.poll() is None and not any(temporary.iterdir()):
        time.sleep(0.02)  # before that the trial looks at the project
    for _ in range(3):
        shutil.rmtree(project / FOLDER, ignore_errors=True)  # so that each lint writes there
        subprocess.run([*own, "lint", "train.py", "--exit-zero"], cwd=project, stdout=subprocess.DEVNULL, check=True)
        (project / "notes.txt").write_text("notes")
    assert tune.poll() is None
    linted.touch()
    assert tune.wait() == 0
    assert (project / FOLDER / "lint.json").exists()
    assert json.loads(record.read_bytes())["leaked"] == ["notes.txt"]


def test_a_lint_beside_the_trial_is_no_change(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text("import torch\n")
    (tmp_path / "pyproject.toml").write_text("[project]\nname = 'a'\nversion = '1'\n")
    before = Tree.scan([tmp_path])
    lint([tmp_path])
    kept = [one.name for one in tmp_path.iterdir() if one.name not in ("train.py", "pyproject.toml")]
    assert kept
    assert before.changed() == ()
    (tmp_path / "checkpoint.pt").write_text("")
    assert before.changed() == (str(tmp_path / "checkpoint.pt"),)
