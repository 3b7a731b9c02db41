"""Beginnings that the programs of rules/workers share."""

from __future__ import annotations

from ..programs import IMPORTS


def held(init: str, sample: str, more: str = "") -> str:
    """A data set that keeps what ``init`` opens or makes."""
    return (
        f"class Held(Dataset):\n    def __init__(self, p):\n        {init}\n    def __len__(self): return 8\n"
        f"    def __getitem__(self, i):\n        {sample}\n{more}"
    )


SHARDING_FRAMEWORKS = {
    "Accelerate": "import accelerate\na = accelerate.Accelerator()\n",
    "Lightning": "import lightning as L\nL.Trainer()\n",
    "Fabric": "import lightning as L\nL.Fabric()\n",
    "transformers": "import transformers\ntransformers.Trainer()\n",
    "DeepSpeed": "import deepspeed\ndeepspeed.initialize()\n",
}
"""What starts a framework that divides samples among processes."""

WORKERS = (
    IMPORTS
    + """
import argparse, random, functools, conf
import numpy as np
model = nn.Linear(8, 2)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
def take(batch): return batch[0]
parser = argparse.ArgumentParser()
parser.add_argument("--seed", type=int, default=0)
args = parser.parse_args()
SEED = 7
data = [1, 2, 3]
"""
)
"""A list as a data set, a model, a device, and a seed as an option."""


def points_data(sample: str, init: str = "self.x = torch.zeros(64, 8)") -> str:
    """A data set with these bodies."""
    return (
        f"class Points(Dataset):\n    def __init__(self):\n        {init}\n    def __len__(self): return 8\n"
        f"    def __getitem__(self, i):\n        {sample}\n"
    )


HANDLES = (
    IMPORTS
    + """
import datasets, h5py, itertools, random, sqlite3, zipfile, conf
import numpy as np
"""
)
