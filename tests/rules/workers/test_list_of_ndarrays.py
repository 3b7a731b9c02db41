"""ACC124 dataset-list-of-ndarrays, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..checks import Pair, check_one, check_pair, severities
from ..programs import FILES, NUMBERS

SILENT = [
    "torch.tensor([1.0, 2.0])",
    "torch.tensor([float(x) for x in conf.rows()])",
    "torch.tensor([conf.load(x) for x in data])",
    "torch.tensor(np.stack([np.load(x) for x in conf.names]))",
    "torch.stack([torch.from_numpy(np.load(x)) for x in conf.names])",
]


@pytest.mark.parametrize("source", SILENT)
def test_silent(source: str, tmp_path: Path) -> None:
    check_one("ACC124", NUMBERS + source, tmp_path)


PAIRS = {
    "numbers": Pair(FILES + "torch.tensor([1.0, 2.0])", "1.0, 2.0", "np.zeros(3), np.ones(3)"),
    "a list of numbers": Pair(FILES + "torch.tensor([float(x) for x in conf.rows()])", "float(x)", "np.load(x)"),
    "unknown": Pair(FILES + "torch.tensor([conf.load(x) for x in data])", "conf.load(x)", "np.load(x)"),
    "stacked": Pair(
        FILES + "torch.tensor(np.stack([np.load(x) for x in conf.names]))",
        "np.stack([np.load(x) for x in conf.names])",
        "[np.load(x) for x in conf.names]",
    ),
    "numbers of arrays": Pair(FILES + "torch.tensor([np.load(x)[0] for x in conf.names])", "[0]"),
    "lists": Pair(FILES + "torch.tensor([np.load(x).tolist() for x in conf.names])", ".tolist()"),
    "numbers among arrays": Pair(FILES + "torch.tensor([np.zeros(3), 1.0])", ", 1.0", ", np.ones(3)"),
}


@pytest.mark.parametrize("case", PAIRS)
def test_silent_for_one_reason(case: str, tmp_path: Path) -> None:
    check_pair("ACC124", PAIRS[case], tmp_path)


REPORTED = [
    "torch.tensor([np.load(x) for x in conf.names])",
    "torch.tensor([np.zeros(3), np.ones(3)])",
]


@pytest.mark.parametrize("source", REPORTED)
def test_reported(source: str, tmp_path: Path) -> None:
    assert severities("ACC124", NUMBERS + source, tmp_path) == ["info"]
