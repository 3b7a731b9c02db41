"""What the driver says of GPUs."""

from __future__ import annotations

from accel_advisor.machine.gpus import driver, gpus, handle_of


def test_a_driver_that_is_not_there_is_none() -> None:
    with driver() as library:
        if library is not None:
            assert handle_of(library, "") is None
            assert handle_of(library, "GPU-0") is None
            return
    assert gpus() == ()
