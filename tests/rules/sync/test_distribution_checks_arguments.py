"""ACC222 distribution-checks-arguments, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..checks import Pair, check_one, check_pair, findings_of, fixed

PROGRAM = """
import torch
from torch import nn
from torch.distributions import Categorical, Independent, Normal, kl_divergence

class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 4)
    def forward(self, x):
        return Categorical(logits=self.fc(x))

policy = Policy().cuda()
for step in range(100):
    policy(torch.zeros(2, 8).cuda()).sample()
"""
LOOP = """
import torch
from torch.distributions import Normal
device = torch.device("cuda")
mean = torch.zeros(9, device=device)
for step in range(100):
    mean = mean + Normal(mean, torch.ones_like(mean)).sample()
"""
OWN = PROGRAM.replace(
    "class Policy",
    "class Actions(Categorical):\n    def mode(self):\n        return self.probs.argmax(-1)\n\nclass Policy",
).replace("return Categorical(", "return Actions(")


def pair(program: str, here: str, silent: str) -> Pair:
    """A program that says ``silent`` where another one says something else."""
    assert here in program
    return Pair(program.replace(here, silent), silent, here)


PAIRS = {
    "no checks": pair(PROGRAM, "self.fc(x))", "self.fc(x), validate_args=False)"),
    "checks that are asked for": pair(PROGRAM, "self.fc(x))", "self.fc(x), validate_args=True)"),
    "no checks anywhere": pair(
        PROGRAM, "policy = P", "torch.distributions.Distribution.set_default_validate_args(False)\npolicy = P"
    ),
    "built once": pair(PROGRAM, "def forward", "def prior"),
    "no GPU": Pair(PROGRAM.replace(".cuda()", ".float()"), ".float()", ".cuda()"),
    "numbers": pair(LOOP, "Normal(mean, torch.ones_like(mean))", "Normal(0.0, 1.0)"),
    "on the host": pair(LOOP, "Normal(mean, torch.ones_like(mean))", "Normal(torch.zeros(9), torch.ones(9))"),
    "outside of the loop": pair(LOOP, "for step in range(100):", "if mean.numel():"),
    "once an epoch": pair(LOOP, "for step in", "for epoch in"),
    "a distribution of others": pair(PROGRAM, "return Categorical(logits=", "return Independent(base="),
    "in a class that nothing uses": pair(PROGRAM, "policy = Policy().cuda()", "policy = nn.Linear(8, 4).cuda()"),
    "a class that takes other things": pair(
        OWN,
        "    def mode(self):",
        "    def __init__(self, logits):\n        super().__init__(probs=logits, validate_args=False)\n    def mode(self):",
    ),
    "a class of something else": pair(OWN, "class Actions(Categorical)", "class Actions(dict)"),
    "a class that is told not to check": pair(OWN, "self.fc(x))", "self.fc(x), validate_args=False)"),
    "a class that may be told": pair(OWN, "self.fc(x))", "self.fc(x), **OPTIONS)"),
}


@pytest.mark.parametrize("case", PAIRS.values(), ids=PAIRS.keys())
def test_silent_for_one_reason(case: Pair, tmp_path: Path) -> None:
    check_pair("ACC222", case, tmp_path)


@pytest.mark.parametrize(("stated", "says"), [("torch==1.7.1", False), ("torch==1.8.0", True), ("torch>=1.6", True)])
def test_is_silent_where_torch_checks_nothing_unasked(stated: str, says: bool, tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text(f"{stated}\n")
    assert bool(findings_of("ACC222", PROGRAM, tmp_path)) == says


MARK = "  # -> info {fix}"


@pytest.mark.parametrize(
    ("program", "line", "fix"),
    [
        (PROGRAM, "logits=self.fc(x))", "unsafe"),
        (
            PROGRAM.replace("Categorical(logits", "torch.distributions.bernoulli.Bernoulli(logits"),
            "self.fc(x))",
            "unsafe",
        ),
        (LOOP, ".sample()", "unsafe"),
        (OWN, "Actions(logits=self.fc(x))", "none"),
    ],
    ids=["forward", "by its module", "loop", "a class of the project"],
)
def test_reports(program: str, line: str, fix: str, tmp_path: Path) -> None:
    (found,) = check_one("ACC222", program.replace(line, line + MARK.format(fix=fix)), tmp_path)
    assert found.confidence.value == "evident"
    assert "assuming that the device is a GPU" in found.message


def test_passes_the_argument(tmp_path: Path) -> None:
    assert "Categorical(logits=self.fc(x), validate_args=False)" in fixed("ACC222", f"{PROGRAM}# ACC222\n", tmp_path)
