"""The command `lint`: the waits of one step, in each format."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from accel_advisor.output import FOR_PEOPLE, formats

from ..conftest import Run

STEP = """
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

model = nn.Linear(8, 2).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
data = TensorDataset(torch.zeros(64, 8))
for (x,) in DataLoader(data, batch_size=16, num_workers=2, pin_memory=True):
    loss = model(x.cuda()).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(loss.item())
"""


@pytest.mark.parametrize("name", formats())
def test_the_waits_of_a_step_are_one_finding_for_people_alone(name: str, run: Run, project: Path) -> None:
    (project / "train.py").write_text(STEP)
    said = run("lint", "--select", "ACC201,ACC208", "--output-format", name).out
    if name in FOR_PEOPLE:
        assert "1 finding (" in said
        return
    assert "ACC201" in said
    assert "ACC208" in said
    if name == "json":
        assert [(one["code"], one["related"]) for one in json.loads(said)] == [("ACC201", []), ("ACC208", [])]
