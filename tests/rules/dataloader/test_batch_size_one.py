"""ACC122 dataloader-batch-size-one, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..checks import Pair, check_one, check_pair, severities
from ..programs import FILES, NUMBERS

TRAIN = "\nfor x in loader:\n    model(x).sum().backward()\n"
SILENT = [
    "loader = DataLoader(data, batch_size=1)" + TRAIN,
    "loader = DataLoader(data, batch_size=None)" + TRAIN,
    "loader = DataLoader(data, batch_sampler=conf.sampler)" + TRAIN,
    "loader = DataLoader(Rows())" + TRAIN,
    "loader = DataLoader(data)\nfor x in loader:\n    model(x)\n",
    "from torch_geometric.loader import DataLoader\nloader = DataLoader(data)" + TRAIN,
]


@pytest.mark.parametrize("source", SILENT)
def test_silent(source: str, tmp_path: Path) -> None:
    check_one("ACC122", NUMBERS + source, tmp_path)


PAIRS = {
    "one, written out": Pair(FILES + "loader = DataLoader(files, batch_size=1)" + TRAIN, ", batch_size=1"),
    "none": Pair(FILES + "loader = DataLoader(files, batch_size=None)" + TRAIN, ", batch_size=None"),
    "a setting": Pair(FILES + "loader = DataLoader(files, batch_size=conf.n)" + TRAIN, ", batch_size=conf.n"),
    "a batch sampler": Pair(
        FILES + "loader = DataLoader(files, batch_sampler=conf.s)" + TRAIN, ", batch_sampler=conf.s"
    ),
    "a stream": Pair(
        FILES
        + "class Rows(IterableDataset):\n    def __iter__(self): return iter(conf.rows())\n    def __getitem__(self, i): return i\nloader = DataLoader(Rows())"
        + TRAIN,
        "(IterableDataset)",
        "(Dataset)",
    ),
    "evaluation": Pair(
        FILES + "loader = DataLoader(files)" + TRAIN.replace(".sum().backward()", ""),
        "model(x)",
        "model(x).sum().backward()",
    ),
    "graphs": Pair(
        FILES + "from torch_geometric.loader import DataLoader as G\nloader = G(files)" + TRAIN, "= G(", "= DataLoader("
    ),
    "graphs of dgl": Pair(
        FILES + "from dgl.dataloading import GraphDataLoader as G\nloader = G(files)" + TRAIN, "= G(", "= DataLoader("
    ),
    "graphs in a loader of torch": Pair(
        FILES + "from torch_geometric.datasets import TUDataset\nloader = DataLoader(TUDataset('x', 'MUTAG'))" + TRAIN,
        "TUDataset('x', 'MUTAG')",
        "files",
    ),
    "pictures with boxes": Pair(
        FILES + "from torchvision.datasets import CocoDetection\nloader = DataLoader(CocoDetection('a', 'b'))" + TRAIN,
        "CocoDetection('a', 'b')",
        "files",
    ),
    "a collate function": Pair(
        FILES + "loader = DataLoader(files, collate_fn=lambda b: tuple(zip(*b)))" + TRAIN,
        ", collate_fn=lambda b: tuple(zip(*b))",
    ),
    "unknown keywords": Pair(FILES + "loader = DataLoader(files, **conf.kw)" + TRAIN, ", **conf.kw"),
}


@pytest.mark.parametrize("case", PAIRS)
def test_silent_for_one_reason(case: str, tmp_path: Path) -> None:
    check_pair("ACC122", PAIRS[case], tmp_path)


REPORTED = ["loader = DataLoader(data)" + TRAIN]


@pytest.mark.parametrize("source", REPORTED)
def test_reported(source: str, tmp_path: Path) -> None:
    assert severities("ACC122", NUMBERS + source, tmp_path) == ["info"]
