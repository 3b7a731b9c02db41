"""ACC105 dataloader-conflicting-args, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..checks import Pair, check, check_pair
from .programs import PARSED, SAMPLERS

SILENT = {
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


@pytest.mark.parametrize("spelling", SILENT.values(), ids=SILENT.keys())
def test_silent_where_arguments_agree_or_are_not_known(spelling: str, tmp_path: Path) -> None:
    check(PARSED + spelling + "\n", tmp_path)


SAMPLER = "sampler=RandomSampler(data)"
BATCHES = "batch_sampler=BatchSampler(SequentialSampler(data), 2, True)"
ROWS = "class Rows(IterableDataset):\n    def __iter__(self): return iter(data)\n"
LATE = [
    "batch_size = 4",
    "sampler = None",
    "dataset = data",
    "drop_last = True",
    "persistent_workers = True",
    "batch_sampler = None",
]
PAIRS = {
    "shuffle=False": Pair(SAMPLERS + f"DataLoader(data, shuffle=False, {SAMPLER})", "False", "True"),
    "shuffle=None": Pair(SAMPLERS + f"DataLoader(data, shuffle=None, {SAMPLER})", "None", "True"),
    "shuffle=sampler is None": Pair(
        SAMPLERS + "s = RandomSampler(data)\nDataLoader(data, shuffle=s is None, sampler=s)", "s is None", "True"
    ),
    "sampler=None": Pair(
        SAMPLERS + "s = None\nDataLoader(data, shuffle=True, sampler=s)", "s = None", "s = RandomSampler(data)"
    ),
    "a sampler on some paths": Pair(
        SAMPLERS + "s = RandomSampler(data) if conf.d else None\nDataLoader(data, shuffle=True, sampler=s)",
        " if conf.d else None",
    ),
    "a sampler that may be taken away": Pair(
        SAMPLERS + "s = RandomSampler(data)\nif conf.d:\n    s = None\nDataLoader(data, shuffle=True, sampler=s)",
        "s = None",
        "s = s",
    ),
    "what a function returns": Pair(
        SAMPLERS + "DataLoader(data, shuffle=True, sampler=conf.make())", "conf.make()", "RandomSampler(data)"
    ),
    "batch_size=1": Pair(SAMPLERS + f"DataLoader(data, batch_size=1, {BATCHES})", "=1", "=4"),
    "a batch size that is set": Pair(SAMPLERS + f"DataLoader(data, batch_size=conf.n, {BATCHES})", "conf.n", "4"),
    "drop_last=False": Pair(SAMPLERS + f"DataLoader(data, drop_last=False, {BATCHES})", "False", "True"),
    "a batch_sampler and shuffle=False": Pair(
        SAMPLERS + f"DataLoader(data, shuffle=False, {BATCHES})", "False", "True"
    ),
    "a batch_sampler and sampler=None": Pair(
        SAMPLERS + f"DataLoader(data, sampler=None, {BATCHES})", "sampler=None", SAMPLER
    ),
    "batch_sampler=None": Pair(
        SAMPLERS + "DataLoader(data, batch_size=4, batch_sampler=None)", "batch_sampler=None", BATCHES
    ),
    "a stream and shuffle=False": Pair(
        SAMPLERS + ROWS + "DataLoader(Rows(), shuffle=False)", "shuffle=False", "shuffle=True"
    ),
    "a stream and a setting": Pair(SAMPLERS + ROWS + "DataLoader(Rows(), shuffle=conf.s)", "conf.s", "True"),
    "a stream and sampler=None": Pair(SAMPLERS + ROWS + "DataLoader(Rows(), sampler=None)", "sampler=None", SAMPLER),
    "a stream and batch_sampler=None": Pair(
        SAMPLERS + ROWS + "DataLoader(Rows(), batch_sampler=None)", "batch_sampler=None", BATCHES
    ),
    "no stream": Pair(SAMPLERS + ROWS + "DataLoader(data, shuffle=True)", "(data,", "(Rows(),"),
    "a stream on some paths": Pair(
        SAMPLERS + ROWS + "d = Rows() if conf.s else data\nDataLoader(d, shuffle=True)", " if conf.s else data"
    ),
    "a loader of litdata": Pair(
        SAMPLERS + ROWS + "import litdata\nlitdata.StreamingDataLoader(Rows(), shuffle=True)",
        "litdata.StreamingDataLoader",
        "DataLoader",
    ),
    "batch_size=None and drop_last=False": Pair(
        SAMPLERS + "DataLoader(data, batch_size=None, drop_last=False)", "False", "True"
    ),
    "drop_last": Pair(SAMPLERS + "DataLoader(data, batch_size=4, drop_last=True)", "batch_size=4", "batch_size=None"),
    "drop_last and a setting": Pair(SAMPLERS + "DataLoader(data, batch_size=conf.n, drop_last=True)", "conf.n", "None"),
    "workers that are set": Pair(SAMPLERS + "DataLoader(data, num_workers=conf.n)", "conf.n", "-1"),
    "workers on some paths": Pair(SAMPLERS + "DataLoader(data, num_workers=-1 if conf.n else 2)", " if conf.n else 2"),
    "prefetch_factor=1": Pair(SAMPLERS + "DataLoader(data, num_workers=2, prefetch_factor=1)", "factor=1", "factor=0"),
    "a prefetch_factor that is set": Pair(
        SAMPLERS + "DataLoader(data, num_workers=2, prefetch_factor=conf.n)", "conf.n", "0"
    ),
    "an attribute of something else": Pair(
        SAMPLERS + "loader = conf.loader()\nloader.batch_size = 4\n", "conf.loader()", "DataLoader(data)"
    ),
    "workers were there": Pair(
        SAMPLERS + "loader = DataLoader(data, num_workers=2)\nloader.num_workers = 4", ", num_workers=2"
    ),
    "workers set to none": Pair(SAMPLERS + "loader = DataLoader(data)\nloader.num_workers = 0", "= 0", "= 4"),
    "workers set to a setting": Pair(
        SAMPLERS + "loader = DataLoader(data)\nloader.num_workers = conf.n", "conf.n", "4"
    ),
    "the position of torch_geometric": Pair(
        SAMPLERS + "from torch_geometric.loader import DataLoader as G\nG(data, 2, True, RandomSampler(data))",
        "G(data, 2",
        "DataLoader(data, 2",
    ),
    "unknown keywords": Pair(SAMPLERS + "DataLoader(data, shuffle=True, **conf.kw)", "**conf.kw", SAMPLER),
    **{
        f"num_workers={one}": Pair(SAMPLERS + "DataLoader(data, num_workers=2)", "=2", f"={one}")
        for one in ("-1", "2.0", "'2'", "None")
    },
    **{f"another {one}": Pair(SAMPLERS + f"loader = DataLoader(data)\nloader.my_{one}", "my_") for one in LATE},
}


@pytest.mark.parametrize("case", PAIRS)
def test_silent_for_one_reason(case: str, tmp_path: Path) -> None:
    check_pair("ACC105", PAIRS[case], tmp_path)


REPORTED = [
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


@pytest.mark.parametrize("spelling", REPORTED)
def test_reports_arguments_that_contradict_each_other(spelling: str, tmp_path: Path) -> None:
    check(PARSED + spelling + "\n", tmp_path)
