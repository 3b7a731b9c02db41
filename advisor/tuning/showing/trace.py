"""A record as a trace in Chrome's trace-event format, which Perfetto and chrome://tracing open.

The format: https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU. Times in microseconds.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from accel_advisor.machine.gpus import Sample
from accel_advisor.tuning.probe.channel.wire import BASELINE, NO_TRANSFER, NO_WAIT
from accel_advisor.tuning.record.phases import phases
from accel_advisor.tuning.record.schema import BlockRecord, Record
from accel_advisor.tuning.search.settings import describe
from accel_advisor.tuning.trial.timeline import START

_PROCESS = 1
_PHASES = 1
_FIRST_LANE = 2
_NAMES = {
    START: "start of the script",
    BASELINE: "the script as it is",
    NO_WAIT: "ceiling: data ready at once",
    NO_TRANSFER: "ceiling: data on the device",
}

Event = dict[str, Any]


def trace(record: Record) -> dict[str, Any]:
    """The run as a trace: a track of phases, a track for each candidate, and counters."""
    lanes = {name: _FIRST_LANE + number for number, name in enumerate(_lanes(record))}
    spans = (_span(_PHASES, one.name, one.began, one.end, "phase", {}) for one in phases(record.blocks))
    events = [*_names(record, lanes), *spans]
    for block in record.blocks:
        events += _events(block, lanes[_lane(record, block)])
    for one in record.samples:
        events += _device(one)
    about = {"script": record.script, "began": record.began, "device": record.device, "version": record.version}
    return {"traceEvents": events, "displayTimeUnit": "ms", "otherData": about}


def _lane(record: Record, block: BlockRecord) -> str:
    if block.what in _NAMES or block.tried is None:
        return _NAMES.get(block.what, block.what)
    return describe(record.tried[block.tried].settings)


def _lanes(record: Record) -> list[str]:
    return list(dict.fromkeys(_lane(record, block) for block in record.blocks))


def _names(record: Record, lanes: dict[str, int]) -> Iterator[Event]:
    yield _name("process_name", 0, f"accel-advisor tune {record.script}")
    for number, name in ((_PHASES, "phases"), *((number, name) for name, number in lanes.items())):
        yield _name("thread_name", number, name)
        yield {"ph": "M", "pid": _PROCESS, "tid": number, "name": "thread_sort_index", "args": {"sort_index": number}}


def _name(kind: str, thread: int, name: str) -> Event:
    return {"ph": "M", "pid": _PROCESS, "tid": thread, "name": kind, "args": {"name": name}}


def _events(block: BlockRecord, lane: int) -> Iterator[Event]:
    end = block.began + block.seconds
    about: dict[str, Any] = {"for": block.purpose}
    if block.failed:
        about["failed"] = block.failed
    yield _span(lane, block.purpose, block.began, end, block.what, about)
    if not block.rate or block.measured is None:
        return
    start = max(block.began, end - block.measured)
    if start > block.began:
        yield _span(lane, "start of workers and warm-up", block.began, start, "warm-up", {})
    parts = {f"{name} (s a batch)": value for name, value in block.step.known.items()} if block.step else {}
    about = {"batches": block.batches, "samples/s": block.rate, **parts}
    yield _span(lane, "block", start, end, "block", about)
    for at, rate, size in ((start, block.rate, block.worker_bytes or 0), (end, 0.0, 0)):
        yield _counter("rate", at, {"samples/s": rate})
        yield _counter("memory of the workers", at, {"MiB": size / (1 << 20)})


def _device(sample: Sample) -> Iterator[Event]:
    values = {
        "GPU busy": ("%", sample.busy, 0.01),
        "GPU memory": ("MiB", sample.memory, 1 << 20),
        "GPU power": ("W", sample.power, 1),
        "GPU clock": ("MHz", sample.clock, 1),
    }
    for name, (unit, value, one) in values.items():
        if value is not None:
            yield _counter(name, sample.at, {unit: value / one})


def _span(thread: int, name: str, began: float, end: float, category: str, about: dict[str, Any]) -> Event:
    return {
        "ph": "X",
        "pid": _PROCESS,
        "tid": thread,
        "name": name,
        "cat": category,
        "ts": round(1e6 * began, 1),
        "dur": round(1e6 * max(0.0, end - began), 1),
        "args": about,
    }


def _counter(name: str, at: float, values: dict[str, float]) -> Event:
    return {"ph": "C", "pid": _PROCESS, "tid": 0, "name": name, "ts": round(1e6 * at, 1), "args": values}
