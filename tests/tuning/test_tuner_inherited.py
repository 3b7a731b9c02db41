"""Scripts of libraries that pin memory on a machine without an accelerator, as transformers' Trainer does by default:
tuned, changed where the value is decided, and verified."""

from __future__ import annotations

import importlib.util
import shutil
from pathlib import Path

import pytest

from accel_advisor.tuning.target.command import Command
from accel_advisor.tuning.tuner import Options, tune

torch = pytest.importorskip("torch")
pytestmark = [
    pytest.mark.alone,
    pytest.mark.skipif(torch.accelerator.is_available(), reason="is about machines without an accelerator"),
]

SHAPES = Path(__file__).parent / "shapes"

LONGER = {
    "Slow()": "Slow(4000, 0.004)",
    "=Rows()": "=Rows(4000, 0.004)",
    "save_steps=25": "save_steps=10000",
    "== 20": "== 500",
}
"""What makes of the short epochs of these scripts such in which workers pay."""
ASKED = {"    use_cpu=True,\n": ""}
"""With it, transformers takes pinning back by itself."""


@pytest.mark.parametrize(
    ("name", "package", "knob"),
    [
        ("accelerate_prepare", "accelerate", "num_workers"),
        ("lightning_module", "lightning", "num_workers"),
        ("transformers_trainer", "transformers", "dataloader_num_workers"),
    ],
)
def test_a_library_that_pins(tmp_path: Path, temporary: Path, name: str, package: str, knob: str) -> None:
    if importlib.util.find_spec(package) is None:
        pytest.skip(f"needs {package}")
    script = tmp_path / f"{name}.py"
    before = (SHAPES / script.name).read_text()
    for old, new in {**LONGER, **ASKED}.items():
        before = before.replace(old, new)
    script.write_text(before)
    shutil.copyfile(SHAPES / "slow.py", tmp_path / "slow.py")
    command = Command(script, None, (), tmp_path)
    outcome = tune(command, Options(budget=30, knobs=frozenset({"num_workers"}), apply=True))
    assert outcome.loaders[0].settings.pin_memory
    found = outcome.recommendation
    assert found is not None, (outcome.kept, outcome.rows)
    assert found.settings.pin_memory
    assert outcome.verification is not None
    assert outcome.verification.holds, outcome.verification
    after = script.read_text()
    assert f"{knob}={found.settings.num_workers}" in after
    assert after != before
