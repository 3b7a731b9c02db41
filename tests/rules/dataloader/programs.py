"""Beginnings that the programs of rules/dataloader share."""

from __future__ import annotations

from ..programs import IMPORTS

SAMPLERS = (
    IMPORTS
    + """
import argparse, conf, datasets, functools, glob, h5py, itertools, os, random
import numpy as np
from torch.utils.data import BatchSampler, RandomSampler, SequentialSampler, DistributedSampler, Subset
data = [1, 2, 3]
"""
)
"""A list as a data set; more imports than anything needs."""

PARSED = (
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
"""A list, a stream, and the number of workers as an option."""
