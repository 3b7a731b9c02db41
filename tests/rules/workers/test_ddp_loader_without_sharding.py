"""ACC117 ddp-loader-without-sharding, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..checks import Pair, check_one, check_pair, severities
from ..programs import FILES, PARALLEL, RANKS
from .programs import SHARDING_FRAMEWORKS

TRAIN = "for x in loader:\n    model(x).sum().backward()\n"
SILENT = {
    "one process": "model = Net()\nloader = DataLoader(data)\n" + TRAIN,
    "a sampler": PARALLEL + "loader = DataLoader(data, sampler=DistributedSampler(data))\n" + TRAIN,
    "a sampler on some paths": (
        PARALLEL + "s = DistributedSampler(data) if conf.ddp else None\nloader = DataLoader(data, sampler=s)\n" + TRAIN
    ),
    "a batch sampler": PARALLEL + "loader = DataLoader(data, batch_sampler=conf.sampler(data))\n" + TRAIN,
    "a part for each rank": PARALLEL + "loader = DataLoader(Subset(data, range(rank, 100, 4)))\n" + TRAIN,
    "unknown data": PARALLEL + "loader = DataLoader(conf.data)\n" + TRAIN,
    "evaluation": PARALLEL + "loader = DataLoader(data)\nfor x in loader:\n    model(x)\n",
    "a framework": "import accelerate\na = accelerate.Accelerator()\n"
    + PARALLEL
    + "loader = DataLoader(data)\n"
    + TRAIN,
    "knows its rank": (
        PARALLEL + "class Mine(Dataset):\n    def __init__(self, rank): self.rank = rank\n"
        "    def __getitem__(self, i): return torch.load(str(i))\nloader = DataLoader(Mine(rank))\n" + TRAIN
    ),
    "a stream": (
        PARALLEL
        + "class Mine(IterableDataset):\n    def __iter__(self): return iter([1])\nloader = DataLoader(Mine())\n"
        + TRAIN
    ),
}


@pytest.mark.parametrize("source", SILENT.values(), ids=SILENT.keys())
def test_silent_where_samples_are_or_may_be_divided(source: str, tmp_path: Path) -> None:
    check_one("ACC117", RANKS + source, tmp_path)


def test_silent_about_another_script_of_the_folder(tmp_path: Path) -> None:
    other = {"parallel.py": RANKS + PARALLEL}
    check_one("ACC117", RANKS + "model = Net()\nloader = DataLoader(data)\n" + TRAIN, tmp_path, other)


PAIR_TRAIN = "\nfor x in loader:\n    model(x).sum().backward()\n"
PAIR_PARALLEL = """
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torchvision.datasets import FakeData
rank = int(os.environ["LOCAL_RANK"])
fake = FakeData()
dist.init_process_group("nccl")
model = DDP(nn.Linear(8, 2).to(rank), device_ids=[rank])
"""
WHOLE = FILES + PAIR_PARALLEL + "loader = DataLoader(fake)\n" + PAIR_TRAIN
PAIRS = {
    "no model in parallel": Pair(
        WHOLE.replace("DDP(nn.Linear(8, 2).to(rank), device_ids=[rank])", "nn.Linear(8, 2)"),
        "model = nn.Linear(8, 2)\nloader",
        "model = DDP(nn.Linear(8, 2))\nloader",
    ),
    "no group": Pair(
        WHOLE.replace('dist.init_process_group("nccl")', "pass"), "pass\n", "dist.init_process_group('nccl')\n"
    ),
    "a sampler": Pair(
        WHOLE.replace("(fake)", "(fake, sampler=DistributedSampler(fake))"), ", sampler=DistributedSampler(fake)"
    ),
    "an unknown sampler": Pair(WHOLE.replace("(fake)", "(fake, sampler=conf.S(fake))"), ", sampler=conf.S(fake)"),
    "a batch sampler": Pair(
        WHOLE.replace("(fake)", "(fake, batch_sampler=conf.S(fake))"), ", batch_sampler=conf.S(fake)"
    ),
    "a sampler on some paths": Pair(
        WHOLE.replace(
            "loader = DataLoader(fake)",
            "s = DistributedSampler(fake) if conf.d else None\nloader = DataLoader(fake, sampler=s)",
        ),
        ", sampler=s",
    ),
    "a stream": Pair(
        FILES
        + PAIR_PARALLEL
        + "class Mine(IterableDataset):\n    def __iter__(self): return iter([1])\n    def __getitem__(self, i): return torch.load(str(i))\nloader = DataLoader(Mine())\n"
        + PAIR_TRAIN,
        "Mine(IterableDataset)",
        "Mine(Dataset)",
    ),
    "evaluation": Pair(WHOLE.replace(".sum().backward()", ""), "model(x)\n", "model(x).sum().backward()\n"),
    "evaluation on one rank": Pair(
        FILES
        + PAIR_PARALLEL
        + "loader = DataLoader(fake, sampler=DistributedSampler(fake))\nval = DataLoader(fake)\n"
        + PAIR_TRAIN
        + "if rank == 0:\n    for x in val:\n        model(x)\n",
        "        model(x)\n",
        "        model(x).sum().backward()\n",
    ),
    "a part by rank": Pair(
        WHOLE.replace("(fake)\n\n", "(Subset(fake, range(rank, 100, 4)))\n\n"),
        "Subset(fake, range(rank, 100, 4))",
        "fake",
    ),
    "use_ddp of dgl": Pair(
        FILES
        + "from dgl.dataloading import GraphDataLoader\n"
        + PAIR_PARALLEL
        + "loader = GraphDataLoader(fake, use_ddp=True)\n"
        + PAIR_TRAIN,
        "use_ddp=True",
        "use_ddp=False",
    ),
    "use_ddp by position": Pair(
        FILES
        + "from dgl.dataloading import GraphDataLoader\n"
        + PAIR_PARALLEL
        + "loader = GraphDataLoader(fake, None, True)\n"
        + PAIR_TRAIN,
        ", True)",
        ")",
    ),
    "unknown data": Pair(WHOLE.replace("(fake)\n\n", "(conf.d)\n\n"), "(conf.d)", "(fake)"),
    "data that knows its rank": Pair(
        FILES
        + PAIR_PARALLEL
        + "class Mine(Dataset):\n    def __init__(self): self.rank = rank\n    def __getitem__(self, i): return torch.load(str(i))\nloader = DataLoader(Mine())\n"
        + PAIR_TRAIN,
        "self.rank = rank",
        "pass",
    ),
    "unknown keywords": Pair(WHOLE.replace("(fake)\n\n", "(fake, **conf.kw)\n\n"), ", **conf.kw"),
    "a loader of litdata": Pair(
        WHOLE.replace("loader = DataLoader", "import litdata\nloader = litdata.StreamingDataLoader"),
        "litdata.StreamingDataLoader",
        "DataLoader",
    ),
    **{name: Pair(source + WHOLE, source) for name, source in SHARDING_FRAMEWORKS.items()},
}


@pytest.mark.parametrize("case", PAIRS)
def test_silent_for_one_reason(case: str, tmp_path: Path) -> None:
    check_pair("ACC117", PAIRS[case], tmp_path)


def test_reports_a_loader_that_nothing_divides(tmp_path: Path) -> None:
    assert severities("ACC117", RANKS + PARALLEL + "loader = DataLoader(data, shuffle=True)\n" + TRAIN, tmp_path) == [
        "warning"
    ]
    held = (
        "class Mine(Dataset):\n    def __getitem__(self, i): return torch.load(str(i))\nloader = DataLoader(Mine())\n"
    )
    assert severities("ACC117", RANKS + PARALLEL + held + TRAIN, tmp_path) == ["warning"]


LENT = (
    PARALLEL
    + "import conf\nloaders = {'train': DataLoader(data, sampler=DistributedSampler(data))}\n"
    + "loaders['more'] = DataLoader(data, shuffle=True)  # -> SEVERITY\n"
    + "for phase in ['train', conf.phase]:\n    for x in loaders[phase]:\n        model(x).sum().backward()\n"
)


def test_advice_where_another_loader_of_the_loop_is_divided(tmp_path: Path) -> None:
    (found,) = check_one("ACC117", RANKS + LENT.replace("SEVERITY", "info"), tmp_path)
    assert "while those of other loaders of the same loop are divided" in found.message
    whole = LENT.replace("SEVERITY", "warning").replace(
        ", sampler=DistributedSampler(data))}", ", shuffle=True)}  # -> warning"
    )
    check_one("ACC117", RANKS + whole, tmp_path)
