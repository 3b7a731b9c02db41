"""Shares and ceilings -> what limits the loop, in a sentence."""

from __future__ import annotations

import math
from dataclasses import dataclass

from accel_advisor.tune.probe.channel.wire import BASELINE, NO_TRANSFER, NO_WAIT
from accel_advisor.tune.search.readings import Readings
from accel_advisor.tune.search.search import HEADROOM
from accel_advisor.tune.search.statistics import Interval
from accel_advisor.tune.trial.ranks import straggler

_EPOCH_SHOWS = 0.02


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
        epoch_start: seconds that the start of an epoch costs.
        epoch_share: the share of an epoch that its start takes; 0 where epochs have no known length.
        straggler: which of several ranks the others wait for, in a sentence; empty where none stands out.
    """

    shares: Shares
    ceilings: dict[str, Interval]
    epoch_start: float
    epoch_share: float
    straggler: str = ""

    @property
    def bottleneck(self) -> str:
        """The largest share: ``wait``, ``transfer``, ``compute`` or ``host``."""
        return max(("wait", "transfer", "compute", "host"), key=lambda name: float(getattr(self.shares, name)))

    @property
    def sentence(self) -> str:
        """What is said first."""
        return " ".join(part for part in (self._waiting(), self.straggler, self._starts(), self._transfers()) if part)

    def _waiting(self) -> str:
        share = f"{_percent(self.shares.wait)} of each step waits for data"
        ceiling = self.ceilings.get(NO_WAIT)
        if ceiling is None:
            return f"{share}."
        if ceiling.low <= 1 and ceiling.high > 1 / max(1 - self.shares.wait, 1e-9) >= HEADROOM:
            return f"{share}; readings differed too much to say how much faster it would run with data ready at once."
        if ceiling.ratio < HEADROOM or ceiling.low <= 1:
            return f"{share}; with data ready at once this script would run no faster that could be measured."
        return f"{share}; with data ready at once this script would run {times(ceiling.ratio)} as fast."

    def _starts(self) -> str:
        if self.epoch_share < _EPOCH_SHOWS:
            return ""
        return (
            f"Each epoch begins with {self.epoch_start:.2g} s of waiting for its workers, "
            f"{_percent(self.epoch_share)} of its time."
        )

    def _transfers(self) -> str:
        ready, moved = self.ceilings.get(NO_WAIT), self.ceilings.get(NO_TRANSFER)
        if moved is None or ready is None or moved.ratio / max(1.0, ready.ratio) < HEADROOM:
            return ""
        return f"With the data already on the device it would run {times(moved.ratio)} as fast."


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
    ceilings = {name: found for name in (NO_WAIT, NO_TRANSFER) if (found := readings.ceiling(name)) is not None}
    start, length = readings.epoch_start(readings.baseline), readings.loop.length
    seconds = readings.seconds(readings.baseline)
    share = start / length / seconds if length and seconds else 0.0
    return Diagnosis(shares, ceilings, start, share, straggler(blocks))


def times(ratio: float) -> str:
    """A ratio in words: ``2.7 times``, ``1.04 times``, ``12 times``."""
    return f"{ratio:.0f} times" if ratio >= 10 else f"{ratio:.1f} times" if ratio >= 1.3 else f"{ratio:.2f} times"


def _percent(share: float) -> str:
    return "under 1 %" if 0 < share < 0.01 else f"{share:.0%}".replace("%", " %")
