"""What `doctor` prints."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import asdict
from functools import partial
from pathlib import Path

import pytest
import torch
from click.testing import CliRunner

from accel_advisor.commands.doctor_command import doctor
from accel_advisor.machine.gpus import gpus
from accel_advisor.machine.limits import Build, limits
from accel_advisor.machine.machine import inspect_machine


def test_doctor_on_this_machine() -> None:
    machine = inspect_machine()
    result = CliRunner().invoke(doctor)
    assert result.exit_code == 0, result.output
    for word in ("Python", "Cores", "Memory", "torch", "Accelerator", f"{machine.logical_cores} in the machine"):
        assert word in result.output
    assert max(map(len, result.output.splitlines())) < 200


def test_a_torch_for_a_gpu_that_is_not_there_is_told_from_one_for_the_processor(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if torch.accelerator.is_available():
        pytest.skip("there is an accelerator")
    monkeypatch.setattr(torch.version, "cuda", None)
    assert "\nAccelerators    none: tune measures training on the processor\n" in CliRunner().invoke(doctor).output
    monkeypatch.setattr(torch.version, "cuda", "13.0")
    said = "none that a torch for CUDA 13.0 can use: a driver is missing or too old, or there is no GPU; tune measures"
    assert f"\nAccelerators    {said} " in CliRunner().invoke(doctor).output


def test_what_torch_warns_of_while_it_is_imported_is_no_part_of_the_answer(tmp_path: Path) -> None:
    (tmp_path / "numpy.py").write_text("raise ModuleNotFoundError('No module named numpy')\n")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    run = partial(subprocess.run, env=environment, capture_output=True, text=True, check=True)
    assert "numpy" in run([sys.executable, "-c", "import torch"]).stderr
    assert run([sys.executable, "-m", "accel_advisor", "doctor", "--no-copies"]).stderr == ""


def test_doctor_as_json() -> None:
    result = CliRunner().invoke(doctor, ["--json", "--no-copies"])
    assert result.exit_code == 0, result.output
    found = json.loads(result.output)
    machine = inspect_machine()
    assert found["machine"]["logical_cores"] == machine.logical_cores
    assert found["machine"]["cores"] == machine.cores
    assert found["torch"]["version"] == torch.__version__
    assert found["copies"] is None
    assert found["limits"] == [asdict(one) for one in limits(machine, gpus(), Build(**found["torch"]))]
    assert found.keys() == {"version", "python", "machine", "torch", "accelerators", "gpus", "copies", "limits"}
