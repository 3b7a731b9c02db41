"""Whether the code of a script names a DataLoader: asked in a process of its own, as in a trial."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ASKS = "from accel_advisor.tuning.probe.plain.named_loader import names_loader\nprint(names_loader())\n"


def asked(folder: Path, **sources: str) -> bool:
    for name, text in sources.items():
        (folder / f"{name}.py").write_text(text)
    ran = subprocess.run(
        [sys.executable, "main.py"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=True,
    )
    return {"True\n": True, "False\n": False}[ran.stdout]


@pytest.mark.parametrize("name", ["class DataLoader: pass\n", "def f():\n    return torch.utils.data.DataLoader(x)\n"])
def test_in_the_script_or_in_what_it_imports(tmp_path: Path, name: str) -> None:
    assert asked(tmp_path, main=name + ASKS)
    assert asked(tmp_path, main="import data\n" + ASKS, data=name)


def test_comments_other_files_and_libraries_do_not_count(tmp_path: Path) -> None:
    main = "import torch.utils.data, data\nx = 1  # no DataLoader\n" + ASKS
    assert not asked(tmp_path, main=main, data="", unused="DataLoader")
