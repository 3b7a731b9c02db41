"""The comparison with other linters shows what is recorded of it."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

RIVALS = Path(__file__).resolve().parents[2] / "benchmarks" / "rivals"


def command(folder: Path, name: str) -> str:
    return subprocess.run(
        [sys.executable, folder / "compare.py", name], capture_output=True, text=True, check=True
    ).stdout


def test_the_tables_are_those_of_the_records() -> None:
    rows = [line for line in command(RIVALS, "table").splitlines() if line.startswith("| ")]
    shown = (RIVALS / "README.md").read_text(encoding="utf-8").splitlines()
    assert len(rows) > 40
    assert [row for row in rows if row not in shown] == []


def test_everything_that_is_drawn_was_read(tmp_path: Path) -> None:
    copy = shutil.copytree(RIVALS, tmp_path / "rivals")
    command(copy, "sample")
    drawn = (copy / "sample.csv").read_text(encoding="utf-8")
    assert drawn == (RIVALS / "sample.csv").read_text(encoding="utf-8")
    assert ",,\n" not in drawn
