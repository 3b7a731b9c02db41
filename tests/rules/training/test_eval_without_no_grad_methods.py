"""ACC401 eval-without-no-grad where a method of the model computes, and no call of the model itself: silent cases
first."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..checks import findings_of
from ..programs import IMPORTS

EVALUATES = (
    IMPORTS
    + """
import lib
class Net(nn.Module):
    def __init__(self, encoder):
        super().__init__()
        self.encoder = encoder
    def loss(self, batch):
        out = self.encoder.forward(batch)
        return out.mean(), out.std().item()
def evaluate(model, loader):
    model.eval()
    for batch in loader:
        _, spread = model.loss(batch)
        print(spread)
evaluate(torch.load("net.pt"), DataLoader(lib.data, batch_size=8))
"""
)
RUNS = "out = self.encoder.forward(batch)"
SILENT = {
    "no method of a module": ("class Net(nn.Module):", "class Net(lib.Thing):"),
    "a method that runs no part": (RUNS, "out = batch"),
    "a method of another name": ("def loss(", "def price("),
    "a method that takes nothing": ("def loss(self, batch):", "def loss(self):\n        batch = self.last"),
    "a method that returns nothing": ("        return out.mean(), out.std().item()", "        self.last = out"),
    "a method that stops autograd": ("    def loss(", "    @torch.no_grad()\n    def loss("),
    "one of several that stops autograd": (
        "def evaluate(",
        "def loss(x):\n    with torch.no_grad():\n        pass\ndef evaluate(",
    ),
    "a method that differentiates": (RUNS, f"{RUNS}\n        out.sum().backward()"),
    "in training mode again": ("    model.eval()", "    model.eval()\n    model.train()"),
    "a method of something else": ("model.loss(batch)", "lib.model.loss(batch)"),
}
SPOKEN = {
    "a part's forward": ("", ""),
    "a part": ("self.encoder.forward(", "self.encoder("),
    "through another method": (
        "    def loss(self, batch):\n        out = self.encoder.forward(batch)",
        "    def features(self, x):\n        return self.encoder(x)\n    def loss(self, batch):\n        out = self.features(batch)",
    ),
}


@pytest.mark.parametrize("case", SILENT)
def test_silent_where_a_method_may_not_compute_under_autograd(case: str, tmp_path: Path) -> None:
    before, after = SILENT[case]
    assert before in EVALUATES
    assert findings_of("ACC401", EVALUATES.replace(before, after), tmp_path) == []


@pytest.mark.parametrize("case", SPOKEN)
def test_speaks_of_a_method_that_runs_parts_of_the_model(case: str, tmp_path: Path) -> None:
    before, after = SPOKEN[case]
    assert before in EVALUATES
    (found,) = findings_of("ACC401", EVALUATES.replace(before, after), tmp_path)
    assert found.message.startswith("`evaluate` evaluates `model.loss` over ")
    assert found.severity.value == "info"
