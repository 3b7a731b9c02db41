"""ACC205 for what a program does seldom, and what it does apart from its training."""

from __future__ import annotations

from pathlib import Path

import pytest

from accel_advisor.finding import Severity

from ..checks import Pair, check_pair, findings_of
from ..programs import IMPORTS, MODEL

STATES = (
    IMPORTS
    + MODEL
    + """
class Slow(torch.optim.Optimizer):
    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                state = self.state[p]
                if len(state) == 0:
                    state["mean"] = torch.randn(4).to("cuda")
optimizer = Slow(model.parameters(), {})
for x, y in DataLoader([(1, 2)]):
    step(x, y)
"""
)
EVALUATION = (
    IMPORTS
    + """
model = nn.Linear(8, 2).cuda()
model.eval()
right = 0
for x, y in DataLoader([(1, 2)]):
    noise = torch.randn(len(x), 8).cuda()
    right += model(noise + x.cuda()).sum().item()
"""
)


def test_silent_about_the_state_of_an_optimizer_that_the_first_step_makes(tmp_path: Path) -> None:
    check_pair("ACC205", Pair(STATES, "if len(state) == 0:", "if True:"), tmp_path)


@pytest.mark.parametrize(
    ("change", "minor"),
    [
        (("", ""), True),
        (("len(x), 8", "len(x), 900, 8"), False),
        ((".item()", ""), True),
    ],
)
def test_advice_in_an_evaluation(change: tuple[str, str], minor: bool, tmp_path: Path) -> None:
    (found,) = findings_of("ACC205", EVALUATION.replace(*change), tmp_path)
    assert (found.severity, found.minor) == (Severity.INFO, minor)


def test_a_warning_where_the_model_learns(tmp_path: Path) -> None:
    learning = EVALUATION.replace("right += model(noise + x.cuda()).sum().item()", "model(noise).sum().backward()")
    (found,) = findings_of("ACC205", learning, tmp_path)
    assert (found.severity, found.minor) == (Severity.WARNING, False)
