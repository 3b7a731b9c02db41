"""Programs that were never brought to a newer torch: what is said of them is what that torch has."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..checks import findings_of
from ..programs import IMPORTS

SOURCE = (
    IMPORTS
    + """
from torch.autograd import Variable
model = nn.Linear(8, 2).cuda()
optimizer = torch.optim.SGD(model.parameters(), 0.1)
loader = DataLoader(TensorDataset(torch.zeros(64, 8)), batch_size=16, pin_memory=True)
for (x,) in loader:
    loss = model(x.cuda() + torch.zeros(16, 8).cuda()).sum()
    loss.backward()
    optimizer.step()
    total = READ
def evaluate():
    model.eval()
    for (x,) in loader:
        print(model(Variable(x, volatile=True).cuda()))
"""
)
OLD, NEW = SOURCE.replace("READ", "loss.data[0]"), SOURCE.replace("READ", "float(loss)")


@pytest.mark.parametrize("code", ["ACC201", "ACC205", "ACC401"])
@pytest.mark.parametrize(
    ("readme", "source", "told"),
    [
        ("Install [PyTorch v0.3](http://pytorch.org) with CUDA.\n", OLD, "this program is too old for"),
        ("Install [PyTorch v0.3](http://pytorch.org) with CUDA.\n", NEW, "(torch 0.4 or later)"),
        ("- PyTorch 0.3 or later\n", OLD, "(torch 0.4 or later)"),
        ("- PyTorch 0.4\n", OLD, ""),
        ("# A project\n", OLD, ""),
    ],
)
def test_the_torch_that_a_remedy_needs(code: str, readme: str, source: str, told: str, tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text(readme)
    found = findings_of(code, source, tmp_path)
    barred = told.startswith("this")
    assert found
    assert all(told in one.message and ("0.4 or later" in one.message) == bool(told) for one in found)
    assert all(one.minor or not barred for one in found)
    assert all((one.fix is None) == barred for one in found if code != "ACC401")
    assert all(one.fix is None or not told or str(one.fix.applicability) == "unsafe" for one in found)
