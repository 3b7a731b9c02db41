"""Prices of a real script in a real trial."""

from __future__ import annotations

import time

import pytest

from accel_advisor.tuning.pricing.measured_prices import measured_prices
from accel_advisor.tuning.record.schema import Prices
from accel_advisor.tuning.target.command import Command
from accel_advisor.tuning.trial.session import Session

pytest.importorskip("torch")

SCRIPT = """\
import time
import torch
from torch.utils.data import DataLoader, TensorDataset

torch.set_num_threads(1)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = torch.nn.Linear(8, 2).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
data = TensorDataset(torch.ones(4000, 8), torch.ones(4000, 2))


def prepare(images):
    time.sleep(0.02)
    return images


for epoch in range(10_000):
    for number, (images, labels) in enumerate(DataLoader(data, batch_size=8)):
        loss = (model(prepare(images).to(device)) - labels.to(device)).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        torch.save(model.state_dict(), "last.pt")
        if number < 0:
            torch.save(model.state_dict(), "never.pt")
"""


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Prices:
    folder = tmp_path_factory.mktemp("project")
    (folder / "pyproject.toml").write_text("[project]\nname = 'x'\nversion = '1'\n")
    path = folder / "train.py"
    path.write_text(SCRIPT)
    with Session(Command(path, None, (), folder), deadline=time.monotonic() + 120, start_timeout=60) as session:
        ready = session.start()
        prices = measured_prices(session, 2.0, folder, ready.device)
        assert not session.notes
    assert prices is not None
    assert not list(folder.glob("*.pt"))
    return prices


def test_a_save_in_every_step_has_a_price(found: Prices) -> None:
    (save,) = [one for one in found.findings if one.code == "ACC427"]
    assert save.filename == "train.py"
    assert SCRIPT.splitlines()[save.row - 1].strip() == save.text == 'torch.save(model.state_dict(), "last.pt")'
    assert 0 < save.price.low < save.price.share < save.price.high < 1


def test_a_line_that_no_step_runs_has_none(found: Prices) -> None:
    assert all("never.pt" not in one.text for one in found.findings)


def test_a_dear_line_without_a_finding_is_named_where_it_stands(found: Prices) -> None:
    (nap,) = [one for one in found.lines if one.row == 13]
    assert (nap.filename, nap.calls) == ("train.py", "time.sleep(0.02)")


def test_the_listing_is_the_loop_over_the_batches(found: Prices) -> None:
    assert found.listing is not None
    rows = [line.row for line in found.listing.lines]
    assert rows == list(range(18, 26))
    (calls,) = [line for line in found.listing.lines if "prepare(images)" in line.text]
    assert calls.price is not None
    assert calls.price.share >= next(one.price.share for one in found.lines if one.row == 13)
