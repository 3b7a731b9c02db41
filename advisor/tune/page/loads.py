"""What candidates take of the machine, as plain geometry."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..schema import Record
from ..wording import label, share_text
from .charts import kind_of
from .scale import Scale


@dataclass(frozen=True, slots=True)
class Load:
    """What a candidate takes of the machine."""

    name: str
    kind: str
    text: str
    width: float


def cores(record: Record) -> tuple[Load, ...]:
    """Cores that were kept busy by candidate, of those that there are; empty where that is not known."""
    most = record.machine.cores if record.machine else 0.0
    rows = [(number, row.cores) for number, row in enumerate(record.tried) if row.cores is not None]
    return _loads(record, rows, most, lambda busy: f"{busy:.1f} of {most:g}" if most else f"{busy:.1f}")


def device_busy(record: Record) -> tuple[Load, ...]:
    """How busy the device was by candidate; empty where its driver was not asked or does not tell."""
    rows = [(number, row.device.busy) for number, row in enumerate(record.tried) if row.device and row.device.busy]
    return _loads(record, rows, 1.0, share_text)


def device_memory(record: Record) -> tuple[Load, ...]:
    """The most memory in use on the device by candidate, of what it has."""
    rows = [
        (number, float(row.device.memory))
        for number, row in enumerate(record.tried)
        if row.device is not None and row.device.memory
    ]
    most = max((one.memory or 0 for one in record.machine.devices), default=0) if record.machine else 0
    return _loads(record, rows, float(most), lambda size: f"{size / (1 << 30):.1f} GiB")


def memory(record: Record) -> tuple[Load, ...]:
    """Memory of all workers together by candidate; empty where none had workers that were measured."""
    rows = [(number, float(row.worker_bytes)) for number, row in enumerate(record.tried) if row.worker_bytes]
    return _loads(record, rows, 0.0, lambda size: f"{size / (1 << 20):,.0f} MiB")


def _loads(
    record: Record, rows: list[tuple[int, float]], most: float, text: Callable[[float], str]
) -> tuple[Load, ...]:
    scale = Scale(max([most, *(1.06 * value for _, value in rows)], default=0.0))
    return tuple(
        Load(label(record.tried[number].settings), kind_of(record, number), text(value), scale.at(value))
        for number, value in sorted(rows, key=lambda one: one[1])
    )
