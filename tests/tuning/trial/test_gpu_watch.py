"""Samples of a GPU belong to the blocks in which they were taken."""

from __future__ import annotations

import sys
import threading
import time
from dataclasses import replace

import pytest

from accel_advisor.machine.gpus import Sample, driver, gpus, handle_of, metered
from accel_advisor.tuning.probe.channel.wire import BASELINE, Block
from accel_advisor.tuning.record.device_schema import DeviceUse
from accel_advisor.tuning.record.device_use import spans, use
from accel_advisor.tuning.trial.gpu_watch import PERIOD, GpuWatch

from ...machine.some_cards import library

GIB = 1 << 30


def test_without_a_gpu_nothing_is_watched() -> None:
    samples: list[Sample] = []
    with GpuWatch([""], samples):
        assert not [one for one in threading.enumerate() if one.name == "gpu-watch"]
        time.sleep(2 * PERIOD)
    with GpuWatch(["GPU-00000000-0000-0000-0000-000000000000"], samples):
        time.sleep(2 * PERIOD)
    assert samples == []


def test_samples_outside_of_every_block_do_not_count() -> None:
    samples = [Sample(at, 1.0, GIB, 700.0, 1980) for at in (0.0, 5.0, 5.05, 20.0)]
    assert use(samples, []) is None
    assert use(samples, [(5.0, 5.1)]) is None  # what was sampled then is the period before
    assert use([], [(0.0, 10.0)]) is None


def test_means_and_the_most() -> None:
    samples = [
        Sample(1.0, 0.2, 2 * GIB, 100.0, 1000),
        Sample(2.0, 0.4, 3 * GIB, 300.0, 2000),
        Sample(9.0, 1.0, GIB, 0.0, 0),
    ]
    found = use(samples, [(0.5, 2.5)])
    assert found == DeviceUse(pytest.approx(0.3), 3 * GIB, 200.0, 1500.0)
    assert found is not None
    assert found.sentence == "30 % busy, 3.0 GiB in use, 200 W, 1,500 MHz"


def test_what_the_driver_does_not_tell_stays_open() -> None:
    found = use([Sample(1.0, None, GIB, None, None)], [(0.0, 2.0)])
    assert found == DeviceUse(None, GIB, None, None)
    assert found is not None
    assert found.sentence == "1.0 GiB in use"


def test_what_lies_between_two_stretches_of_a_block_does_not_count() -> None:
    """An evaluation between two epochs is as busy as can be; the clock of the block stands meanwhile."""
    samples = [Sample(at, busy, GIB, None, None) for at, busy in ((0.5, 0.2), (1.5, 1.0), (2.5, 0.4))]
    block = Block(BASELINE, 8, 128, 2.0, 1.0, 0.0, 1.0, 0.0, began=0.0)
    assert use(samples, spans([block])) == DeviceUse(pytest.approx(0.6), GIB)
    paused = replace(block, stretches=((0.0, 1.0), (2.0, 3.0)))
    assert use(samples, spans([paused])) == DeviceUse(pytest.approx(0.3), GIB)


@pytest.mark.parametrize(
    ("uuids", "energy"), [(["GPU-a"], 1.5), (["GPU-a", "GPU-b", "GPU-a"], 3.5), (["GPU-a", "elsewhere"], None)]
)
def test_the_counters_of_all_cards_that_train_are_read(
    monkeypatch: pytest.MonkeyPatch, uuids: list[str], energy: float | None
) -> None:
    """The first one is watched in any case; a rank on another node has a card that is not here."""
    monkeypatch.setitem(sys.modules, "pynvml", library({"GPU-a": 1500, "GPU-b": 2000}))
    samples: list[Sample] = []
    with GpuWatch(uuids, samples):
        time.sleep(3 * PERIOD)
    assert samples
    assert {one.energy for one in samples} == {energy}


@pytest.mark.gpu
def test_a_gpu_is_watched() -> None:
    found = gpus()
    if not found:
        pytest.skip("no NVIDIA GPU, or no driver that reports it")
    samples: list[Sample] = []
    with GpuWatch([found[0].uuid], samples):
        time.sleep(5 * PERIOD)
    assert len(samples) >= 2
    assert all(one.memory is not None for one in samples) or found[0].divided
    with driver() as library:
        counted = bool(metered(library, [handle_of(library, found[0].uuid)])) and samples[0].energy is not None
    if counted:
        energies = [one.energy or 0.0 for one in samples]
        assert energies == sorted(energies)
        assert energies[-1] > energies[0]
