"""On a GPU: a tensor that is made on the host in each step is a fix that pays."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from benchmarks.gpu.races import PAYS, race

torch = pytest.importorskip("torch")


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs an accelerator")
def test_making_a_matrix_on_the_device_pays(tmp_path: Path) -> None:
    found = race(tmp_path / "raced", quick=False, rules=(PAYS,))
    assert found["pays"], [one["sentence"] for one in found["raced"]]
