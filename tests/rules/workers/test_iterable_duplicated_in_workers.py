"""ACC103 iterable-dataset-duplicated-in-workers, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..checks import Pair, check, check_pair
from ..programs import IMPORTS
from .programs import HANDLES


def rows(body: str, init: str = "self.rows = list(range(6))") -> str:
    return f"class Rows(IterableDataset):\n    def __init__(self):\n        {init}\n    def __iter__(self):\n        {body}\n"


SILENT = {
    "divided": rows("return iter(self.rows[torch.utils.data.get_worker_info().id :: 2])"),
    "divided in a helper": rows("yield from self.mine()") + "    def mine(self):\n"
    "        info = torch.utils.data.get_worker_info()\n        return self.rows[info.id :: info.num_workers]\n",
    "endless": rows("while True:\n            yield random.choice(self.rows)"),
    "drawn at random": rows("for _ in self.rows:\n            yield torch.randn(3)"),
    "divided by a function": "def mine(rows):\n    info = torch.utils.data.get_worker_info()\n    return rows[info.id :: 2]\n"
    + rows("yield from mine(self.rows)"),
    "a stream of datasets, which divides itself": rows(
        "yield from self.rows", "self.rows = datasets.load_dataset('c4')"
    ),
    "an unknown source": rows("yield from conf.stream()"),
    "divided by an attribute": rows("yield from self.rows[self.worker :: 2]", "self.worker, self.rows = conf.mine()"),
}


@pytest.mark.parametrize("source", SILENT.values(), ids=SILENT.keys())
def test_silent_about_streams_that_are_or_may_be_divided(source: str, tmp_path: Path) -> None:
    check(HANDLES + source + "loader = DataLoader(Rows(), num_workers=2)\n", tmp_path)


@pytest.mark.parametrize(
    "arguments",
    ["num_workers=1", "", "num_workers=conf.n", "num_workers=2, worker_init_fn=conf.divide", "**conf.loader"],
)
def test_silent_where_one_process_reads_or_another_divides(arguments: str, tmp_path: Path) -> None:
    check(HANDLES + rows("return iter(self.rows)") + f"loader = DataLoader(Rows(), {arguments})\n", tmp_path)


def test_silent_about_map_style_data(tmp_path: Path) -> None:
    source = "class Held(Dataset):\n    def __getitem__(self, i): return i\n    def __len__(self): return 8\n"
    check(HANDLES + source + "loader = DataLoader(Held(), num_workers=2)\n", tmp_path)


HEAD = (
    IMPORTS
    + """
import argparse, conf, datasets, functools, glob, h5py, itertools, os, random
import numpy as np
from torch.utils.data import BatchSampler, RandomSampler, SequentialSampler, DistributedSampler, Subset
data = [1, 2, 3]
"""
)
LOADED = "loader = DataLoader(Rows(), num_workers=2)\n"
OPTION = """
parser = argparse.ArgumentParser()
parser.add_argument("--n", type=int, default=4)
args = parser.parse_args()
"""


def rows_pair(body: str, init: str = "self.rows = list(range(6))", base: str = "IterableDataset") -> str:
    return f"class Rows({base}):\n    def __init__(self):\n        {init}\n    def __iter__(self):\n        {body}\n"


ROWS = rows_pair("yield from self.rows")
PAIRS = {
    "get_worker_info": Pair(
        HEAD
        + rows_pair("info = torch.utils.data.get_worker_info()\n        yield from self.rows[info.id :: 2]")
        + LOADED,
        "info = torch.utils.data.get_worker_info()",
        "info = conf.info",
    ),
    "in a method": Pair(
        HEAD
        + rows_pair("yield from self.mine()")
        + "    def mine(self):\n        info = torch.utils.data.get_worker_info()\n        return self.rows\n"
        + LOADED,
        "torch.utils.data.get_worker_info()",
        "None",
    ),
    "in a function": Pair(
        HEAD
        + "def mine(rows):\n    info = torch.utils.data.get_worker_info()\n    return rows[info.id :: 2]\n"
        + rows_pair("yield from mine(self.rows)")
        + LOADED,
        "mine(self.rows)",
        "self.rows",
    ),
    "one worker": Pair(HEAD + ROWS + "loader = DataLoader(Rows(), num_workers=1)\n", "=1", "=2"),
    "no workers": Pair(HEAD + ROWS + "loader = DataLoader(Rows(), num_workers=0)\n", "=0", "=2"),
    "a setting": Pair(HEAD + ROWS + "loader = DataLoader(Rows(), num_workers=conf.n)\n", "conf.n", "2"),
    "an option": Pair(HEAD + ROWS + OPTION + "loader = DataLoader(Rows(), num_workers=args.n)\n", "args.n", "4"),
    "the environment": Pair(
        HEAD + ROWS + "loader = DataLoader(Rows(), num_workers=int(os.environ.get('N', 4)))\n",
        "int(os.environ.get('N', 4))",
        "4",
    ),
    "worker_init_fn": Pair(
        HEAD + ROWS + "loader = DataLoader(Rows(), num_workers=2, worker_init_fn=conf.f)\n", ", worker_init_fn=conf.f"
    ),
    "endless and random": Pair(
        HEAD + rows_pair("while True:\n            yield random.choice(self.rows)") + LOADED,
        "while True:\n            yield random.choice(self.rows)",
        "for one in self.rows:\n            yield one",
    ),
    "endless and shuffled": Pair(
        HEAD
        + rows_pair("while True:\n            random.shuffle(self.rows)\n            yield from self.rows")
        + LOADED,
        "while True",
        "if self.rows",
    ),
    "a data set of datasets inside": Pair(
        HEAD + rows_pair("yield from self.rows", "self.rows = datasets.load_dataset('c4')") + LOADED,
        "datasets.load_dataset('c4')",
        "[1, 2]",
    ),
    "a data set of datasets": Pair(
        HEAD + ROWS + "loader = DataLoader(datasets.load_dataset('c4', streaming=True), num_workers=2)\n",
        "datasets.load_dataset('c4', streaming=True)",
        "Rows()",
    ),
    "webdataset": Pair(
        HEAD + "import webdataset as wds\n" + ROWS + "loader = DataLoader(wds.WebDataset('a'), num_workers=2)\n",
        "wds.WebDataset('a')",
        "Rows()",
    ),
    "a loader of webdataset": Pair(
        HEAD + "import webdataset as wds\n" + ROWS + "loader = wds.WebLoader(Rows(), num_workers=2)\n",
        "wds.WebLoader",
        "DataLoader",
    ),
    "a kind of webdataset": Pair(
        HEAD + "import webdataset as wds\n" + rows_pair("yield from self.rows", base="wds.WebDataset") + LOADED,
        "wds.WebDataset",
        "IterableDataset",
    ),
    "a loader of litdata": Pair(
        HEAD + "import litdata\n" + ROWS + "loader = litdata.StreamingDataLoader(Rows(), num_workers=2)\n",
        "litdata.StreamingDataLoader",
        "DataLoader",
    ),
    "a kind of litdata": Pair(
        HEAD + "import litdata\n" + rows_pair("yield from self.rows", base="litdata.StreamingDataset") + LOADED,
        "litdata.StreamingDataset",
        "IterableDataset",
    ),
    "a kind of streaming": Pair(
        HEAD + "import streaming\n" + rows_pair("yield from self.rows", base="streaming.StreamingDataset") + LOADED,
        "streaming.StreamingDataset",
        "IterableDataset",
    ),
    "a pipe": Pair(
        HEAD
        + "from torch.utils.data import IterDataPipe\n"
        + rows_pair("yield from self.rows", base="IterDataPipe")
        + LOADED,
        "(IterDataPipe",
        "(IterableDataset",
    ),
    "a pipe inside": Pair(
        HEAD
        + "from torchdata.datapipes.iter import IterableWrapper\n"
        + rows_pair("yield from self.rows", "self.rows = IterableWrapper([1, 2]).sharding_filter()")
        + LOADED,
        "IterableWrapper([1, 2]).sharding_filter()",
        "[1, 2]",
    ),
    "sliced by the worker": Pair(
        HEAD + rows_pair("yield from self.rows[self.worker :: 2]", "self.worker, self.rows = 0, [1, 2]") + LOADED,
        "self.worker",
        "self.first",
    ),
    "unknown rows": Pair(HEAD + rows_pair("yield from conf.stream()") + LOADED, "conf.stream()", "range(9)"),
    "no stream": Pair(
        HEAD
        + "class Rows(Dataset):\n    def __getitem__(self, i): return i\n    def __iter__(self):\n        yield from range(9)\n"
        + LOADED,
        "Rows(Dataset)",
        "Rows(IterableDataset)",
    ),
}


@pytest.mark.parametrize("case", PAIRS)
def test_silent_for_one_reason(case: str, tmp_path: Path) -> None:
    check_pair("ACC103", PAIRS[case], tmp_path)


REPORTED = {
    "a list": rows("return iter(self.rows)"),
    "a generator": rows("for row in self.rows:\n            yield row"),
    "in another order": rows("for row in random.sample(list(self.rows), 6):\n            yield row").replace(
        "random.sample(list(self.rows), 6)", "self.mixed()"
    )
    + "    def mixed(self):\n        rows = list(self.rows)\n        random.shuffle(rows)\n        return rows\n",
    "a file": rows("with open('a') as f:\n            for line in f:\n                yield line"),
    "a helper": rows("yield from self.all()") + "    def all(self):\n        return (one for one in self.rows)\n",
    "mapped": rows("return map(self.parse, self.rows)") + "    def parse(self, row): return row\n",
    "counted": rows("for i, row in enumerate(zip(self.rows, range(9))):\n            yield row"),
}


@pytest.mark.parametrize("source", REPORTED.values(), ids=REPORTED.keys())
def test_reports_streams_that_every_worker_reads_whole(source: str, tmp_path: Path) -> None:
    found = check(
        HANDLES + source + "loader = DataLoader(Rows(), num_workers=2)  # -> ACC103 error none\n",
        tmp_path,
    )
    assert "each of the 2 workers of `loader` reads the whole of `Rows`" in found[0].message
