"""What a sample takes of energy, from the counters of the cards that train and the blocks that were measured.

A counter is read several times a second, and its driver brings it up to date only now and then: what it said at
the very edges of a block is not known. So the power between readings within a block stands for all of it. That is the
power of the steady state: the start of an epoch is not in it.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from itertools import pairwise

from accel_advisor.machine.gpus import Sample
from accel_advisor.tuning.probe.channel.wire import Block
from accel_advisor.tuning.record.device_schema import EnergyRecord
from accel_advisor.tuning.record.device_use import spans
from accel_advisor.tuning.record.turns_record import ratio_of
from accel_advisor.tuning.search.statistics import gain, interval

OF_BLOCK = 0.35
"""Seconds between readings that a single block must hold."""
OF_SETTINGS = 0.75
"""The same for all blocks of some settings together, so that a counter that is late matters little."""


def joules(readings: Sequence[Sample], blocks: Sequence[Block], least: float) -> float | None:
    """Joules a sample of some blocks.

    Args:
        readings: of the cards, in the order of time, on the clock of the blocks.
        least: seconds between neighbouring readings that must lie within the blocks.

    Returns:
        None where that is less, or the counter stood still, or went backwards: its driver was loaded again.
    """
    stretches = sorted(spans(blocks))
    begins = [begin for begin, _ in stretches]
    energy, seconds = [], []
    for before, after in pairwise(readings):
        place = bisect_right(begins, before.at) - 1
        if place < 0 or after.at > stretches[place][1] or before.energy is None or after.energy is None:
            continue
        if after.energy < before.energy:
            return None
        energy.append(after.energy - before.energy)
        seconds.append(after.at - before.at)
    total, span, count = math.fsum(energy), math.fsum(seconds), sum(block.samples for block in blocks)
    if span < least or not total or not count:
        return None
    return total / span * math.fsum(block.seconds for block in blocks) / count


def energy(
    readings: Sequence[Sample],
    now: Sequence[Block],
    recommended: Sequence[Block],
    pairs: Sequence[tuple[Block, Block]],
    cards: int,
) -> EnergyRecord | None:
    """Joules a sample before and after.

    Args:
        now, recommended: all blocks under the settings in the source, and under those that are recommended.
        pairs: neighbours, the settings in the source first; they alone compare the two.
        cards: how many train.

    Returns:
        None where nothing is known of the settings in the source.
    """
    both = [(joules(readings, [old], OF_BLOCK), joules(readings, [new], OF_BLOCK)) for old, new in pairs]
    known = [(old, new) for old, new in both if old is not None and new is not None]
    if len(known) > 1:
        before, after = [old for old, _ in known], [new for _, new in known]
        found = ratio_of(gain(after, before))
        return EnergyRecord(interval(before).ratio, interval(after).ratio, found, len(known), cards)
    alone = joules(readings, now, OF_SETTINGS)
    if alone is None:
        return None
    return EnergyRecord(alone, joules(readings, recommended, OF_SETTINGS), cards=cards)
