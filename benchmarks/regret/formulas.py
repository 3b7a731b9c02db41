"""The number of workers that people take without measuring."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from accel_advisor.tuning.probe.channel.wire import Settings
from accel_advisor.tuning.search.settings import consistent

FORMULAS: dict[str, Callable[[int], int]] = {
    "half the cores": lambda cores: max(1, cores // 2),
    "all cores": lambda cores: cores,
    "4 workers": lambda _: 4,
    "Lightning": lambda cores: max(1, cores - 1),
}
"""By name, from the cores of the machine. Lightning's is ``suggested_max_num_workers`` in
``lightning.fabric.utilities.data`` of Lightning 2.6.6: the cores that the affinity allows, divided by the devices, less
one; here for one device."""


def choices(baseline: Settings, cores: int) -> dict[str, Settings]:
    """What each formula makes of the settings in the source; as they are first."""
    found = {"as it was": baseline}
    for name, workers in FORMULAS.items():
        found[name] = consistent(replace(baseline, num_workers=workers(cores)))
    return found
