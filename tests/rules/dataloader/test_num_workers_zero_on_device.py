"""Data sets that keep what their samples are taken from on the GPU."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..checks import Pair, check_pair

PAIRS = """
import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset

class Pairs(Dataset):
    def __init__(self, parts, levels, augment=None):
        self.parts, self.levels, self.augment = parts, levels, augment
    def __len__(self):
        return len(self.parts) ** 2
    def __getitem__(self, at):
        first = self.parts[at // len(self.parts)]
        if self.augment is not None:
            first = self.augment(first)
        return first, self.levels[at % len(self.parts)]

def collate(items):
    return [first for first, _ in items], torch.stack([level for _, level in items])

cuda = torch.cuda.is_available()
parts = [torch.from_numpy(np.zeros(9)) for _ in range(99)]
if cuda:
    parts = [part.cuda() for part in parts]
model = torch.nn.Linear(9, 2).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loader = DataLoader(Pairs(parts, torch.zeros(99), augment=torch.sin), batch_size=4, collate_fn=collate)
for first, levels in loader:
    levels = levels.cuda()
    optimizer.zero_grad()
    (model(torch.stack(first).cuda()).sum() - levels.sum()).backward()
    optimizer.step()
"""


@pytest.mark.parametrize("code", ["ACC101", "ACC102", "ACC201"])
def test_it_is_neither_pinned_nor_sent_by_workers(code: str, tmp_path: Path) -> None:
    check_pair(code, Pair(PAIRS, "part.cuda()", "part.clone()"), tmp_path)
