"""ACC119 num-workers-all-cores, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..checks import Pair, check_one, check_pair, severities
from ..programs import NUMBERS
from .programs import SAMPLERS

GLOO = "torch.distributed.init_process_group('gloo')\n"
SILENT = [
    "DataLoader(data, num_workers=os.cpu_count())",
    GLOO + "DataLoader(data, num_workers=os.cpu_count() // 8)",
    GLOO + "DataLoader(data, num_workers=os.cpu_count() - 1)",
    GLOO + "DataLoader(data, num_workers=4)",
    "import lightning\nfabric = lightning.Fabric()\n" + GLOO + "DataLoader(data, num_workers=os.cpu_count())",
]


@pytest.mark.parametrize("source", SILENT)
def test_silent(source: str, tmp_path: Path) -> None:
    check_one("ACC119", NUMBERS + source, tmp_path)


PAIR_GROUP = "torch.distributed.init_process_group('gloo')\n"
PAIRS = {
    "one process": Pair(
        SAMPLERS + "DataLoader(data, num_workers=os.cpu_count())", "DataLoader(data", PAIR_GROUP + "DataLoader(data"
    ),
    "a part of the cores": Pair(SAMPLERS + PAIR_GROUP + "DataLoader(data, num_workers=os.cpu_count() // 8)", " // 8"),
    "all but one": Pair(SAMPLERS + PAIR_GROUP + "DataLoader(data, num_workers=os.cpu_count() - 1)", " - 1"),
    "at most eight": Pair(
        SAMPLERS + PAIR_GROUP + "DataLoader(data, num_workers=min(8, os.cpu_count()))",
        "min(8, os.cpu_count())",
        "os.cpu_count()",
    ),
    "Accelerate": Pair(
        SAMPLERS
        + PAIR_GROUP
        + "import accelerate\na = accelerate.Accelerator()\nDataLoader(data, num_workers=os.cpu_count())",
        "a = accelerate.Accelerator()",
    ),
}


@pytest.mark.parametrize("case", PAIRS)
def test_silent_for_one_reason(case: str, tmp_path: Path) -> None:
    check_pair("ACC119", PAIRS[case], tmp_path)


REPORTED = [
    GLOO + "DataLoader(data, num_workers=os.cpu_count())",
    GLOO + "DataLoader(data, num_workers=multiprocessing.cpu_count())",
]


@pytest.mark.parametrize("source", REPORTED)
def test_reported(source: str, tmp_path: Path) -> None:
    assert severities("ACC119", NUMBERS + source, tmp_path) == ["info"]
