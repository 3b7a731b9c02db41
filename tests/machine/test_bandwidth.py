"""How fast copies to and from an accelerator are, and what is said where that cannot be measured."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from accel_advisor.machine.bandwidth import Bandwidth, measure
from accel_advisor.machine.gpus import gpus


def test_a_python_without_torch_is_reported_in_words(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(tmp_path / "bare")], check=True)
    assert measure(str(tmp_path / "bare" / "bin" / "python")) == "torch is not installed"
    assert "cannot be run" in str(measure(str(tmp_path / "nowhere")))


@pytest.mark.gpu
def test_copies_and_driver_agree_with_torch() -> None:
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("no CUDA device here")
    found = measure()
    assert isinstance(found, Bandwidth), found
    assert min(found.pageable_to, found.pinned_to, found.pageable_from, found.pinned_from) > 1e8
    names = {gpu.name for gpu in gpus()}
    assert torch.cuda.get_device_properties(0).name in names
