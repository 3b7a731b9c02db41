"""The command ``doctor``: what this machine offers to a training run, what limits it, and how to lift that."""

from __future__ import annotations

import json
import multiprocessing
import sys
import textwrap
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from importlib.util import find_spec
from typing import Any

import click

from accel_advisor import __version__
from accel_advisor.machine.bandwidth import Bandwidth, measure
from accel_advisor.machine.gpus import Gpu, gpus
from accel_advisor.machine.limits import Build, Limit, limits
from accel_advisor.machine.machine import INSTALL_TORCH, Accelerator, Machine, accelerators, inspect_machine, mebibytes

_LABEL = 16
_WIDTH = 110


@click.command(name="doctor")
@click.option("--copies/--no-copies", default=True, help="Measure how fast copies to the accelerator are.")
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON: sizes in bytes, rates in bytes a second.")
def doctor(copies: bool, as_json: bool) -> None:
    """Say what this machine offers to a training run, what limits it, and how to lift that."""
    machine, found = inspect_machine(), gpus()
    build, devices = _build() if find_spec("torch") is not None else (None, ())
    measured = measure() if copies and devices else None
    held = limits(machine, found, build)
    if as_json:
        click.echo(json.dumps(_plain(machine, build, devices, found, measured, held), indent=2, ensure_ascii=False))
        return
    lines = [*_machine(machine), *_torch(build, devices), *_gpus(found)]
    if measured is not None:
        lines += _copies(measured)
    click.echo("\n".join(f"{label:<{_LABEL}}{text}" for label, text in lines))
    click.echo()
    if not held:
        click.echo("Nothing limits a training run here beyond what the machine is.")
        return
    click.echo("What limits a training run here, and how to lift it:")
    for limit in held:
        click.echo(_item(f"{limit.what}. Remedy: {limit.remedy}."))


def _plain(
    machine: Machine,
    build: Build | None,
    devices: Sequence[Accelerator],
    found: Sequence[Gpu],
    measured: Bandwidth | str | None,
    held: Sequence[Limit],
) -> dict[str, Any]:
    """All of it as plain data; None for what is not there or not known."""
    return {
        "version": __version__,
        "python": {"version": sys.version.split()[0], "platform": sys.platform, "executable": sys.executable},
        "machine": {**asdict(machine), "cores": machine.cores},
        "torch": asdict(build) if build is not None else None,
        "accelerators": [asdict(one) for one in devices],
        "gpus": [asdict(one) for one in found],
        "copies": measured if isinstance(measured, str) or measured is None else asdict(measured),
        "limits": [asdict(one) for one in held],
    }


def _build() -> tuple[Build, tuple[Accelerator, ...]]:
    with warnings.catch_warnings(action="ignore"):  # such as of a NumPy that is not there: the report is the answer
        import torch

    devices = accelerators()
    hip = getattr(torch.version, "hip", None)
    backend = f"CUDA {torch.version.cuda}" if torch.version.cuda else f"ROCm {hip}" if hip else ""
    if not backend and devices:
        backend = devices[0].kind
    method = multiprocessing.get_start_method(allow_none=False)
    return Build(str(torch.__version__), backend, len(devices), method, torch.get_num_threads()), devices


def _machine(machine: Machine) -> Iterator[tuple[str, str]]:
    quota = "no quota" if machine.quota is None else f"a quota of {machine.quota:g}"
    limit = "no limit" if machine.memory_limit is None else f"a limit of {mebibytes(machine.memory_limit)}"
    nodes = f", in {machine.numa_nodes} NUMA nodes" if machine.numa_nodes > 1 else ""
    yield "Python", f"{sys.version.split()[0]} on {sys.platform}"
    yield (
        "Cores",
        f"{machine.cores:g} usable: {machine.logical_cores} in the machine{nodes}, {machine.affinity} by affinity, "
        f"{quota}" + (f"; {machine.processor}" if machine.processor else ""),
    )
    yield "Memory", f"{mebibytes(machine.memory_free)} free of {mebibytes(machine.memory_total)}, {limit}"
    if machine.shared_memory_free is not None and machine.shared_memory_total is not None:
        yield (
            "Shared memory",
            f"{mebibytes(machine.shared_memory_free)} free of {mebibytes(machine.shared_memory_total)} in /dev/shm, "
            "through which workers hand batches over",
        )
    files = "any number of files" if machine.open_files is None else f"{machine.open_files:,} files"
    locked = "any amount of memory" if machine.locked_memory is None else mebibytes(machine.locked_memory)
    yield (
        "A process may",
        f"open {files} (ulimit -n) and lock {locked} (ulimit -l, which pinning by CUDA does not count)",
    )


def _torch(build: Build | None, devices: Sequence[Accelerator]) -> Iterator[tuple[str, str]]:
    if build is None:
        yield "Accelerators", f"unknown: {INSTALL_TORCH}"
        return
    yield (
        "torch",
        f"{build.version}, built for {build.backend or 'the CPU only'}; {build.threads} threads an operation, workers "
        f"start by {build.start_method}",
    )
    for number, device in enumerate(devices):
        memory = f", {mebibytes(device.memory)}" if device.memory is not None else ""
        yield "Accelerator", f"{device.kind}:{number} {device.name}{memory}"
    if not devices and build.backend:
        seen = f"none that a torch for {build.backend} can use: a driver is missing or too old, or there is no GPU"
        yield "Accelerators", f"{seen}; tune measures training on the processor"
    elif not devices:
        yield "Accelerators", "none: tune measures training on the processor"


def _gpus(found: Sequence[Gpu]) -> Iterator[tuple[str, str]]:
    for number, gpu in enumerate(found):
        parts = [f"{gpu.name}, driver {gpu.driver}"]
        if gpu.power_limit is not None:
            parts.append(f"up to {gpu.power_limit:.0f} W")
        if gpu.clock_most is not None:
            parts.append(f"up to {gpu.clock_most:,} MHz")
        if gpu.generation_most is not None and gpu.width is not None:
            parts.append(f"PCIe {gpu.generation_most} x{gpu.width}")
        if gpu.divided:
            parts.append("divided into MIG instances, whose use the driver does not report")
        yield f"GPU {number}", ", ".join(parts)


def _copies(found: Bandwidth | str) -> Iterator[tuple[str, str]]:
    if isinstance(found, str):
        yield "Copies", found
        return
    yield (
        "Copies",
        f"to {found.device} {found.pageable_to / 1e9:.1f} GB/s from pageable memory, {found.pinned_to / 1e9:.1f} from "
        f"pinned; back {found.pageable_from / 1e9:.1f} and {found.pinned_from / 1e9:.1f}",
    )
    yield "", found.sentence


def _item(text: str) -> str:
    return textwrap.fill(
        text, _WIDTH, initial_indent="- ", subsequent_indent="  ", break_long_words=False, break_on_hyphens=False
    )
