"""ACC123 in-order-false, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..checks import Pair, check_one, check_pair, severities
from ..programs import FILES, NUMBERS

TRAIN = "\nfor x in loader:\n    model(x).sum().backward()\n"
SILENT = [
    "loader = DataLoader(data, num_workers=2, in_order=True)" + TRAIN,
    "loader = DataLoader(data, in_order=False)" + TRAIN,
    "loader = DataLoader(Rows(), num_workers=1, in_order=False)" + TRAIN,
    "loader = DataLoader(data, num_workers=2, in_order=False)\nfor x in loader:\n    model(x)\n",
]


@pytest.mark.parametrize("source", SILENT)
def test_silent(source: str, tmp_path: Path) -> None:
    check_one("ACC123", NUMBERS + source, tmp_path)


PAIRS = {
    "in order": Pair(
        FILES + "loader = DataLoader(files, num_workers=2, in_order=True)" + TRAIN, "in_order=True", "in_order=False"
    ),
    "no workers": Pair(
        FILES + "loader = DataLoader(files, in_order=False)" + TRAIN, "files, ", "files, num_workers=2, "
    ),
    "a stream": Pair(
        FILES
        + "class Rows(IterableDataset):\n    def __iter__(self): return iter(conf.rows())\nloader = DataLoader(Rows(), num_workers=2, in_order=False)"
        + TRAIN,
        "(IterableDataset)",
        "(Dataset)",
    ),
    "a stream of datasets": Pair(
        FILES
        + "loader = DataLoader(datasets.load_dataset('a', streaming=True), num_workers=2, in_order=False)"
        + TRAIN,
        "datasets.load_dataset('a', streaming=True)",
        "files",
    ),
    "evaluation": Pair(
        FILES + "loader = DataLoader(files, num_workers=2, in_order=False)" + TRAIN.replace(".sum().backward()", ""),
        "model(x)",
        "model(x).sum().backward()",
    ),
    "a setting": Pair(FILES + "loader = DataLoader(files, num_workers=2, in_order=conf.o)" + TRAIN, "conf.o", "False"),
}


@pytest.mark.parametrize("case", PAIRS)
def test_silent_for_one_reason(case: str, tmp_path: Path) -> None:
    check_pair("ACC123", PAIRS[case], tmp_path)


REPORTED = ["loader = DataLoader(data, num_workers=2, in_order=False)" + TRAIN]


@pytest.mark.parametrize("source", REPORTED)
def test_reported(source: str, tmp_path: Path) -> None:
    assert severities("ACC123", NUMBERS + source, tmp_path) == ["info"]
