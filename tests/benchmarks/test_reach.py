"""How much of a project is seen to run in its training."""

from __future__ import annotations

from pathlib import Path

from benchmarks.reach import Reach, reach, table

MODELS = """
import torch
from torch import nn

class Used(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 3)
    def forward(self, x):
        return torch.relu(self.layer(x)) + torch.ones(3)

class Idle(nn.Module):
    def forward(self, x):
        return torch.relu(x) + torch.ones(3)
"""
TRAINING = """
import torch
from models import Used
model = Used()
optimizer = torch.optim.SGD(model.parameters(), 0.1)
for x in torch.utils.data.DataLoader(torch.zeros(8, 3)):
    loss = model(x).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


def test_counts_the_modules_that_run_in_a_training(tmp_path: Path) -> None:
    (tmp_path / "models.py").write_text(MODELS)
    (tmp_path / "train.py").write_text(TRAINING)
    assert reach(tmp_path) == Reach(trains=True, forwards=2, reached=1)


def test_a_project_that_trains_nothing_says_so(tmp_path: Path) -> None:
    (tmp_path / "models.py").write_text(MODELS)
    assert reach(tmp_path) == Reach(trains=False, forwards=2, reached=0)


def test_the_projects_with_the_most_that_is_not_reached_come_first() -> None:
    lines = list(table({"a+b": Reach(True, 3, 2), "c+d": Reach(True, 9, 1), "e+f": Reach(True, 2, 2)}))
    assert lines == ["5 of 14 (0.36) in 3 projects that train", *lines[1:]]
    assert [line.rpartition(" ")[2] for line in lines[1:]] == ["c+d", "a+b"]
