"""ACC208 where a loss is read as it was until torch 0.4."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..checks import Pair, check_pair, findings_of
from ..programs import IMPORTS

TRAINING = (
    IMPORTS
    + """
model = nn.Linear(8, 2).cuda()
criterion = nn.MSELoss()
total = 0
for x, y in loader:
    loss = criterion(model(x.cuda()), y.cuda())
    loss.backward()
    kept = READ
"""
)


@pytest.mark.parametrize("read", ["loss.data[0]", "loss[0]", "'%f' % loss.data[0]"])
def test_an_index_of_what_has_no_dimensions_reads_it(read: str, tmp_path: Path) -> None:
    check_pair("ACC208", Pair(TRAINING.replace("READ", "loss.data"), "loss.data", read), tmp_path)


def test_what_is_differentiated_has_none_whatever_computed_it(tmp_path: Path) -> None:
    source = TRAINING.replace("criterion(", "conf.loss(").replace("model =", "import conf\nmodel =")
    check_pair("ACC208", Pair(source.replace("READ", "x.data[0]"), "x.data[0]", "loss.data[0]"), tmp_path)


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("README.md", "- PyTorch 0.3\n", "- PyTorch 0.4.1\n"),
        ("README.md", "## Requirements\n\nDocker (PyTorch 0.3)\n", "## Requirements\n\nDocker (PyTorch 0.4)\n"),
        ("requirements.txt", "torch==0.3\n", "torch==0.4\n"),
        ("requirements.txt", "torch\n", "torch>=1.0\n"),
    ],
)
def test_silent_where_the_first_element_is_a_tensor_or_an_error(file: str, old: str, new: str, tmp_path: Path) -> None:
    (tmp_path / file).write_text(old)
    assert findings_of("ACC208", TRAINING.replace("READ", "loss.data[0]"), tmp_path)
    (tmp_path / file).write_text(new)
    assert not findings_of("ACC208", TRAINING.replace("READ", "loss.data[0]"), tmp_path)
    assert findings_of("ACC208", TRAINING.replace("READ", "loss.item()"), tmp_path)


def test_silent_where_the_program_does_what_came_with_torch_0_4(tmp_path: Path) -> None:
    source = TRAINING.replace("READ", "loss.data[0]") + "EVALUATED:\n    model(x.cuda())\n"
    old, new = (source.replace("EVALUATED", one) for one in ("if True", "with torch.no_grad()"))
    assert findings_of("ACC208", old, tmp_path)
    assert not findings_of("ACC208", new, tmp_path)
