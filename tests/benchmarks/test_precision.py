"""What is recorded of the precision on other people's code."""

from __future__ import annotations

import importlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "benchmarks" / "precision"


@pytest.fixture
def scripts(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[ModuleType, ModuleType]]:
    monkeypatch.syspath_prepend(str(FOLDER))
    yield importlib.import_module("sample"), importlib.import_module("figure")
    sys.modules.pop("sample"), sys.modules.pop("figure")


def run(folder: Path, name: str, *args: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, folder / name, *args]
    return subprocess.run(command, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True)


def test_the_page_shows_what_was_read() -> None:
    page = (FOLDER / "README.md").read_text(encoding="utf-8")
    for one in json.loads((FOLDER / "samples.json").read_text(encoding="utf-8")):
        printed = run(FOLDER, "figure.py", "--sample", one["sample"])
        assert printed.returncode == 0, printed.stderr
        assert f"**all** | {one['size']} |" in printed.stdout
        assert printed.stdout in page


def test_a_sample_that_is_not_read_has_no_figure(tmp_path: Path) -> None:
    copy = shutil.copytree(FOLDER, tmp_path / "precision")
    lines = (copy / "verdicts.csv").read_text(encoding="utf-8").splitlines()
    *place, _, _ = lines[-1].split(",")[:9]
    (copy / "verdicts.csv").write_text("\n".join([*lines[:-1], ",".join([*place, "", ""])]) + "\n", encoding="utf-8")
    done = run(copy, "figure.py")
    assert done.returncode == 1
    assert "has no verdict; write right, weak or wrong" in done.stderr


@pytest.mark.parametrize(
    ("hits", "size", "low", "high"), [(0, 10, 0.0, 0.2775), (10, 10, 0.7225, 1.0), (195, 200, 0.9428, 0.9893)]
)
def test_intervals(scripts: tuple[ModuleType, ModuleType], hits: int, size: int, low: float, high: float) -> None:
    assert scripts[1].wilson(hits / size, size) == pytest.approx((low, high), abs=1e-4)


def test_the_table_counts_weak_ones_as_right(scripts: tuple[ModuleType, ModuleType]) -> None:
    sample, figure = scripts
    read = [
        sample.Verdict("1", "a/b", "c", "d.py", "1", "ACC101", "info", verdict)
        for verdict in ("right", "weak", "weak", "wrong")
    ]
    *_, rule, everything = figure.table(read)
    assert rule.startswith("| ACC101 | 4 | 3 | 2 | 1 | 75.0 % (")
    assert everything == rule.replace("ACC101", "**all**")


def test_findings_of_a_checkout(scripts: tuple[ModuleType, ModuleType], tmp_path: Path) -> None:
    sample, _ = scripts
    root = tmp_path / "owner+name"
    (root / "examples").mkdir(parents=True)
    code = "import torch\n\nx = torch.zeros(8)\nx.to('cuda')\nprint(x)\n"
    (root / "examples" / "train.py").write_text(code)
    (root / "left_out.py").write_text(code)
    checkout = sample.Checkout.parse(f"{root}:examples")
    (finding,) = checkout.findings()
    assert checkout.place(finding) == sample.Place("owner/name", "examples/train.py", "4", "ACC207")
    assert "\n4> x.to('cuda')\n" in sample.shown(checkout, finding)


def test_other_peoples_code_stays_outside(tmp_path: Path) -> None:
    done = run(FOLDER, "sample.py", "--seed", "1", "--worklist", str(ROOT / "worklist.md"), str(tmp_path))
    assert done.returncode == 2
    assert "outside of this repository" in done.stderr
