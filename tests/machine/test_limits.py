"""What holds a machine back: silent on one without limits, and every remedy in words."""

from __future__ import annotations

from dataclasses import replace

import pytest

from accel_advisor.machine.bandwidth import Bandwidth
from accel_advisor.machine.gpus import Gpu, reasons
from accel_advisor.machine.limits import Build, limits
from accel_advisor.machine.machine import Machine

GIB = 1 << 30
FREE = Machine(16, 16, None, 64 * GIB, 60 * GIB, None, 32 * GIB, 32 * GIB, host_memory=64 * GIB)
CARD = Gpu("GPU-1", "NVIDIA H200", "570.86", 139 * GIB, 700.0, 700.0, 1980, 16, 16, 5, persistent=True)
TORCH = Build("2.13.0", "CUDA 12.8", 1, "fork", 16)


def said(*args: object) -> str:
    return "\n".join(f"{limit.what} -> {limit.remedy}" for limit in limits(*args))  # type: ignore[arg-type]


def test_a_machine_without_limits_has_none() -> None:
    assert limits(FREE) == ()
    assert limits(FREE, (CARD,), TORCH) == ()
    assert limits(replace(FREE, open_files=1 << 20, locked_memory=8 << 20), (CARD,), TORCH) == ()


def test_what_a_card_does_not_tell_is_no_limit() -> None:
    mute = Gpu("GPU-1", "NVIDIA A100", "570", None, None, None, None, None, None, None, persistent=None, divided=True)
    assert limits(FREE, (mute,), TORCH) == ()


@pytest.mark.parametrize(
    ("machine", "words"),
    [
        (replace(FREE, affinity=4), ("4 of 16 cores", "--cpus-per-task", "taskset")),
        (replace(FREE, quota=1.5), ("1.5 of 16 cores", "--cpus", "resources.limits.cpu")),
        (replace(FREE, shared_memory_total=64 << 20), ("64 MiB", "--shm-size", "emptyDir")),
        (replace(FREE, memory_limit=8 * GIB), ("8 of 64 GiB", "--memory", "--mem")),
        (replace(FREE, open_files=1024), ("1,024 files", "ulimit -n")),
        (replace(FREE, infiniband=True, locked_memory=64 << 10), ("lock", "ulimit -l", "memlock=-1")),
    ],
)
def test_each_limit_of_a_machine_names_how_to_lift_it(machine: Machine, words: tuple[str, ...]) -> None:
    assert len(limits(machine)) == 1
    for word in words:
        assert word in said(machine)


@pytest.mark.parametrize(
    ("card", "words"),
    [
        (replace(CARD, power_limit=350.0), ("350 of 700 W", "-pl 700")),
        (replace(CARD, slowed=reasons(0x20 | 0x4)), ("its power cap and its temperature", "PERFORMANCE")),
        (replace(CARD, width=8), ("8 of 16 PCIe lanes",)),
        (replace(CARD, persistent=False), ("-pm 1",)),
    ],
)
def test_each_limit_of_a_card_names_how_to_lift_it(card: Gpu, words: tuple[str, ...]) -> None:
    assert len(limits(FREE, (card,), TORCH)) == 1
    for word in words:
        assert word in said(FREE, (card,), TORCH)


def test_a_card_that_torch_cannot_use_is_said_first() -> None:
    slow = replace(FREE, quota=2.0)
    assert "built for the CPU only" in limits(slow, (CARD,), replace(TORCH, backend="", devices=0))[0].what
    hidden = limits(slow, (CARD,), replace(TORCH, devices=0))[0]
    assert "cannot use it" in hidden.what
    assert "CUDA_VISIBLE_DEVICES" in hidden.remedy


def test_many_devices_on_few_cores() -> None:
    assert "8 accelerators share 4 cores" in said(
        replace(FREE, affinity=4, logical_cores=4), (), replace(TORCH, devices=8)
    )


def test_idle_clocks_are_no_limit() -> None:
    assert reasons(0x1) == ()  # nvmlClocksEventReasonGpuIdle
    assert reasons(0x2) == ()  # nvmlClocksEventReasonApplicationsClocksSetting


def test_where_pinning_cannot_pay_it_says_so() -> None:
    assert "cannot pay" in Bandwidth("cuda:0", 50e9, 52e9, 50e9, 52e9).sentence
    assert "5.0 times as fast" in Bandwidth("cuda:0", 11e9, 55e9, 10e9, 55e9).sentence
