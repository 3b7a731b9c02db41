"""Shares and ceilings -> what limits the loop."""

from __future__ import annotations

import math
from dataclasses import dataclass

from accel_advisor.tuning.probe.channel.wire import BASELINE, NO_TRANSFER, NO_WAIT
from accel_advisor.tuning.search.headroom import CROWDED
from accel_advisor.tuning.search.readings import Readings
from accel_advisor.tuning.search.statistics import Interval
from accel_advisor.tuning.search.straggler import Straggler, straggler


@dataclass(frozen=True, slots=True)
class Shares:
    """Exclusive parts of a step under the baseline, as fractions that add up to 1.

    Where a device computes while the host waits, the time is the device's: only what nothing hides is lost.

    Attributes:
        wait: for the next batch of the loader that trains.
        transfer: copies of tensors from the host to the device, those that a module makes by itself among them; 0
            where the model is on the CPU.
        compute: calls of modules, backward passes and steps of optimizers; on a device also what is launched between
            them, as far as the device is behind the host.
        host: everything else: the script's own Python, batches of other loaders, and on the CPU operations outside of
            any module, such as a loss from ``torch.nn.functional``.
    """

    wait: float
    transfer: float
    compute: float
    host: float


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """Where the time goes.

    Attributes:
        shares: of the steady state, starts of epochs left out.
        ceilings: how many times as fast the script would be, by the ceiling's name; an epoch's start counts as waiting.
            Without waiting all else stays as it is.
        epoch_start: seconds that the start of an epoch costs.
        epoch_share: the share of an epoch that its start takes; 0 where epochs have no known length.
        straggler: which of several ranks the others wait for; None where none stands out.
        crowding: how many times as long what is left of a step takes beside the workers as without them; None where
            that is not beyond doubt.
    """

    shares: Shares
    ceilings: dict[str, Interval]
    epoch_start: float
    epoch_share: float
    straggler: Straggler | None = None
    crowding: Interval | None = None


def diagnose(readings: Readings) -> Diagnosis:
    """The diagnosis from the baseline's blocks and the ceilings.

    Raises:
        ValueError: the baseline has no block.
    """
    blocks = readings.references[BASELINE]
    total = math.fsum(block.seconds for block in blocks)
    if not total:
        raise ValueError("the baseline was not measured")
    shares = Shares(
        wait=math.fsum(block.wait for block in blocks) / total,
        transfer=math.fsum(block.transfer for block in blocks) / total,
        compute=math.fsum(block.compute for block in blocks) / total,
        host=math.fsum(block.host for block in blocks) / total,
    )
    known = {NO_WAIT: readings.unwaited(), NO_TRANSFER: readings.ceiling(NO_TRANSFER)}
    ceilings = {name: found for name, found in known.items() if found is not None}
    crowding = readings.crowding()
    start, length = readings.epoch_start(readings.baseline), readings.loop.length
    seconds = readings.seconds(readings.baseline)
    share = start / length / seconds if length and seconds else 0.0
    crowded = crowding if crowding is not None and crowding.low > CROWDED else None
    return Diagnosis(shares, ceilings, start, share, straggler(blocks), crowded)
