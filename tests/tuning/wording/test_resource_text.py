"""What chosen settings take of a machine, and when that is named."""

from __future__ import annotations

from dataclasses import replace

import pytest

from accel_advisor.tuning.probe.channel.wire import Settings
from accel_advisor.tuning.search.settings import Limits
from accel_advisor.tuning.wording.resource_text import scarce, use_text

MIB = 1 << 20
LIMITS = Limits(4, memory=1000 * MIB, shared_memory=64 * MIB, batch=2 * MIB, worker=50 * MIB)


def test_what_is_taken_is_said_with_what_is_free() -> None:
    assert use_text(LIMITS.use(Settings(4))) == (
        "about 220 MiB of memory (1,000 MiB are free), 20 MiB of it in /dev/shm (64 MiB are free)"
    )
    assert use_text(Limits(4).use(Settings())) == "about 0 KiB of memory, 0 KiB of it in /dev/shm"


def test_pinned_memory_is_said_where_pinning_has_an_effect() -> None:
    pinned = Settings(4, pin_memory=True)
    assert use_text(LIMITS.use(pinned)) == use_text(LIMITS.use(Settings(4)))
    assert use_text(replace(LIMITS, pins=True).use(pinned)) == (
        "about 240 MiB of memory (1,000 MiB are free), 20 MiB of it in /dev/shm (64 MiB are free), 20 MiB of it pinned"
    )


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        (Settings(4), []),
        (Settings(4, 4), ["/dev/shm"]),
        (Settings(10), ["memory", "/dev/shm"]),
    ],
)
def test_more_than_half_of_what_is_free_is_named(settings: Settings, named: list[str]) -> None:
    notes = scarce(LIMITS.use(settings))
    assert [name for note in notes for name in ("memory", "/dev/shm") if f"of {name} that are free" in note] == named
