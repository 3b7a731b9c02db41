"""What a process may use: control groups of both versions, in files as the kernel writes them."""

import os
from pathlib import Path

import pytest

from accel_advisor.machine.machine import accelerators, inspect_machine, physical_cores

GIB = 1 << 30


def write(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def test_this_machine_is_described() -> None:
    machine = inspect_machine()
    assert 0 < machine.cores <= machine.affinity <= machine.logical_cores
    assert 0 < machine.memory_free <= machine.memory_total
    if machine.shared_memory_free is not None and machine.shared_memory_total is not None:
        assert 0 <= machine.shared_memory_free <= machine.shared_memory_total


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="no processor affinity on this system")
def test_affinity_counts_not_the_cores_of_the_host() -> None:
    before = os.sched_getaffinity(0)
    try:
        os.sched_setaffinity(0, {min(before)})
        assert inspect_machine().cores == 1
    finally:
        os.sched_setaffinity(0, before)


def test_hardware_threads_of_a_core_stay_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two nodes of two cores each, numbered across them, of which the last thread may not be used."""
    for number in range(8):
        siblings = f"{number % 4},{number % 4 + 4}\n"
        write(tmp_path, {f"sys/devices/system/cpu/cpu{number}/topology/thread_siblings_list": siblings})
        (tmp_path / f"sys/devices/system/cpu/cpu{number}/node{number % 2}").mkdir()
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(7)), raising=False)
    assert physical_cores(tmp_path) == ((0, 4), (2, 6), (1, 5), (3,))
    assert physical_cores(tmp_path / "elsewhere") == tuple((number,) for number in range(7))


def test_a_system_without_control_groups_has_no_limits(tmp_path: Path) -> None:
    machine = inspect_machine(tmp_path)
    assert machine.quota is None
    assert machine.memory_limit is None
    assert machine.shared_memory_free is None
    assert machine.cores == machine.affinity


def test_no_limit_is_read_as_none(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "proc/self/cgroup": "0::/\n",
            "proc/self/mountinfo": "30 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw\n",
            "sys/fs/cgroup/cpu.max": "max 100000\n",
            "sys/fs/cgroup/memory.max": "max\n",
            "sys/fs/cgroup/memory.current": "123456\n",
        },
    )
    machine = inspect_machine(tmp_path)
    assert (machine.quota, machine.memory_limit) == (None, None)


def test_version_two_takes_the_least_limit_on_the_way_up(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "proc/self/cgroup": "0::/jobs/training\n",
            "proc/self/mountinfo": "30 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw\n",
            "sys/fs/cgroup/jobs/training/cpu.max": "150000 100000\n",
            "sys/fs/cgroup/jobs/cpu.max": "50000 100000\n",
            "sys/fs/cgroup/jobs/training/memory.max": f"{2 * GIB}\n",
            "sys/fs/cgroup/jobs/training/memory.current": f"{GIB}\n",
            "sys/fs/cgroup/jobs/training/memory.stat": f"anon 5\ninactive_file {GIB // 2}\n",
        },
    )
    machine = inspect_machine(tmp_path)
    assert machine.quota == 0.5
    assert machine.cores == 0.5
    assert machine.memory_limit == 2 * GIB
    assert machine.memory_total <= 2 * GIB
    assert machine.memory_free <= 2 * GIB - GIB // 2


def test_version_one_in_a_container_whose_path_is_the_hosts(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "proc/self/cgroup": "5:memory:/docker/abc\n4:cpu,cpuacct:/docker/abc\n0::/\n",
            "proc/self/mountinfo": (
                "40 30 0:30 /docker/abc /sys/fs/cgroup/cpu,cpuacct ro - cgroup cgroup rw,cpu,cpuacct\n"
                "41 30 0:31 /docker/abc /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n"
            ),
            "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us": "25000\n",
            "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us": "100000\n",
            "sys/fs/cgroup/memory/memory.limit_in_bytes": f"{GIB}\n",
            "sys/fs/cgroup/memory/memory.usage_in_bytes": f"{GIB // 4}\n",
        },
    )
    machine = inspect_machine(tmp_path)
    assert machine.cores == 0.25
    assert machine.memory_limit == GIB
    assert machine.memory_free <= GIB - GIB // 4


def test_version_one_writes_no_limit_as_a_huge_number(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "proc/self/cgroup": "5:memory:/\n4:cpu:/\n",
            "proc/self/mountinfo": (
                "40 30 0:30 / /sys/fs/cgroup/cpu ro - cgroup cgroup rw,cpu\n"
                "41 30 0:31 / /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n"
            ),
            "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1\n",
            "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n",
            "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n",
        },
    )
    machine = inspect_machine(tmp_path)
    assert (machine.quota, machine.memory_limit) == (None, None)


def test_accelerators_are_what_torch_sees() -> None:
    torch = pytest.importorskip("torch")
    expected = torch.accelerator.device_count() if torch.accelerator.is_available() else 0
    assert len(accelerators()) == expected
