"""What `doctor` prints."""

from __future__ import annotations

from click.testing import CliRunner

from accel_advisor.commands.doctor_command import doctor
from accel_advisor.machine.machine import inspect_machine


def test_doctor_on_this_machine() -> None:
    machine = inspect_machine()
    result = CliRunner().invoke(doctor)
    assert result.exit_code == 0, result.output
    for word in ("Python", "Cores", "Memory", "torch", "Accelerator", f"{machine.logical_cores} in the machine"):
        assert word in result.output
    assert max(map(len, result.output.splitlines())) < 200
