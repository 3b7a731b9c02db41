"""ACC208 where a loss is read as it was until torch 0.4."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..checks import Pair, check_pair
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
