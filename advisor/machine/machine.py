"""What this machine offers to a training run, and what limits it.

``os.cpu_count()`` counts the cores of the host, also in a container that may use two of them, and the free memory of
the host is not that of a control group. What counts here is what this process may use.
"""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from accel_advisor.machine.cores import usable_cores

INSTALL_TORCH = "torch is not installed beside accel-advisor, whose extra [tune] brings it"
"""What a command says that needs torch and finds none."""
_UNLIMITED = 1 << 60
"""Control groups of version 1 write no limit as a number near 2**63."""


@dataclass(frozen=True, slots=True)
class Accelerator:
    """One device: ``kind`` as torch names it (``cuda``, ``mps``, ``xpu``), its name, and its memory in bytes where the
    driver reports it."""

    kind: str
    name: str
    memory: int | None


@dataclass(frozen=True, slots=True)
class Machine:
    """What a process on this machine may use.

    Attributes:
        logical_cores: cores of the host.
        affinity: cores that this process may run on.
        quota: processor seconds a second that the control group allows; None without a limit.
        memory_total: bytes of memory, of the control group where that is less.
        memory_free: bytes that can be taken without swapping or being killed.
        memory_limit: the control group's own limit in bytes; None without one.
        shared_memory_total, shared_memory_free: bytes of /dev/shm, through which workers hand batches over; None where
            there is none.
        processor: its name; empty where it is not known.
        host_memory: bytes of memory of the host.
        locked_memory: bytes that a process may lock; None without a limit, or where there is none to ask for.
        open_files: files that a process may have open; None as above.
        infiniband: whether there is an InfiniBand or RoCE adapter.
        numa_nodes: parts of the memory that are nearer to some cores than to others.
    """

    logical_cores: int
    affinity: int
    quota: float | None
    memory_total: int
    memory_free: int
    memory_limit: int | None
    shared_memory_total: int | None
    shared_memory_free: int | None
    processor: str = ""
    host_memory: int = 0
    locked_memory: int | None = None
    open_files: int | None = None
    infiniband: bool = False
    numa_nodes: int = 1

    @property
    def cores(self) -> float:
        """Cores that can be kept busy: the affinity, less where a quota says so."""
        return self.affinity if self.quota is None else min(float(self.affinity), self.quota)

    @property
    def shares_cores(self) -> bool:
        """Whether the control group limits the time on cores and not their number, so that others run on them, too."""
        return self.quota is not None and self.quota < self.affinity

    def fingerprint(self, devices: tuple[Accelerator, ...] = ()) -> str:
        """The same for machines on which speeds can be compared: their kind, not their name, so that the next of a row
        of rented ones goes on where the last one ended."""
        gibibytes = round(self.memory_total / (1 << 30))
        parts = [platform.system(), platform.machine(), self.processor, f"{self.cores:g}", str(gibibytes)]
        parts += [f"{device.kind} {device.name}" for device in devices]
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:12]


def inspect_machine(root: Path = Path("/")) -> Machine:
    """What this process may use now. ``root`` is where ``proc``, ``sys`` and ``dev`` are looked for."""
    import psutil

    host = psutil.virtual_memory()
    limit, free = _memory(root)
    shared = _shared_memory(root)
    return Machine(
        logical_cores=os.cpu_count() or 1,
        affinity=usable_cores(),
        quota=_quota(root),
        memory_total=host.total if limit is None else min(host.total, limit),
        memory_free=host.available if free is None else min(host.available, free),
        memory_limit=limit,
        shared_memory_total=shared[0] if shared else None,
        shared_memory_free=shared[1] if shared else None,
        processor=_processor(root),
        host_memory=host.total,
        locked_memory=_resource("RLIMIT_MEMLOCK"),
        open_files=_resource("RLIMIT_NOFILE"),
        infiniband=any((root / "sys/class/infiniband").glob("*")),
        numa_nodes=max(1, len(list((root / "sys/devices/system/node").glob("node[0-9]*")))),
    )


def mebibytes(size: float) -> str:
    """A size in bytes for people."""
    return f"{size / (1 << 20):,.0f} MiB" if size >= 1 << 20 else f"{size / 1024:,.0f} KiB"


def physical_cores(root: Path = Path("/")) -> tuple[tuple[int, ...], ...]:
    """The cores that this process may run on, each with the numbers of its hardware threads, those at the same memory
    side by side; none where the system does not let a process choose."""
    if not hasattr(os, "sched_getaffinity"):
        return ()
    usable = os.sched_getaffinity(0)
    found = set()
    for number in usable:
        folder = root / f"sys/devices/system/cpu/cpu{number}"
        siblings = _listed(_lines(folder / "topology/thread_siblings_list")) & usable
        node = min((int(path.name.removeprefix("node")) for path in folder.glob("node[0-9]*")), default=0)
        found.add((node, tuple(sorted(siblings | {number}))))
    return tuple(core for _, core in sorted(found))


def accelerators() -> tuple[Accelerator, ...]:
    """The devices that torch can train on here; empty where there is none.

    Raises:
        ImportError: torch is not installed.
    """
    import torch

    current = torch.accelerator.current_accelerator() if hasattr(torch, "accelerator") else None
    if current is None or not torch.accelerator.is_available():
        return ()
    module = torch.get_device_module(current)
    found = []
    for index in range(torch.accelerator.device_count()):
        if hasattr(module, "get_device_properties"):
            properties = module.get_device_properties(index)
            found.append(Accelerator(current.type, str(properties.name), int(properties.total_memory)))
        else:
            found.append(Accelerator(current.type, current.type, None))
    return tuple(found)


def _resource(name: str) -> int | None:
    """The soft limit of a resource of this process; None without one."""
    try:
        import resource
    except ImportError:  # Windows
        return None
    kind = getattr(resource, name, None)
    if kind is None:
        return None
    soft, _ = resource.getrlimit(kind)
    return None if soft == resource.RLIM_INFINITY else soft


def _processor(root: Path) -> str:
    for line in _lines(root / "proc/cpuinfo"):
        key, _, value = line.partition(":")
        if key.strip() == "model name":
            return " ".join(value.split())
    return platform.processor()


def _shared_memory(root: Path) -> tuple[int, int] | None:
    if not sys.platform.startswith("linux"):
        return None
    try:
        usage = shutil.disk_usage(root / "dev" / "shm")
    except OSError:
        return None
    return usage.total, usage.free


def _quota(root: Path) -> float | None:
    """The least processor quota of this process's control group and those above it."""
    found: list[float] = []
    for folder in _groups(root, "cpu"):
        words = _words(folder / "cpu.max")
        if len(words) == 2 and words[0] != "max":
            found.append(int(words[0]) / int(words[1]))
        quota, period = _number(folder / "cpu.cfs_quota_us"), _number(folder / "cpu.cfs_period_us")
        if quota is not None and period and quota > 0:
            found.append(quota / period)
    return min(found, default=None)


def _memory(root: Path) -> tuple[int | None, int | None]:
    """The least memory limit of this process's control groups, and the least that is free under one of them."""
    limits: list[int] = []
    free: list[int] = []
    for folder in _groups(root, "memory"):
        for limit_name, usage_name, cache_name in (
            ("memory.max", "memory.current", "inactive_file"),
            ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
        ):
            limit, usage = _number(folder / limit_name), _number(folder / usage_name)
            if limit is None or limit >= _UNLIMITED:
                continue
            limits.append(limit)
            if usage is not None:
                reclaimable = _statistic(folder / "memory.stat", cache_name)
                free.append(max(0, limit - max(0, usage - reclaimable)))
    return min(limits, default=None), min(free, default=None)


def _groups(root: Path, controller: str) -> Iterator[Path]:
    """The folders of this process's control groups for ``controller``, from the innermost to the mount's root."""
    memberships = {}
    for line in _lines(root / "proc/self/cgroup"):
        number, _, rest = line.partition(":")
        names, _, path = rest.partition(":")
        memberships["" if number == "0" and not names else names] = path
    for line in _lines(root / "proc/self/mountinfo"):
        left, _, right = line.partition(" - ")
        fields, kind = left.split(), right.split()
        if len(fields) < 5 or len(kind) < 3:
            continue
        if kind[0] == "cgroup2":
            group = memberships.get("")
        elif kind[0] == "cgroup" and controller in kind[2].split(","):
            group = next((path for names, path in memberships.items() if controller in names.split(",")), None)
        else:
            continue
        if group is None:
            continue
        mount = root / fields[4].lstrip("/")
        inside = PurePosixPath(group)
        # In a container the mount shows the container's own group as its root, while the path may be the host's.
        relative = inside.relative_to(fields[3]) if inside.is_relative_to(fields[3]) else PurePosixPath()
        folder = mount / relative
        if not folder.is_dir() or ".." in relative.parts:
            folder = mount
        while True:
            yield folder
            if folder == mount:
                break
            folder = folder.parent


def _listed(lines: Sequence[str]) -> set[int]:
    """Numbers in the kernel's way of writing them: ``0-3,8``."""
    found: set[int] = set()
    for part in ",".join(lines).split(","):
        first, _, last = part.strip().partition("-")
        if first.isdecimal() and (last.isdecimal() or not last):
            found.update(range(int(first), int(last or first) + 1))
    return found


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []


def _words(path: Path) -> list[str]:
    return [word for line in _lines(path) for word in line.split()]


def _number(path: Path) -> int | None:
    words = _words(path)
    return int(words[0]) if words and words[0].lstrip("-").isdigit() else None


def _statistic(path: Path, name: str) -> int:
    for line in _lines(path):
        key, _, value = line.partition(" ")
        if key == name and value.strip().isdigit():
            return int(value)
    return 0
