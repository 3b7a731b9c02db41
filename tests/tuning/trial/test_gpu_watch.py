"""Samples of a GPU belong to the blocks in which they were taken."""

from __future__ import annotations

import threading
import time

import pytest

from accel_advisor.machine.gpus import Sample, gpus
from accel_advisor.tuning.record.device_use import use
from accel_advisor.tuning.record.schema import DeviceUse
from accel_advisor.tuning.trial.gpu_watch import PERIOD, GpuWatch

GIB = 1 << 30


def test_without_a_gpu_nothing_is_watched() -> None:
    samples: list[Sample] = []
    with GpuWatch("", samples):
        assert not [one for one in threading.enumerate() if one.name == "gpu-watch"]
        time.sleep(2 * PERIOD)
    with GpuWatch("GPU-00000000-0000-0000-0000-000000000000", samples):
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


@pytest.mark.gpu
def test_a_gpu_is_watched() -> None:
    found = gpus()
    if not found:
        pytest.skip("no NVIDIA GPU, or no driver that reports it")
    samples: list[Sample] = []
    with GpuWatch(found[0].uuid, samples):
        time.sleep(5 * PERIOD)
    assert len(samples) >= 2
    assert all(one.memory is not None for one in samples) or found[0].divided
