"""Modules that import names from each other."""

from __future__ import annotations

from pathlib import Path

from accel_advisor.analysis.project import analyze
from accel_advisor.source.document import Document


def test_a_name_that_two_modules_import_from_each_other(tmp_path: Path) -> None:
    (tmp_path / "one.py").write_text("import torch\ntry:\n    from two import thing\nexcept ImportError:\n    pass\n")
    (tmp_path / "two.py").write_text("import torch\nfrom one import thing\nthing()\n")
    path = tmp_path / "train.py"
    path.write_text("import torch\nfrom two import thing\nthing()\ntorch.cuda.synchronize()\n")
    analysis = analyze([Document.read(path)], tmp_path)
    assert not analysis.failures
    assert [one.what.full for one in analysis.facts[str(path)].operations] == ["torch.cuda.synchronize"]
