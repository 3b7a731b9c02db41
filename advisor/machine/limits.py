"""What holds a training run back on this machine, in words, and how to lift it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from accel_advisor.machine.gpus import Gpu
from accel_advisor.machine.machine import Machine

_MIB, _GIB = 1 << 20, 1 << 30
_SMALL_SHARED = _GIB
"""Docker gives 64 MiB where nothing is said; one batch of 256 pictures takes 150 MiB."""
_FEW_FILES = 4096
_CORES_EACH = 2


@dataclass(frozen=True, slots=True)
class Limit:
    """One limit: what it is and what it costs, and how to lift it. Both are sentences without their full stop."""

    what: str
    remedy: str


@dataclass(frozen=True, slots=True)
class Build:
    """The torch that is installed.

    Attributes:
        version: as torch reports it.
        backend: what it was built for, with its version: ``CUDA 12.8``, ``ROCm 6.4``; empty for a build for the CPU.
        devices: accelerators that it can use now.
        start_method: how this Python starts workers by itself.
        threads: threads that one operation on the CPU may use.
    """

    version: str
    backend: str
    devices: int
    start_method: str
    threads: int


def limits(machine: Machine, found: Sequence[Gpu] = (), build: Build | None = None) -> tuple[Limit, ...]:
    """What limits a training run here, the gravest first."""
    return (
        *_accelerator(found, build),
        *_cores(machine, build),
        *_memory(machine),
        *_resources(machine),
        *_gpus(found),
    )


def _accelerator(found: Sequence[Gpu], build: Build | None) -> Iterator[Limit]:
    if build is None or build.devices or not found:
        return
    names = ", ".join(dict.fromkeys(gpu.name for gpu in found))
    if not build.backend:
        yield Limit(
            f"there is {names}, but torch {build.version} is built for the CPU only",
            "install a build of torch for CUDA: the selector on pytorch.org/get-started gives the command",
        )
    else:
        yield Limit(
            f"there is {names}, but torch {build.version} ({build.backend}) cannot use it",
            f"see whether CUDA_VISIBLE_DEVICES hides it, and whether its driver {found[0].driver} is new enough for "
            f"{build.backend}: `python -c 'import torch; torch.cuda.init()'` names the reason",
        )


def _cores(machine: Machine, build: Build | None) -> Iterator[Limit]:
    if machine.affinity < machine.logical_cores:
        yield Limit(
            f"this process may run on {machine.affinity} of {machine.logical_cores} cores",
            "ask for more: `--cpus-per-task` in SLURM, `--cpuset-cpus` in Docker, `taskset` in a shell",
        )
    if machine.quota is not None and machine.quota < machine.affinity:
        yield Limit(
            f"a quota lets this process use {machine.quota:g} of {machine.affinity} cores: workers beyond it are "
            "stopped for a part of every tenth of a second",
            "raise it: `--cpus` in Docker, `resources.limits.cpu` in Kubernetes, `CPUQuota` in systemd",
        )
    devices = build.devices if build is not None else 0
    if devices > 1 and machine.cores < _CORES_EACH * devices:
        yield Limit(
            f"{devices} accelerators share {machine.cores:g} cores, which their loaders' workers share as well",
            "ask for more cores, or prepare the data ahead so that less is left to do for each sample",
        )


def _memory(machine: Machine) -> Iterator[Limit]:
    if machine.shared_memory_total is not None and machine.shared_memory_total < _SMALL_SHARED:
        yield Limit(
            f"/dev/shm holds {machine.shared_memory_total / _MIB:,.0f} MiB: workers hand batches over through it, and "
            "die with a bus error when it is full",
            "give it more: `--shm-size=8g` or `--ipc=host` in Docker, an `emptyDir` of `medium: Memory` mounted at "
            "/dev/shm in Kubernetes",
        )
    if machine.memory_limit is not None and machine.memory_limit < machine.host_memory:
        yield Limit(
            f"a limit lets this process use {machine.memory_limit / _GIB:.3g} of {machine.host_memory / _GIB:.3g} GiB "
            "of memory, workers and cached files included",
            "raise it: `--memory` in Docker, `resources.limits.memory` in Kubernetes, `--mem` in SLURM",
        )


def _resources(machine: Machine) -> Iterator[Limit]:
    if machine.infiniband and machine.locked_memory is not None:
        yield Limit(
            f"a process may lock {machine.locked_memory / _MIB:,.3g} MiB of memory, and NCCL must lock what it sends "
            "over InfiniBand",
            "`ulimit -l unlimited` in the shell, `--ulimit memlock=-1` in Docker, `LimitMEMLOCK=infinity` in systemd",
        )
    if machine.open_files is not None and machine.open_files < _FEW_FILES:
        yield Limit(
            f"a process may have {machine.open_files:,} files open, and each tensor that a worker hands over takes one",
            "`ulimit -n 65536` in the shell, or `torch.multiprocessing.set_sharing_strategy('file_system')`",
        )


def _gpus(found: Sequence[Gpu]) -> Iterator[Limit]:
    for number, gpu in enumerate(found):
        name = f"GPU {number} ({gpu.name})"
        if gpu.power_limit is not None and gpu.power_default is not None and gpu.power_limit < gpu.power_default:
            yield Limit(
                f"{name} may draw {gpu.power_limit:.0f} of {gpu.power_default:.0f} W",
                f"`nvidia-smi -i {number} -pl {gpu.power_default:.0f}` as root, where cooling and supply allow it",
            )
        if gpu.slowed:
            yield Limit(
                f"{name} is slowed down by {' and '.join(gpu.slowed)}",
                f"`nvidia-smi -i {number} -q -d PERFORMANCE,TEMPERATURE,POWER` shows since when and how far",
            )
        if gpu.width is not None and gpu.width_most is not None and gpu.width < gpu.width_most:
            yield Limit(
                f"{name} is linked by {gpu.width} of {gpu.width_most} PCIe lanes, so copies to it are slower",
                "another slot, or a riser that has all lanes",
            )
        if gpu.persistent is False:
            yield Limit(
                f"the driver of {name} is loaded again for each program that starts when none is running",
                f"`nvidia-smi -i {number} -pm 1` as root",
            )
