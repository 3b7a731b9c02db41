"""ACC120 num-workers-hard-coded-high, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..checks import Pair, check_one, check_pair, severities
from ..programs import NUMBERS
from .programs import SAMPLERS

SILENT = ["DataLoader(data, num_workers=15)", "DataLoader(data, num_workers=conf.n)"]


@pytest.mark.parametrize("source", SILENT)
def test_silent(source: str, tmp_path: Path) -> None:
    check_one("ACC120", NUMBERS + source, tmp_path)


OPTION = """
parser = argparse.ArgumentParser()
parser.add_argument("--n", type=int, default=4)
args = parser.parse_args()
"""
PAIRS = {
    "fifteen": Pair(SAMPLERS + "DataLoader(data, num_workers=15)", "15", "16"),
    "a setting": Pair(SAMPLERS + "DataLoader(data, num_workers=conf.n)", "conf.n", "16"),
    "an option": Pair(SAMPLERS + OPTION.replace("4", "32") + "DataLoader(data, num_workers=args.n)", "args.n", "32"),
    "the environment": Pair(
        SAMPLERS + "DataLoader(data, num_workers=int(os.environ.get('N', 32)))\n", "int(os.environ.get('N', 32))", "32"
    ),
}


@pytest.mark.parametrize("case", PAIRS)
def test_silent_for_one_reason(case: str, tmp_path: Path) -> None:
    check_pair("ACC120", PAIRS[case], tmp_path)


REPORTED = ["DataLoader(data, num_workers=16)"]


@pytest.mark.parametrize("source", REPORTED)
def test_reported(source: str, tmp_path: Path) -> None:
    assert severities("ACC120", NUMBERS + source, tmp_path) == ["info"]
