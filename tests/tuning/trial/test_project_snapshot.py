"""What counts as a change of the project's files."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from accel_advisor import lint
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
