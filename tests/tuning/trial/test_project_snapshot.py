"""What counts as a change of the project's files."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


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
