"""ACC208 under conditions that are seldom met, whichever loop they tell the passes of apart."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..checks import Pair, check_pair
from ..programs import IMPORTS

MICRO_STEPS = (
    IMPORTS
    + """
class Trainer:
    def __init__(self):
        self.model = nn.Linear(8, 2).cuda()
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)
        self.steps = 0
        self.floor = None
    def train(self, batches):
        seldom = self.steps > 100 and self.steps % 32 == 0
        for x in batches:
            loss = self.model(x.cuda()).sum()
            if CONDITION:
                self.floor = loss.item()
            loss.backward()
        self.optimizer.step()
        self.steps += 1
trainer = Trainer()
for _ in range(1000):
    trainer.train(DataLoader(TensorDataset(torch.zeros(8, 8))))
"""
)


@pytest.mark.parametrize("condition", ["seldom", "self.floor is None", "self.steps % 32 == 0"])
def test_silent_about_what_seldom_happens(condition: str, tmp_path: Path) -> None:
    check_pair("ACC208", Pair(MICRO_STEPS.replace("CONDITION", condition), f"if {condition}:", "if True:"), tmp_path)


def test_silent_about_a_search_for_a_learning_rate(tmp_path: Path) -> None:
    source = MICRO_STEPS.replace("train(", "find_lr(").replace("CONDITION", "True")
    check_pair("ACC208", Pair(source, "find_lr(", "train("), tmp_path)
