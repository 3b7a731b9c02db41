"""When loaders that come after a loop without one are taken for those of a loop that trains."""

from __future__ import annotations

import pytest
import torch
from torch.utils.data import DataLoader, TensorDataset

from accel_advisor.tuning.probe.measuring.seen_loaders import Records


def steps_until_fed(every: int, *, batches: int = 1, most: int = 200) -> int | None:
    """At which step a loop is seen to train with a loader that gives batches before every so many of its steps."""
    records = Records()
    loader = DataLoader(TensorDataset(torch.zeros(1, 1)))
    record = records.built(loader)
    for step in range(most):
        if step % every == 0:
            for batch in loader:
                for _ in range(batches):
                    records.pulled(record, batch, 0.0)
        if records.feeds_after_all():
            return step
    return None


@pytest.mark.parametrize(("every", "batches"), [(1, 1), (1, 4), (2, 1), (4, 1)])
def test_batches_between_the_steps_train(every: int, batches: int) -> None:
    """Also where several batches make one step, or several optimizers step for one batch."""
    assert steps_until_fed(every, batches=batches) == 3 * every


@pytest.mark.parametrize("every", [5, 20])
def test_a_loader_that_evaluates_now_and_then_does_not(every: int) -> None:
    assert steps_until_fed(every, batches=50) is None


def test_a_loop_without_any_loader_is_never_fed() -> None:
    records = Records()
    assert not any(records.feeds_after_all() for _ in range(20))


def test_what_went_before_the_first_batch_does_not_count() -> None:
    """A long loop without a loader, then one with it."""
    records = Records()
    for _ in range(1000):
        assert not records.feeds_after_all()
    loader = DataLoader(TensorDataset(torch.zeros(1, 1)))
    record = records.built(loader)
    seen = []
    for _ in range(4):
        for batch in loader:
            records.pulled(record, batch, 0.0)
        seen.append(records.feeds_after_all())
    assert seen == [False, False, False, True]
