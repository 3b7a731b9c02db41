"""ACC208 host-sync-every-step in branches that no call of a function takes, by what it is given."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..checks import Pair, check_pair
from ..programs import IMPORTS

STEP = (
    IMPORTS
    + """
model = nn.Linear(8, 2).cuda()
def hits(out, y, reduction="mean"):
    found = (out.argmax(1) == y).float()
    if reduction == "none":
        return found
    elif reduction == "mean":
        return found.mean().item()
    else:
        return found.sum().item()
for x, y in DataLoader(TensorDataset(torch.zeros(8, 8), torch.zeros(8)), batch_size=4):
    out = model(x.cuda())
    out.sum().backward()
    kept = hits(out, y.cuda(), reduction="none")
"""
)
FIRST = STEP.replace('"none":\n        return found\n', '"mean":\n        return found.mean().item()\n').replace(
    'elif reduction == "mean":\n        return found.mean().item()\n    else:\n        return found.sum().item()',
    'elif reduction == "none":\n        return found',
)
PAIRS = {
    "a later branch": Pair(STEP, 'reduction="none")\n', 'reduction="sum")\n'),
    "the branch before": Pair(FIRST, 'reduction="none")\n', 'reduction="mean")\n'),
    "the branch before, by the default": Pair(FIRST, 'reduction="none")\n', "reduction=lib.asked)\n"),
    "the one before is taken": Pair(STEP, 'reduction == "none":', 'reduction == "all":'),
}


@pytest.mark.parametrize("case", PAIRS)
def test_silent_about_a_branch_that_no_call_takes(case: str, tmp_path: Path) -> None:
    check_pair("ACC208", PAIRS[case], tmp_path)
