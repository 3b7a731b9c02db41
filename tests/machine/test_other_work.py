"""What other work takes of the cores, from files as Linux writes them and from this machine."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from accel_advisor.machine.machine import inspect_machine
from accel_advisor.machine.other_work import busy_seconds, cores_taken

LINE = "cpu{number} 100 20 30 99999 88888 4 5 6 100 20\n"


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has /proc")
def test_only_the_cores_of_this_process_count(tmp_path: Path) -> None:
    (tmp_path / "proc").mkdir()
    own = sorted(os.sched_getaffinity(0))
    others = max(own) + 1
    text = "cpu 1 2 3 4 5 6 7 8 9 10\n" + "".join(LINE.format(number=number) for number in [*own, others])
    (tmp_path / "proc/stat").write_text(text)
    ticks = 100 + 20 + 30 + 4 + 5 + 6  # neither idle nor waiting for a disk, and a guest's time once
    assert busy_seconds(tmp_path) == pytest.approx(len(own) * ticks / os.sysconf("SC_CLK_TCK"))


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has /proc")
@pytest.mark.parametrize("text", ["", "cpu 1 2 3\n", "cpu0 1 2\n"])
def test_where_the_system_hides_its_cores_nothing_is_known(tmp_path: Path, text: str) -> None:
    (tmp_path / "proc").mkdir()
    (tmp_path / "proc/stat").write_text(text)
    assert busy_seconds(tmp_path) is None
    assert busy_seconds(tmp_path / "nowhere") is None


def test_what_a_quota_leaves_free_is_nobodys_loss() -> None:
    """Two of eight cores may be kept busy: five that others use take none of them, seven take one."""
    quota = replace(inspect_machine(), affinity=8, quota=2.0)
    assert cores_taken(5.0, quota) == 0.0
    assert cores_taken(7.0, quota) == 1.0
    assert cores_taken(5.0, replace(quota, quota=None)) == 5.0
    assert cores_taken(9.0, replace(quota, quota=None)) == 8.0
