"""ACC446 scalars-read-in-evaluation, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..checks import Pair, check_pair, findings_of
from ..programs import IMPORTS, MODEL

START = (
    IMPORTS + MODEL + "criterion = nn.MSELoss()\nloader = DataLoader(TensorDataset(torch.zeros(8, 8)), batch_size=4)\n"
)
EVALUATES = """
@torch.no_grad()
def evaluate():
    total = top = low = 0.0
    for i, (x,) in enumerate(loader):
        out = model(x.cuda())
        total += out.sum().item()
        top = max(top, float(out.max()))
        low += out.min().item()
"""
EPOCHS = """
for epoch in range(9):
    for x, in loader:
        step(x.cuda(), x.cuda())
    evaluate()
"""
READS = "total += out.sum().item()\n        top = max(top, float(out.max()))\n        low += out.min().item()\n"


@pytest.mark.parametrize(
    ("condition", "instead"),
    [
        pytest.param("total +=", "if i % 50: continue\n        total +=", id="some passes"),
        pytest.param("out = model(x.cuda())", "out = model(x.cuda()); out.sum().backward()", id="it learns"),
        pytest.param("evaluate", "plot_results", id="for eyes"),
        pytest.param(READS, "total += out.sum()\n", id="adds up on the GPU"),
        pytest.param(READS, "x = x.cuda()\n        total += x[0].item()\n", id="of the batch"),
        pytest.param("out = model(x.cuda())", "out = model(x.cuda()).cpu()", id="of the host"),
    ],
)
def test_silent(condition: str, instead: str, tmp_path: Path) -> None:
    """``instead`` is what keeps it silent; with ``condition`` in its place it speaks."""
    program = START + EVALUATES + EPOCHS
    assert condition in program
    pair = Pair(program.replace(condition, instead), instead, condition)
    check_pair("ACC446", pair, tmp_path)


def test_silent_where_the_copies_of_the_loop_are_told(tmp_path: Path) -> None:
    joins = EVALUATES.replace("total +=", "low = np.append(low, out.cpu())\n        total +=")
    assert not findings_of("ACC446", "import numpy as np\n" + START + joins + EPOCHS, tmp_path)
    assert findings_of("ACC445", "import numpy as np\n" + START + joins + EPOCHS, tmp_path)


def test_one_finding_a_loop_that_is_minor(tmp_path: Path) -> None:
    (found,) = findings_of("ACC446", START + EVALUATES + EPOCHS, tmp_path)
    assert "3 times, first at `out.sum().item()`" in found.message
    assert len(found.related) == 2
    assert found.minor


def test_what_is_read_twice_counts_once(tmp_path: Path) -> None:
    twice = EVALUATES.replace("out.min()", "out.sum()")
    (found,) = findings_of("ACC446", START + twice + EPOCHS, tmp_path)
    assert "2 times" in found.message
