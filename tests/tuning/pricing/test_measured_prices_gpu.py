"""On a GPU: where the host waits, and what of that would have to be waited for anyway."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from accel_advisor.finding import Price
from accel_advisor.tuning.pricing.measured_prices import measured_prices
from accel_advisor.tuning.target.command import Command
from accel_advisor.tuning.trial.session import Session

torch = pytest.importorskip("torch")
pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="needs an accelerator"),
]

SCRIPT = """\
import time
import torch
from torch.utils.data import DataLoader, TensorDataset

device = torch.device("cuda")
model = torch.nn.Linear(4096, 4096).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-6)
loader = DataLoader(TensorDataset(torch.ones(4096, 8)), batch_size=8)
total = 0.0
for epoch in range(10_000):
    for (images,) in loader:
        images = images.to(device, non_blocking=True)
        loss = model(torch.ones(8192, 4096, device=device)).square().mean() + images.mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
        time.sleep(SECONDS)
"""


def item(folder: Path, seconds: float) -> Price:
    """The price of reading the loss in every step of a script that then does something else for so long."""
    (folder / "pyproject.toml").write_text("[project]\nname = 'x'\nversion = '1'\n")
    path = folder / "train.py"
    path.write_text(SCRIPT.replace("SECONDS", str(seconds)))
    with Session(Command(path, None, (), folder), deadline=time.monotonic() + 240, start_timeout=120) as session:
        ready = session.start()
        prices = measured_prices(session, 4.0, folder, ready.device)
    assert prices is not None
    (found,) = [one for one in prices.findings if one.code == "ACC208"]
    assert found.text == "loss.item()"
    return found.price


def test_a_wait_for_a_device_that_is_idle_afterwards_could_be_saved(tmp_path: Path) -> None:
    price = item(tmp_path, 0.05)
    assert price.waits == "device"
    assert price.saves is not None
    assert price.saves > 0.5 * price.share


def test_a_wait_for_a_device_that_is_never_idle_could_not(tmp_path: Path) -> None:
    price = item(tmp_path, 0.0)
    assert price.waits == "device"
    assert price.saves is not None
    assert price.saves < 0.5 * price.share
