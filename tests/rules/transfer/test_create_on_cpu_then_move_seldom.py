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
    learning = learning.replace("len(x), 8", "len(x), 900, 8")
    (found,) = findings_of("ACC205", learning, tmp_path)
    assert (found.severity, found.minor) == (Severity.WARNING, False)


IN_BRANCHES = (
    IMPORTS
    + """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 8)
    def forward(self, x):
        n = x.size(1)
        if TEST:
            m = torch.ones(n, n).cuda()
        else:
            m = 1
        return self.fc(x) * m
model = Net().cuda()
for x, y in DataLoader([(1, 2)]):
    model(x.cuda()).sum().backward()
"""
)


@pytest.mark.parametrize(
    ("test", "level", "minor"),
    [
        ("self.training", Severity.WARNING, False),
        ("not self.training", Severity.INFO, True),
        ("n > 1", Severity.WARNING, False),
    ],
)
def test_advice_in_a_branch_for_evaluation(test: str, level: Severity, minor: bool, tmp_path: Path) -> None:
    (found,) = findings_of("ACC205", IN_BRANCHES.replace("TEST", test), tmp_path)
    assert (found.severity, found.minor) == (level, minor)
    assert (found.wait is None) == minor  # no step of the training comes there


def test_more_than_a_little_is_told_in_a_branch_for_evaluation(tmp_path: Path) -> None:
    large = IN_BRANCHES.replace("TEST", "not self.training").replace("ones(n, n)", "ones(len(x), n, n)")
    (found,) = findings_of("ACC205", large, tmp_path)
    assert (found.severity, found.minor) == (Severity.INFO, False)


PREPARED = (
    IMPORTS
    + """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc, self.mask = nn.Linear(8, 8), None
    def forward(self, x):
        n = x.size(1)
        if TEST:
            self.mask = torch.randn(n, n).cuda()
        return self.fc(x) * self.mask
def main(args):
    if args.spread:
        args.spread = conf.start(train, args)
    else:
        train(args)
def train(args):
    net = Net().cuda()
    for x, y in DataLoader([(1, 2)]):
        net(x.cuda()).sum().backward()
main(conf.args)
"""
)


def test_what_a_program_settles_before_it_trains_does_not_make_the_steps_seldom(tmp_path: Path) -> None:
    check_pair("ACC205", Pair(PREPARED.replace("TEST", "self.mask is None"), "self.mask is None", "n > 1"), tmp_path)
