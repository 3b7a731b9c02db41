"""Each condition under which ACC103 is silent, and that it speaks without it."""

from __future__ import annotations

from pathlib import Path

import pytest

from .pairs import Pair, check_pair
from .programs import IMPORTS

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


def rows(body: str, init: str = "self.rows = list(range(6))", base: str = "IterableDataset") -> str:
    return f"class Rows({base}):\n    def __init__(self):\n        {init}\n    def __iter__(self):\n        {body}\n"


ROWS = rows("yield from self.rows")

PAIRS = {
    "ACC103: get_worker_info": Pair(
        HEAD + rows("info = torch.utils.data.get_worker_info()\n        yield from self.rows[info.id :: 2]") + LOADED,
        "info = torch.utils.data.get_worker_info()",
        "info = conf.info",
    ),
    "ACC103: in a method": Pair(
        HEAD
        + rows("yield from self.mine()")
        + "    def mine(self):\n        info = torch.utils.data.get_worker_info()\n        return self.rows\n"
        + LOADED,
        "torch.utils.data.get_worker_info()",
        "None",
    ),
    "ACC103: in a function": Pair(
        HEAD
        + "def mine(rows):\n    info = torch.utils.data.get_worker_info()\n    return rows[info.id :: 2]\n"
        + rows("yield from mine(self.rows)")
        + LOADED,
        "mine(self.rows)",
        "self.rows",
    ),
    "ACC103: one worker": Pair(HEAD + ROWS + "loader = DataLoader(Rows(), num_workers=1)\n", "=1", "=2"),
    "ACC103: no workers": Pair(HEAD + ROWS + "loader = DataLoader(Rows(), num_workers=0)\n", "=0", "=2"),
    "ACC103: a setting": Pair(HEAD + ROWS + "loader = DataLoader(Rows(), num_workers=conf.n)\n", "conf.n", "2"),
    "ACC103: an option": Pair(
        HEAD + ROWS + OPTION + "loader = DataLoader(Rows(), num_workers=args.n)\n", "args.n", "4"
    ),
    "ACC103: the environment": Pair(
        HEAD + ROWS + "loader = DataLoader(Rows(), num_workers=int(os.environ.get('N', 4)))\n",
        "int(os.environ.get('N', 4))",
        "4",
    ),
    "ACC103: worker_init_fn": Pair(
        HEAD + ROWS + "loader = DataLoader(Rows(), num_workers=2, worker_init_fn=conf.f)\n", ", worker_init_fn=conf.f"
    ),
    "ACC103: endless and random": Pair(
        HEAD + rows("while True:\n            yield random.choice(self.rows)") + LOADED,
        "while True:\n            yield random.choice(self.rows)",
        "for one in self.rows:\n            yield one",
    ),
    "ACC103: endless and shuffled": Pair(
        HEAD + rows("while True:\n            random.shuffle(self.rows)\n            yield from self.rows") + LOADED,
        "while True",
        "if self.rows",
    ),
    "ACC103: a data set of datasets inside": Pair(
        HEAD + rows("yield from self.rows", "self.rows = datasets.load_dataset('c4')") + LOADED,
        "datasets.load_dataset('c4')",
        "[1, 2]",
    ),
    "ACC103: a data set of datasets": Pair(
        HEAD + ROWS + "loader = DataLoader(datasets.load_dataset('c4', streaming=True), num_workers=2)\n",
        "datasets.load_dataset('c4', streaming=True)",
        "Rows()",
    ),
    "ACC103: webdataset": Pair(
        HEAD + "import webdataset as wds\n" + ROWS + "loader = DataLoader(wds.WebDataset('a'), num_workers=2)\n",
        "wds.WebDataset('a')",
        "Rows()",
    ),
    "ACC103: a loader of webdataset": Pair(
        HEAD + "import webdataset as wds\n" + ROWS + "loader = wds.WebLoader(Rows(), num_workers=2)\n",
        "wds.WebLoader",
        "DataLoader",
    ),
    "ACC103: a kind of webdataset": Pair(
        HEAD + "import webdataset as wds\n" + rows("yield from self.rows", base="wds.WebDataset") + LOADED,
        "wds.WebDataset",
        "IterableDataset",
    ),
    "ACC103: a loader of litdata": Pair(
        HEAD + "import litdata\n" + ROWS + "loader = litdata.StreamingDataLoader(Rows(), num_workers=2)\n",
        "litdata.StreamingDataLoader",
        "DataLoader",
    ),
    "ACC103: a kind of litdata": Pair(
        HEAD + "import litdata\n" + rows("yield from self.rows", base="litdata.StreamingDataset") + LOADED,
        "litdata.StreamingDataset",
        "IterableDataset",
    ),
    "ACC103: a kind of streaming": Pair(
        HEAD + "import streaming\n" + rows("yield from self.rows", base="streaming.StreamingDataset") + LOADED,
        "streaming.StreamingDataset",
        "IterableDataset",
    ),
    "ACC103: a pipe": Pair(
        HEAD
        + "from torch.utils.data import IterDataPipe\n"
        + rows("yield from self.rows", base="IterDataPipe")
        + LOADED,
        "(IterDataPipe",
        "(IterableDataset",
    ),
    "ACC103: a pipe inside": Pair(
        HEAD
        + "from torchdata.datapipes.iter import IterableWrapper\n"
        + rows("yield from self.rows", "self.rows = IterableWrapper([1, 2]).sharding_filter()")
        + LOADED,
        "IterableWrapper([1, 2]).sharding_filter()",
        "[1, 2]",
    ),
    "ACC103: sliced by the worker": Pair(
        HEAD + rows("yield from self.rows[self.worker :: 2]", "self.worker, self.rows = 0, [1, 2]") + LOADED,
        "self.worker",
        "self.first",
    ),
    "ACC103: unknown rows": Pair(HEAD + rows("yield from conf.stream()") + LOADED, "conf.stream()", "range(9)"),
    "ACC103: no stream": Pair(
        HEAD
        + "class Rows(Dataset):\n    def __getitem__(self, i): return i\n    def __iter__(self):\n        yield from range(9)\n"
        + LOADED,
        "Rows(Dataset)",
        "Rows(IterableDataset)",
    ),
}


@pytest.mark.parametrize("case", PAIRS)
def test_silent_for_one_reason(case: str, tmp_path: Path) -> None:
    check_pair(case[:6], PAIRS[case], tmp_path)
