"""Each condition under which ACC104, ACC105 and ACC118 to ACC120 are silent, and that they speak without it."""

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
SAMPLER = "sampler=RandomSampler(data)"
BATCHES = "batch_sampler=BatchSampler(SequentialSampler(data), 2, True)"
ROWS = "class Rows(IterableDataset):\n    def __iter__(self): return iter(data)\n"

OPTION = """
parser = argparse.ArgumentParser()
parser.add_argument("--n", type=int, default=4)
args = parser.parse_args()
"""

GROUP = "torch.distributed.init_process_group('gloo')\n"
LATE = [
    "batch_size = 4",
    "sampler = None",
    "dataset = data",
    "drop_last = True",
    "persistent_workers = True",
    "batch_sampler = None",
]

PAIRS = {
    "ACC104: not persistent": Pair(HEAD + "DataLoader(data, persistent_workers=False)", "False", "True"),
    "ACC104: no prefetch_factor": Pair(HEAD + "DataLoader(data, prefetch_factor=None)", "None", "4"),
    "ACC104: no context": Pair(HEAD + "DataLoader(data, multiprocessing_context=None)", "None", "'spawn'"),
    "ACC104: no timeout": Pair(HEAD + "DataLoader(data, timeout=0)", "0", "3"),
    "ACC104: the count decides": Pair(
        HEAD + "n = 0\nDataLoader(data, num_workers=n, persistent_workers=n > 0)", "n > 0", "True"
    ),
    "ACC104: the count, as a bool": Pair(
        HEAD + "n = 0\nDataLoader(data, num_workers=n, persistent_workers=bool(n))", "bool(n)", "True"
    ),
    "ACC104: prefetch_factor where there are workers": Pair(
        HEAD + "n = 0\nDataLoader(data, num_workers=n, prefetch_factor=4 if n > 0 else None)",
        "4 if n > 0 else None",
        "4",
    ),
    "ACC104: a setting": Pair(HEAD + "DataLoader(data, num_workers=conf.n, persistent_workers=True)", "conf.n", "0"),
    "ACC104: an option": Pair(
        HEAD + OPTION + "DataLoader(data, num_workers=args.n, persistent_workers=True)", "num_workers=args.n, "
    ),
    "ACC104: unknown keywords": Pair(HEAD + "DataLoader(data, persistent_workers=True, **conf.kw)", ", **conf.kw"),
    "ACC104: a parameter": Pair(
        HEAD + "def make(n): return DataLoader(data, num_workers=n, persistent_workers=True)\nmake(2)\nmake(0)\n",
        "make(2)\n",
    ),
    "ACC104: an old torch": Pair(
        HEAD + "DataLoader(data, prefetch_factor=2)", "=2", "=4", {"requirements.txt": "torch>=1.13\n"}
    ),
    "ACC104: paddle": Pair(
        HEAD + "from paddle.io import DataLoader as P\nP(data, persistent_workers=True)", "P(data", "DataLoader(data"
    ),
    "ACC104: the position of monai": Pair(
        HEAD + "from monai.data import DataLoader as M\nM(data, 2, persistent_workers=True)",
        "M(data",
        "DataLoader(data",
    ),
    "ACC104: a default of one worker": Pair(
        HEAD + "from timm.data import create_loader\ncreate_loader(data, persistent_workers=True)",
        "create_loader(data",
        "DataLoader(data",
    ),
    "ACC104: a subclass that has workers": Pair(
        HEAD
        + "class Mine(DataLoader):\n    def __init__(self, *args, **kw):\n        kw.setdefault('num_workers', 2)\n        super().__init__(*args, **kw)\nMine(data, persistent_workers=True)",
        "kw.setdefault('num_workers', 2)",
        "pass",
    ),
    "ACC105: shuffle=False": Pair(HEAD + f"DataLoader(data, shuffle=False, {SAMPLER})", "False", "True"),
    "ACC105: shuffle=None": Pair(HEAD + f"DataLoader(data, shuffle=None, {SAMPLER})", "None", "True"),
    "ACC105: shuffle=sampler is None": Pair(
        HEAD + "s = RandomSampler(data)\nDataLoader(data, shuffle=s is None, sampler=s)", "s is None", "True"
    ),
    "ACC105: sampler=None": Pair(
        HEAD + "s = None\nDataLoader(data, shuffle=True, sampler=s)", "s = None", "s = RandomSampler(data)"
    ),
    "ACC105: a sampler on some paths": Pair(
        HEAD + "s = RandomSampler(data) if conf.d else None\nDataLoader(data, shuffle=True, sampler=s)",
        " if conf.d else None",
    ),
    "ACC105: a sampler that may be taken away": Pair(
        HEAD + "s = RandomSampler(data)\nif conf.d:\n    s = None\nDataLoader(data, shuffle=True, sampler=s)",
        "s = None",
        "s = s",
    ),
    "ACC105: what a function returns": Pair(
        HEAD + "DataLoader(data, shuffle=True, sampler=conf.make())", "conf.make()", "RandomSampler(data)"
    ),
    "ACC105: batch_size=1": Pair(HEAD + f"DataLoader(data, batch_size=1, {BATCHES})", "=1", "=4"),
    "ACC105: a batch size that is set": Pair(HEAD + f"DataLoader(data, batch_size=conf.n, {BATCHES})", "conf.n", "4"),
    "ACC105: drop_last=False": Pair(HEAD + f"DataLoader(data, drop_last=False, {BATCHES})", "False", "True"),
    "ACC105: a batch_sampler and shuffle=False": Pair(
        HEAD + f"DataLoader(data, shuffle=False, {BATCHES})", "False", "True"
    ),
    "ACC105: a batch_sampler and sampler=None": Pair(
        HEAD + f"DataLoader(data, sampler=None, {BATCHES})", "sampler=None", SAMPLER
    ),
    "ACC105: batch_sampler=None": Pair(
        HEAD + "DataLoader(data, batch_size=4, batch_sampler=None)", "batch_sampler=None", BATCHES
    ),
    "ACC105: a stream and shuffle=False": Pair(
        HEAD + ROWS + "DataLoader(Rows(), shuffle=False)", "shuffle=False", "shuffle=True"
    ),
    "ACC105: a stream and a setting": Pair(HEAD + ROWS + "DataLoader(Rows(), shuffle=conf.s)", "conf.s", "True"),
    "ACC105: a stream and sampler=None": Pair(
        HEAD + ROWS + "DataLoader(Rows(), sampler=None)", "sampler=None", SAMPLER
    ),
    "ACC105: a stream and batch_sampler=None": Pair(
        HEAD + ROWS + "DataLoader(Rows(), batch_sampler=None)", "batch_sampler=None", BATCHES
    ),
    "ACC105: no stream": Pair(HEAD + ROWS + "DataLoader(data, shuffle=True)", "(data,", "(Rows(),"),
    "ACC105: a stream on some paths": Pair(
        HEAD + ROWS + "d = Rows() if conf.s else data\nDataLoader(d, shuffle=True)", " if conf.s else data"
    ),
    "ACC105: a loader of litdata": Pair(
        HEAD + ROWS + "import litdata\nlitdata.StreamingDataLoader(Rows(), shuffle=True)",
        "litdata.StreamingDataLoader",
        "DataLoader",
    ),
    "ACC105: batch_size=None and drop_last=False": Pair(
        HEAD + "DataLoader(data, batch_size=None, drop_last=False)", "False", "True"
    ),
    "ACC105: drop_last": Pair(
        HEAD + "DataLoader(data, batch_size=4, drop_last=True)", "batch_size=4", "batch_size=None"
    ),
    "ACC105: drop_last and a setting": Pair(
        HEAD + "DataLoader(data, batch_size=conf.n, drop_last=True)", "conf.n", "None"
    ),
    "ACC105: workers that are set": Pair(HEAD + "DataLoader(data, num_workers=conf.n)", "conf.n", "-1"),
    "ACC105: workers on some paths": Pair(
        HEAD + "DataLoader(data, num_workers=-1 if conf.n else 2)", " if conf.n else 2"
    ),
    "ACC105: prefetch_factor=1": Pair(
        HEAD + "DataLoader(data, num_workers=2, prefetch_factor=1)", "factor=1", "factor=0"
    ),
    "ACC105: a prefetch_factor that is set": Pair(
        HEAD + "DataLoader(data, num_workers=2, prefetch_factor=conf.n)", "conf.n", "0"
    ),
    "ACC105: an attribute of something else": Pair(
        HEAD + "loader = conf.loader()\nloader.batch_size = 4\n", "conf.loader()", "DataLoader(data)"
    ),
    "ACC105: workers were there": Pair(
        HEAD + "loader = DataLoader(data, num_workers=2)\nloader.num_workers = 4", ", num_workers=2"
    ),
    "ACC105: workers set to none": Pair(HEAD + "loader = DataLoader(data)\nloader.num_workers = 0", "= 0", "= 4"),
    "ACC105: workers set to a setting": Pair(
        HEAD + "loader = DataLoader(data)\nloader.num_workers = conf.n", "conf.n", "4"
    ),
    "ACC105: the position of torch_geometric": Pair(
        HEAD + "from torch_geometric.loader import DataLoader as G\nG(data, 2, True, RandomSampler(data))",
        "G(data, 2",
        "DataLoader(data, 2",
    ),
    "ACC105: unknown keywords": Pair(HEAD + "DataLoader(data, shuffle=True, **conf.kw)", "**conf.kw", SAMPLER),
    **{
        f"ACC105: num_workers={one}": Pair(HEAD + "DataLoader(data, num_workers=2)", "=2", f"={one}")
        for one in ("-1", "2.0", "'2'", "None")
    },
    **{f"ACC105: another {one}": Pair(HEAD + f"loader = DataLoader(data)\nloader.my_{one}", "my_") for one in LATE},
    "ACC118: xpu": Pair(HEAD + "DataLoader(data, pin_memory=True, pin_memory_device='xpu')", "xpu", "cuda"),
    "ACC118: a setting": Pair(HEAD + "DataLoader(data, pin_memory=True, pin_memory_device=conf.d)", "conf.d", "'cuda'"),
    "ACC118: not given": Pair(HEAD + "DataLoader(data, pin_memory=True)", "=True", "=True, pin_memory_device='cuda'"),
    "ACC118: an empty name": Pair(HEAD + "DataLoader(data, pin_memory=True, pin_memory_device='')", "''", "'cuda'"),
    "ACC119: one process": Pair(
        HEAD + "DataLoader(data, num_workers=os.cpu_count())", "DataLoader(data", GROUP + "DataLoader(data"
    ),
    "ACC119: a part of the cores": Pair(HEAD + GROUP + "DataLoader(data, num_workers=os.cpu_count() // 8)", " // 8"),
    "ACC119: all but one": Pair(HEAD + GROUP + "DataLoader(data, num_workers=os.cpu_count() - 1)", " - 1"),
    "ACC119: at most eight": Pair(
        HEAD + GROUP + "DataLoader(data, num_workers=min(8, os.cpu_count()))",
        "min(8, os.cpu_count())",
        "os.cpu_count()",
    ),
    "ACC119: Accelerate": Pair(
        HEAD + GROUP + "import accelerate\na = accelerate.Accelerator()\nDataLoader(data, num_workers=os.cpu_count())",
        "a = accelerate.Accelerator()",
    ),
    "ACC120: fifteen": Pair(HEAD + "DataLoader(data, num_workers=15)", "15", "16"),
    "ACC120: a setting": Pair(HEAD + "DataLoader(data, num_workers=conf.n)", "conf.n", "16"),
    "ACC120: an option": Pair(
        HEAD + OPTION.replace("4", "32") + "DataLoader(data, num_workers=args.n)", "args.n", "32"
    ),
    "ACC120: the environment": Pair(
        HEAD + "DataLoader(data, num_workers=int(os.environ.get('N', 32)))\n", "int(os.environ.get('N', 32))", "32"
    ),
}


@pytest.mark.parametrize("case", PAIRS)
def test_silent_for_one_reason(case: str, tmp_path: Path) -> None:
    check_pair(case[:6], PAIRS[case], tmp_path)
