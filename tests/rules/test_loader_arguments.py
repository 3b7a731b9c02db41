"""ACC104 and ACC105, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from .marked import check, fixed
from .programs import IMPORTS

HEAD = (
    IMPORTS
    + """
from torch.utils.data import BatchSampler, RandomSampler, SequentialSampler
import argparse, conf
data = [1, 2, 3]
class Rows(IterableDataset):
    def __init__(self, rows): self.rows = rows
    def __iter__(self):
        info = torch.utils.data.get_worker_info()
        return iter(self.rows)
parser = argparse.ArgumentParser()
parser.add_argument("--workers", type=int, default=0)
args = parser.parse_args()
"""
)

SILENT_WITHOUT_WORKERS = {
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


@pytest.mark.parametrize("spelling", SILENT_WITHOUT_WORKERS.values(), ids=SILENT_WITHOUT_WORKERS.keys())
def test_silent_where_workers_may_be(spelling: str, tmp_path: Path) -> None:
    check(HEAD + spelling + "\n", tmp_path)


LOUD_WITHOUT_WORKERS = [
    "DataLoader(data, persistent_workers=True)",
    "DataLoader(data, num_workers=0, prefetch_factor=4)",
    "DataLoader(data, timeout=10)",
    "DataLoader(data, multiprocessing_context='spawn')",
]


@pytest.mark.parametrize("spelling", LOUD_WITHOUT_WORKERS)
def test_reports_what_only_workers_can_use(spelling: str, tmp_path: Path) -> None:
    check(HEAD + spelling + "  # -> ACC104 error safe\n", tmp_path)


def test_silent_about_the_only_prefetch_factor_that_old_versions_take(tmp_path: Path) -> None:
    old = {"requirements.txt": "torch>=1.13\n"}
    check(HEAD + "DataLoader(data, prefetch_factor=2)\n", tmp_path, old)
    check(HEAD + "DataLoader(data, prefetch_factor=4)  # -> ACC104 error safe\n", tmp_path, old)


def test_what_comes_out_of_a_dict_has_no_fix(tmp_path: Path) -> None:
    check(HEAD + "kw = {'prefetch_factor': 2}\nDataLoader(data, **kw)  # -> ACC104 error none\n", tmp_path)


def test_drops_the_argument_wherever_it_stands(tmp_path: Path) -> None:
    source = "loader = DataLoader(\n    data,\n    persistent_workers=True,  # why\n    batch_size=2,\n)\n"
    assert fixed(HEAD + source, tmp_path, "ACC104").endswith("DataLoader(\n    data,  # why\n    batch_size=2,\n)\n")
    source = "loader = DataLoader(persistent_workers=True, dataset=data)\n"
    assert fixed(HEAD + source, tmp_path, "ACC104").endswith("DataLoader(dataset=data)\n")


SILENT_CONFLICTS = {
    "shuffle off": "DataLoader(data, shuffle=False, sampler=RandomSampler(data))",
    "shuffle none": "DataLoader(data, shuffle=None, sampler=RandomSampler(data))",
    "one or the other": (
        "sampler = RandomSampler(data) if conf.ddp else None\nDataLoader(data, shuffle=sampler is None, sampler=sampler)"
    ),
    "sampler perhaps none": "sampler = RandomSampler(data) if conf.ddp else None\n"
    "DataLoader(data, shuffle=True, sampler=sampler)",
    "unknown sampler": "DataLoader(data, shuffle=True, sampler=conf.sampler)",
    "what a function returns": "DataLoader(data, shuffle=True, sampler=conf.make_sampler())",
    "configured by a dataclass": (
        "import dataclasses\n@dataclasses.dataclass\nclass Config:\n    size: int = 2\n    workers: int = None\n"
        "DataLoader(data, num_workers=Config(**conf.values).workers)\nDataLoader(data, num_workers=Config(1, 4).workers)"
    ),
    "batch sampler with size one": "DataLoader(data, batch_size=1, batch_sampler=BatchSampler(data, 2, False))",
    "batch sampler alone": "DataLoader(data, batch_sampler=BatchSampler(SequentialSampler(data), 2, True))",
    "stream in its own order": "DataLoader(Rows(data), shuffle=False)",
    "whole samples": "DataLoader(data, batch_size=None, sampler=BatchSampler(RandomSampler(data), 2, False))",
    "workers set where there were some": "loader = DataLoader(data, num_workers=2)\nloader.num_workers = 4",
    "a loader's own attribute": "loader = DataLoader(data)\nloader.epoch = 4",
    "collate function replaced": "loader = DataLoader(data)\nloader.collate_fn = conf.collate",
    "prefetch set to nothing": "DataLoader(data, prefetch_factor=None, num_workers=2)",
}


@pytest.mark.parametrize("spelling", SILENT_CONFLICTS.values(), ids=SILENT_CONFLICTS.keys())
def test_silent_where_arguments_agree_or_are_not_known(spelling: str, tmp_path: Path) -> None:
    check(HEAD + spelling + "\n", tmp_path)


LOUD_CONFLICTS = [
    "DataLoader(data, shuffle=True, sampler=RandomSampler(data))  # -> ACC105 error unsafe",
    "DataLoader(data, batch_size=4, batch_sampler=BatchSampler(data, 2, False))  # -> ACC105 error none",
    "DataLoader(data, shuffle=True, batch_sampler=BatchSampler(data, 2, False))  # -> ACC105 error none",
    "DataLoader(data, drop_last=True, batch_sampler=BatchSampler(data, 2, False))  # -> ACC105 error none",
    "DataLoader(Rows(data), shuffle=True)  # -> ACC105 error none",
    "DataLoader(Rows(data), sampler=RandomSampler(data))  # -> ACC105 error none",
    "DataLoader(data, batch_size=None, drop_last=True)  # -> ACC105 error none",
    "DataLoader(data, num_workers=-1)  # -> ACC105 error none",
    "DataLoader(data, num_workers=2.0)  # -> ACC105 error none",
    "DataLoader(data, num_workers='2')  # -> ACC105 error none",
    "DataLoader(data, num_workers=None)  # -> ACC105 error none",
    "DataLoader(data, num_workers=2, prefetch_factor=0)  # -> ACC105 error none",
    "loader = DataLoader(data)\nloader.batch_size = 4  # -> ACC105 error none",
    "loader = DataLoader(data)\nloader.dataset = data  # -> ACC105 error none",
    "loader = DataLoader(data)\nloader.num_workers = 4  # -> ACC105 error none",
]


@pytest.mark.parametrize("spelling", LOUD_CONFLICTS)
def test_reports_arguments_that_contradict_each_other(spelling: str, tmp_path: Path) -> None:
    check(HEAD + spelling + "\n", tmp_path)
