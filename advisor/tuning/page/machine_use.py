"""What candidates take of the machine, as plain geometry."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from statistics import fmean

from accel_advisor.tuning.page.charts import kind_of, run_scale
from accel_advisor.tuning.page.scale import Scale
from accel_advisor.tuning.record.schema import Record
from accel_advisor.tuning.wording.figures import gibibytes, label, share_text

_COLUMNS, _HEIGHT = 120, 32.0


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
    """How busy the device was by candidate; empty where its driver was not asked or does not report it."""
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
    return _loads(record, rows, float(most), gibibytes)


def memory(record: Record) -> tuple[Load, ...]:
    """Memory of all workers together by candidate; empty where none had workers that were measured."""
    rows = [(number, float(row.worker_bytes)) for number, row in enumerate(record.tried) if row.worker_bytes]
    return _loads(record, rows, 0.0, lambda size: f"{size / (1 << 20):,.0f} MiB")


@dataclass(frozen=True, slots=True)
class Column:
    """How busy the device was over a while: a column as high as that, in pixels from the top."""

    left: float
    width: float
    top: float
    height: float
    said: str


def busy_over_time(record: Record) -> tuple[Column, ...]:
    """How busy the device was over the run, on the scale of its timeline; empty where nobody reported it."""
    scale = run_scale(record)
    found: dict[int, list[float]] = {}
    for one in record.samples:
        if one.busy is not None:
            found.setdefault(min(int(scale.at(one.at) / 100 * _COLUMNS), _COLUMNS - 1), []).append(one.busy)
    return tuple(_column(number, fmean(values), scale.most) for number, values in sorted(found.items()))


def _column(number: int, busy: float, seconds: float) -> Column:
    height = round(_HEIGHT * min(max(busy, 0.0), 1.0), 2)
    said = f"{number * seconds / _COLUMNS:.1f} s: {share_text(busy)} busy"
    return Column(round(100 * number / _COLUMNS, 3), round(100 / _COLUMNS, 3), round(_HEIGHT - height, 2), height, said)


def device_use(record: Record) -> dict[str, str]:
    """What the device did in the blocks of the settings in the source, and of those that are recommended, in words."""
    rows = {"Now": 0} | ({"Recommended": record.recommended} if record.recommended is not None else {})
    uses = {name: record.tried[number].device for name, number in rows.items() if number < len(record.tried)}
    return {name: use.sentence for name, use in uses.items() if use is not None and use.sentence}


def _loads(
    record: Record, rows: list[tuple[int, float]], most: float, text: Callable[[float], str]
) -> tuple[Load, ...]:
    scale = Scale(max([most, *(1.06 * value for _, value in rows)], default=0.0))
    return tuple(
        Load(label(record.tried[number].settings), kind_of(record, number), text(value), scale.at(value))
        for number, value in sorted(rows, key=lambda one: one[1])
    )
