"""ACC208 in a meter that takes tensors and numbers alike: what shows that it is given tensors, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..checks import findings_of
from ..programs import IMPORTS

TRAINING = (
    IMPORTS
    + """
import lib
class Meter:
    def update(self, **given):
        for name, value in given.items():
            if isinstance(value, torch.Tensor):
                value = value.item()
            self.last = value
class Parts(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(8, 2)
    def forward(self, x):
        out = self.layer(x)
        return {"mean": out.mean(), "square": out.square().mean()}
def gathered(parts):
    if lib.alone():
        return parts
    names, values = [], []
    for name in sorted(parts):
        names.append(name)
        values.append(parts[name])
    values = torch.stack(values)
    return {name: value for name, value in zip(names, values)}
meter, model = Meter(), Parts().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for (x,) in DataLoader(TensorDataset(torch.zeros(64, 8)), batch_size=16, pin_memory=True):
    optimizer.zero_grad()
    parts = model(x.cuda(non_blocking=True))
    sum(parts.values()).backward()
    optimizer.step()
    meter.update(given=GIVEN)
"""
)
SILENT = {
    "a number": "optimizer.param_groups[0]['lr']",
    "what is not known": "lib.measure()",
    "a sum of numbers": "sum(group['lr'] for group in optimizer.param_groups)",
    "a list of what is not known": "lib.measure()[0]",
}
SPOKEN = {
    "a sum": "sum(parts.values())",
    "a sum of each": "sum(one for one in parts.values())",
    "a sum of a list": "sum([parts['mean'], parts['square']])",
    "a sum of what all processes have": "sum(one for one in gathered(parts).values())",
    "a norm of what is not known": "torch.norm(lib.gradients())",
    "what is joined, of what is not known": "torch.stack(lib.norms())",
}


@pytest.mark.parametrize("case", SILENT)
def test_silent_where_nothing_shows_a_tensor(case: str, tmp_path: Path) -> None:
    assert not findings_of("ACC208", TRAINING.replace("GIVEN", SILENT[case]), tmp_path)


@pytest.mark.parametrize("case", SPOKEN)
def test_speaks_where_it_is_given_a_tensor(case: str, tmp_path: Path) -> None:
    (found,) = findings_of("ACC208", TRAINING.replace("GIVEN", SPOKEN[case]), tmp_path)
    assert "at `value.item()`" in found.message
