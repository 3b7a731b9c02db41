"""What the GPU did while some blocks were measured, from the samples of a run."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from accel_advisor.machine.gpus import Sample
from accel_advisor.tuning.probe.channel.wire import Block
from accel_advisor.tuning.record.device_schema import DeviceUse

AVERAGED = 0.2
"""Seconds over which the driver averages what it reports, at the least: a sixth of a second to a second."""


def use(samples: Iterable[Sample], spans: Sequence[tuple[float, float]]) -> DeviceUse | None:
    """The use within ``spans`` of time (begin and end in seconds, on the clock of the samples); None without a sample
    there. A sample is about the time before it, so what it says at the start of a span belongs to what was before."""
    inside = [one for one in samples if any(begin + AVERAGED <= one.at <= end for begin, end in spans)]
    if not inside:
        return None
    return DeviceUse(
        _mean([one.busy for one in inside if one.busy is not None]),
        max((one.memory for one in inside if one.memory is not None), default=None),
        _mean([one.power for one in inside if one.power is not None]),
        _mean([float(one.clock) for one in inside if one.clock is not None]),
    )


def spans(blocks: Iterable[Block]) -> list[tuple[float, float]]:
    """When blocks were measured, without the time between epochs, in which their clocks stand."""
    return [span for block in blocks for span in block.stretches or ((block.began, block.began + block.seconds),)]


def _mean(values: list[float]) -> float | None:
    return math.fsum(values) / len(values) if values else None
