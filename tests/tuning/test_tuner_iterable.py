"""More workers must not multiply the samples of an iterable data set: the trial says so, and does not try them."""

from pathlib import Path

import pytest

from accel_advisor.tuning.probe.channel.wire import Trait
from accel_advisor.tuning.target.command import Command
from accel_advisor.tuning.tuner import Options, tune

pytest.importorskip("torch")

SCRIPT = """\
import time
import torch
from torch.utils.data import DataLoader, IterableDataset

torch.set_num_threads(1)


class Stream(IterableDataset):
    def __iter__(self):
        for number in range(100_000):
            time.sleep(0.004)
            yield torch.full((4,), float(number % 7))


model = torch.nn.Linear(4, 1)
for inputs in DataLoader(Stream(), batch_size=4):
    loss = model(inputs).square().mean()
    model.zero_grad()
    loss.backward()
    time.sleep(0.002)
"""


def test_an_iterable_data_set_is_not_given_more_than_one_worker(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(SCRIPT)
    outcome = tune(Command(tmp_path / "train.py", None, (), tmp_path), Options(budget=5))
    tried = [row.settings.num_workers for row in outcome.rows if row.blocks]
    assert max(tried) <= 1
    assert Trait.ITERABLE in outcome.loaders[0].traits
