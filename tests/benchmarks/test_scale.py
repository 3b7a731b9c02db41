"""The figures of large projects come from projects that are what they are said to be."""

from __future__ import annotations

import ast
from pathlib import Path

from benchmarks.scale import IMPORTS, generate, growth


def test_generated_modules_import_earlier_ones(tmp_path: Path) -> None:
    assert generate(tmp_path, 30) == sum(path.read_text().count("\n") for path in tmp_path.iterdir())
    imported = {}
    for number in range(30):
        tree = ast.parse((tmp_path / f"module_{number}.py").read_text())
        froms = [one.module or "" for one in tree.body if isinstance(one, ast.ImportFrom)]
        imported[number] = [int(one.partition("_")[2]) for one in froms if one.startswith("module_")]
    assert all(other < number for number, others in imported.items() for other in others)
    assert any(imported.values())
    assert max(map(len, imported.values())) <= IMPORTS


def test_a_growing_project_is_measured_in_the_real_command() -> None:
    (few,) = growth([3])
    assert few["cpu_seconds"] > 0
    assert few["peak_mib"] > 10
