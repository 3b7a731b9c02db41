"""ACC431 python-loop-over-batch, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..checks import Pair, check_one, check_pair
from ..programs import IMPORTS, MODEL
from .programs import LOGGING

SILENT = {
    "the whole batch": "    model(x)",
    "every so many": "    for i in range(3):\n        model(x)",
    "parts of several": "    for i in range(0, x.size(0), 4):\n        model(x[i:i + 4])",
    "steps through time": "    h = x\n    for t in range(x.size(0)):\n        h = model(x[t], h)",
    "a cell": "    cell = nn.RNNCell(8, 8)\n    for t in range(x.size(0)):\n        cell(x[t])",
    "another dimension": "    for t in range(x.size(1)):\n        model(x[:, t])",
    "a list of samples": "    for one in x:\n        model(one)",
    "another tensor": "    z = torch.zeros(4, 8)\n    for i in range(x.size(0)):\n        model(z[i])",
    "something unknown": "    for i in range(x.size(0)):\n        conf.model(x[i])",
    "a layer without weights": "    f = nn.ReLU()\n    for i in range(x.size(0)):\n        f(x[i])",
}


@pytest.mark.parametrize("source", SILENT.values(), ids=SILENT.keys())
def test_silent(source: str, tmp_path: Path) -> None:
    check_one("ACC431", LOGGING + "for x, y in loader:\n" + source + "\n", tmp_path)


ROWS = (
    IMPORTS
    + MODEL
    + """
import conf
loader = DataLoader(TensorDataset(torch.zeros(64, 8), torch.zeros(64)), batch_size=16)
for x, y in loader:
    for i in range(len(x)):
        {}
"""
)
PAIRS = {
    "a collate function": Pair(
        ROWS.format("model(x[i])").replace("=16", "=16, collate_fn=conf.collate"), ", collate_fn=conf.collate"
    ),
    "on a condition": Pair(ROWS.format("if y[i]: model(x[i])"), "if y[i]: "),
    "until a condition": Pair(ROWS.format("model(x[i])\n        if y[i]: break"), "\n        if y[i]: break"),
    "past a condition": Pair(ROWS.format("if y[i]: continue\n        model(x[i])"), "if y[i]: continue\n        "),
    "cut": Pair(ROWS.format("model(x[i][:y[i]])"), "[:y[i]]"),
    "cut at once": Pair(ROWS.format("model(x[i, :y[i]])"), ", :y[i]"),
    "cut before": Pair(ROWS.format("row = x[i, :y[i]]\n        model(row)"), ", :y[i]"),
    "with a state": Pair(ROWS.format("model(x[i], y[i])"), ", y[i]"),
    "a number that is not the batch's": Pair(
        ROWS.format("model(x[i])").replace("len(x)", "conf.n"), "conf.n", "len(x)"
    ),
}


@pytest.mark.parametrize("pair", PAIRS.values(), ids=PAIRS.keys())
def test_silent_for_one_reason(pair: Pair, tmp_path: Path) -> None:
    check_pair("ACC431", pair, tmp_path)


@pytest.mark.parametrize("rows", ["x.size(0)", "x.shape[0]", "len(x)"])
@pytest.mark.parametrize("row", ["x[i]", "x[i].unsqueeze(0)", "x[i].cuda()"])
def test_reported(rows: str, row: str, tmp_path: Path) -> None:
    source = f"for x, y in loader:\n    for i in range({rows}):\n        model({row})  # -> info none\n"
    check_one("ACC431", LOGGING + source, tmp_path)
