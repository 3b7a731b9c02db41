"""ACC104 worker-args-without-workers, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..checks import Pair, check, check_pair, fixed
from .programs import PARSED, SAMPLERS

SILENT = {
    "persistent off": "DataLoader(data, persistent_workers=False)",
    "no prefetch factor": "DataLoader(data, prefetch_factor=None)",
    "depends on the count": "n = conf.n\nDataLoader(data, num_workers=n, persistent_workers=n > 0)",
    "workers from an option": "DataLoader(data, num_workers=args.workers, persistent_workers=True)",
    "workers not known": "DataLoader(data, num_workers=conf.n, prefetch_factor=2)",
    "unknown dict": "DataLoader(data, persistent_workers=True, **conf.loader)",
    "workers in a dict": "kw = dict(num_workers=2)\nDataLoader(data, persistent_workers=True, **kw)",
    "sometimes workers": "DataLoader(data, num_workers=2 if conf.fast else 0, persistent_workers=True)",
    "no timeout": "DataLoader(data, timeout=0)",
    "not torch": "from paddle.io import DataLoader\nDataLoader(data, persistent_workers=True)",
}


@pytest.mark.parametrize("spelling", SILENT.values(), ids=SILENT.keys())
def test_silent_where_workers_may_be(spelling: str, tmp_path: Path) -> None:
    check(PARSED + spelling + "\n", tmp_path)


def test_silent_about_the_only_prefetch_factor_that_old_versions_take(tmp_path: Path) -> None:
    old = {"requirements.txt": "torch>=1.13\n"}
    check(PARSED + "DataLoader(data, prefetch_factor=2)\n", tmp_path, old)
    check(PARSED + "DataLoader(data, prefetch_factor=4)  # -> ACC104 error safe\n", tmp_path, old)


OPTION = """
parser = argparse.ArgumentParser()
parser.add_argument("--n", type=int, default=4)
args = parser.parse_args()
"""
PAIRS = {
    "not persistent": Pair(SAMPLERS + "DataLoader(data, persistent_workers=False)", "False", "True"),
    "no prefetch_factor": Pair(SAMPLERS + "DataLoader(data, prefetch_factor=None)", "None", "4"),
    "no context": Pair(SAMPLERS + "DataLoader(data, multiprocessing_context=None)", "None", "'spawn'"),
    "no timeout": Pair(SAMPLERS + "DataLoader(data, timeout=0)", "0", "3"),
    "the count decides": Pair(
        SAMPLERS + "n = 0\nDataLoader(data, num_workers=n, persistent_workers=n > 0)", "n > 0", "True"
    ),
    "the count, as a bool": Pair(
        SAMPLERS + "n = 0\nDataLoader(data, num_workers=n, persistent_workers=bool(n))", "bool(n)", "True"
    ),
    "prefetch_factor where there are workers": Pair(
        SAMPLERS + "n = 0\nDataLoader(data, num_workers=n, prefetch_factor=4 if n > 0 else None)",
        "4 if n > 0 else None",
        "4",
    ),
    "a setting": Pair(SAMPLERS + "DataLoader(data, num_workers=conf.n, persistent_workers=True)", "conf.n", "0"),
    "an option": Pair(
        SAMPLERS + OPTION + "DataLoader(data, num_workers=args.n, persistent_workers=True)", "num_workers=args.n, "
    ),
    "unknown keywords": Pair(SAMPLERS + "DataLoader(data, persistent_workers=True, **conf.kw)", ", **conf.kw"),
    "a parameter": Pair(
        SAMPLERS + "def make(n): return DataLoader(data, num_workers=n, persistent_workers=True)\nmake(2)\nmake(0)\n",
        "make(2)\n",
    ),
    "an old torch": Pair(
        SAMPLERS + "DataLoader(data, prefetch_factor=2)", "=2", "=4", {"requirements.txt": "torch>=1.13\n"}
    ),
    "paddle": Pair(
        SAMPLERS + "from paddle.io import DataLoader as P\nP(data, persistent_workers=True)",
        "P(data",
        "DataLoader(data",
    ),
    "the position of monai": Pair(
        SAMPLERS + "from monai.data import DataLoader as M\nM(data, 2, persistent_workers=True)",
        "M(data",
        "DataLoader(data",
    ),
    "a default of one worker": Pair(
        SAMPLERS + "from timm.data import create_loader\ncreate_loader(data, persistent_workers=True)",
        "create_loader(data",
        "DataLoader(data",
    ),
    "a subclass that has workers": Pair(
        SAMPLERS
        + "class Mine(DataLoader):\n    def __init__(self, *args, **kw):\n        kw.setdefault('num_workers', 2)\n        super().__init__(*args, **kw)\nMine(data, persistent_workers=True)",
        "kw.setdefault('num_workers', 2)",
        "pass",
    ),
}


@pytest.mark.parametrize("case", PAIRS)
def test_silent_for_one_reason(case: str, tmp_path: Path) -> None:
    check_pair("ACC104", PAIRS[case], tmp_path)


REPORTED = [
    "DataLoader(data, persistent_workers=True)",
    "DataLoader(data, num_workers=0, prefetch_factor=4)",
    "DataLoader(data, timeout=10)",
    "DataLoader(data, multiprocessing_context='spawn')",
]


@pytest.mark.parametrize("spelling", REPORTED)
def test_reports_what_only_workers_can_use(spelling: str, tmp_path: Path) -> None:
    check(PARSED + spelling + "  # -> ACC104 error safe\n", tmp_path)


def test_what_comes_out_of_a_dict_has_no_fix(tmp_path: Path) -> None:
    check(PARSED + "kw = {'prefetch_factor': 2}\nDataLoader(data, **kw)  # -> ACC104 error none\n", tmp_path)


def test_drops_the_argument_wherever_it_stands(tmp_path: Path) -> None:
    source = "loader = DataLoader(\n    data,\n    persistent_workers=True,  # why\n    batch_size=2,\n)\n"
    assert fixed("ACC104", PARSED + source, tmp_path).endswith("DataLoader(\n    data,  # why\n    batch_size=2,\n)\n")
    source = "loader = DataLoader(persistent_workers=True, dataset=data)\n"
    assert fixed("ACC104", PARSED + source, tmp_path).endswith("DataLoader(dataset=data)\n")
