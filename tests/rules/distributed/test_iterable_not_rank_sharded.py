"""ACC508 iterable-dataset-not-rank-sharded, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..checks import Pair, check_one, check_pair, severities
from ..programs import PARALLEL, RANKS
from .programs import RANKS_OF_TWO_LAYERS

TRAIN = "for x in loader:\n    model(x).sum().backward()\n"


def stream(body: str) -> str:
    return f"class Rows(IterableDataset):\n    def __iter__(self):\n        {body}\nloader = DataLoader(Rows())\n"


SILENT = {
    "one process": "model = Net()\n" + stream("yield from range(9)") + TRAIN,
    "by rank": PARALLEL + stream("yield from range(dist.get_rank(), 9, 2)") + TRAIN,
    "unknown": PARALLEL + stream("yield from conf.rows()") + TRAIN,
    "evaluation": PARALLEL + stream("yield from range(9)") + "for x in loader:\n    model(x)\n",
}


@pytest.mark.parametrize("source", SILENT.values(), ids=SILENT.keys())
def test_silent_about_streams_that_are_or_may_be_divided(source: str, tmp_path: Path) -> None:
    check_one("ACC508", RANKS + source, tmp_path)


def stream_pair(
    body: str,
    condition: str,
    instead: str,
    call: str = "DataLoader(Rows())",
    before: str = PARALLEL,
    after: str = TRAIN,
) -> Pair:
    """A training on a stream that yields ``body``."""
    rows = f"class Rows(IterableDataset):\n    def __iter__(self):\n        {body}\n"
    return Pair(RANKS_OF_TWO_LAYERS + before + rows + f"loader = {call}\n" + after, condition, instead)


ALL = "yield from range(9)"
PAIRS = {
    "by rank": stream_pair(
        "yield from range(dist.get_rank(), 9, dist.get_world_size())", "dist.get_rank(), 9, dist.get_world_size()", "9"
    ),
    "by the environment": stream_pair(
        "yield from range(int(os.environ['RANK']), 9, 2)", "int(os.environ['RANK']), 9, 2", "9"
    ),
    "by a global": stream_pair("yield from range(rank, 9, 2)", "rank, 9, 2", "9"),
    "split by node": stream_pair(
        ALL,
        "split_dataset_by_node(Rows(), rank, 2)",
        "Rows()",
        "DataLoader(split_dataset_by_node(Rows(), rank, 2))",
        PARALLEL + "from datasets.distributed import split_dataset_by_node\n",
    ),
    "webdataset": stream_pair(
        ALL,
        "wds.WebLoader(Rows())",
        "DataLoader(Rows())",
        "wds.WebLoader(Rows())",
        PARALLEL + "import webdataset as wds\n",
    ),
    "a node splitter": stream_pair(
        ALL,
        "wds.WebDataset('x', nodesplitter=wds.split_by_node)",
        "Rows()",
        "DataLoader(wds.WebDataset('x', nodesplitter=wds.split_by_node))",
        PARALLEL + "import webdataset as wds\n",
    ),
    "dispatched": stream_pair(
        ALL,
        "a = accelerate.Accelerator(dispatch_batches=True)\n",
        "",
        before="import accelerate\na = accelerate.Accelerator(dispatch_batches=True)\n" + PARALLEL,
    ),
    "one process": stream_pair(ALL, "model = Net()\n", PARALLEL, before="model = Net()\n"),
    "evaluation": stream_pair(
        ALL, "model(x)\n", "model(x).sum().backward()\n", after="for x in loader:\n    model(x)\n"
    ),
    "unknown rows": stream_pair("yield from conf.rows()", "conf.rows()", "range(9)"),
    "at random": stream_pair(
        "while True:\n            yield torch.rand(8)", "while True:\n            yield torch.rand(8)", ALL
    ),
    "given its rank": Pair(
        RANKS_OF_TWO_LAYERS
        + PARALLEL
        + "class Rows(IterableDataset):\n    def __init__(self, start):\n        self.start = start\n    def __iter__(self):\n"
        "        yield from range(self.start, 9, 2)\nloader = DataLoader(Rows(rank))\n" + TRAIN,
        "Rows(rank)",
        "Rows(0)",
    ),
}


@pytest.mark.parametrize("case", PAIRS)
def test_silent_for_one_reason(case: str, tmp_path: Path) -> None:
    check_pair("ACC508", PAIRS[case], tmp_path)


def test_reports_a_stream_that_all_processes_read(tmp_path: Path) -> None:
    assert severities("ACC508", RANKS + PARALLEL + stream("yield from range(9)") + TRAIN, tmp_path) == ["error"]
