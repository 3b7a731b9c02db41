"""Where a script stands beside the sources of a library that the tables know."""

from __future__ import annotations

from pathlib import Path

import pytest

from accel_advisor.analysis.project import analyze
from accel_advisor.records.facts import Facts
from accel_advisor.source.document import Document

SCRIPT = """\
import torch
from torch_geometric.loader import DataLoader
loader = DataLoader([], batch_size=2)
"""


def _facts(path: Path, root: Path) -> Facts:
    return analyze([Document.read(path)], root).facts[str(path)]


def _write(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


@pytest.mark.parametrize("home", ["torch_geometric", "src/torch_geometric"])
def test_takes_the_library_from_the_tables(tmp_path: Path, home: str) -> None:
    _write(tmp_path, {f"{home}/__init__.py": "", f"{home}/loader.py": "class DataLoader: pass\n"})
    _write(tmp_path, {"examples/train.py": SCRIPT})
    facts = _facts(tmp_path / "examples/train.py", tmp_path)
    assert [one.constructor.name for one in facts.loaders] == ["torch_geometric.loader.DataLoader"]
    assert not any("torch_geometric" in one for one in facts.consulted)


def test_takes_what_lies_beside_the_script_as_python_does(tmp_path: Path) -> None:
    _write(tmp_path, {"torch_geometric/__init__.py": "", "torch_geometric/loader.py": "class DataLoader: pass\n"})
    _write(tmp_path, {"train.py": SCRIPT})
    facts = _facts(tmp_path / "train.py", tmp_path)
    assert not facts.loaders
    assert any("torch_geometric" in one for one in facts.consulted)


def test_reads_the_sources_of_a_library_from_within(tmp_path: Path) -> None:
    _write(tmp_path, {"torch_geometric/__init__.py": "", "torch_geometric/loader.py": "class DataLoader: pass\n"})
    _write(tmp_path, {"torch_geometric/nn/train.py": SCRIPT})
    facts = _facts(tmp_path / "torch_geometric/nn/train.py", tmp_path)
    assert not facts.loaders
    assert any("loader.py" in one for one in facts.consulted)
