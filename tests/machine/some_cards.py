"""NVML as a machine with some cards would have it: none of the machines that run these tests need have one."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any


class NoSuchReading(Exception):  # noqa: N818
    """As NVML says that a card does not report something."""


def reading(values: dict[str, Any]) -> Callable[..., Any]:
    """What a function of NVML says of each card, by its handle."""

    def read(handle: str, *_: object) -> Any:
        if handle not in values:
            raise NoSuchReading
        return values[handle]

    return read


def library(counters: dict[str, int], modes: dict[str, list[int]] | None = None) -> Any:
    """NVML of a machine whose cards report nothing but these: millijoules, and MIG's mode now and after a reset."""
    names = ("UtilizationRates", "MemoryInfo", "PowerUsage", "ClockInfo")
    return SimpleNamespace(
        NVMLError=NoSuchReading,
        NVML_CLOCK_SM=1,
        nvmlDeviceGetTotalEnergyConsumption=reading(counters),
        nvmlDeviceGetMigMode=reading(modes or {}),
        nvmlInit=lambda: None,
        nvmlShutdown=lambda: None,
        nvmlDeviceGetHandleByUUID=reading({uuid: uuid for uuid in counters}),
        **{f"nvmlDeviceGet{name}": reading({}) for name in names},
    )
