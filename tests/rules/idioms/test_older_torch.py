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
import conf
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


BY_VERSION = OLD.replace(
    "    total = loss.data[0]",
    "    if torch.__version__ >= '0.4':\n        total = loss.item()\n    else:\n        total = loss.data[0]",
)
"""A program that was brought to both."""

OLDER = {
    "ACC201": "pass `async=True`",
    "ACC205": "make a tensor of `torch.cuda` and fill it there instead",
    "ACC401": "(torch 0.4 or later, which this program is too old for)",
}
"""What is said where a program is run with a torch before 0.4."""
README = "Install [PyTorch v0.3](http://pytorch.org) with CUDA.\n"


@pytest.mark.parametrize("code", OLDER)
@pytest.mark.parametrize(
    ("readme", "source", "told"),
    [
        (README, OLD, "older"),
        (README, NEW, "(torch 0.4 or later)"),
        (README, NEW.replace("float(loss)", "loss.item()"), ""),
        (README, BY_VERSION, "older"),
        (README, BY_VERSION.replace("torch.__version__ >= '0.4'", "conf.new"), ""),
        ("- PyTorch 0.3 or later\n", OLD, "(torch 0.4 or later)"),
        ("- PyTorch 0.4\n", OLD, ""),
        ("# A project\n", OLD, ""),
    ],
)
def test_the_torch_that_a_remedy_needs(code: str, readme: str, source: str, told: str, tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text(readme)
    found = findings_of(code, source, tmp_path)[0]
    assert ("(torch 0.4 or later)" in found.message) == told.startswith("(")
    assert (OLDER[code] in found.message) == (told == "older")
    assert (found.fix is None) == (told == "older")
    assert found.minor == (told == "older" and code == "ACC401"), "only what is not true of that torch"
    assert found.fix is None or not told or str(found.fix.applicability) == "unsafe"


def test_an_evaluation_that_nothing_keeps_from_recording(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text(README)
    (found,) = findings_of("ACC401", OLD.replace(", volatile=True", ""), tmp_path)
    assert (found.minor, found.fix) == (False, None)
    assert found.message.endswith("pass `volatile=True` to the Variables that it computes with")


@pytest.mark.parametrize("pin", ["torch==0.3.1", "pytorch=0.2.0=py36h53baedd_4cu80"])
def test_a_pin_says_the_same(pin: str, tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text(f"{pin}\n")
    assert OLDER["ACC201"] in findings_of("ACC201", OLD, tmp_path)[0].message
    assert not findings_of("ACC401", OLD, tmp_path)
