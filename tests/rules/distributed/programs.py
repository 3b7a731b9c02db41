"""Beginnings that the programs of rules/distributed share."""

from __future__ import annotations

from ..programs import IMPORTS

RANKS_OF_TWO_LAYERS = (
    IMPORTS
    + """
import os, conf
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
rank = int(os.environ["LOCAL_RANK"])
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(8, 8)
        self.b = nn.Linear(8, 2)
    def forward(self, x):
        return self.b(self.a(x))
"""
)
"""As ``RANKS``, with a model whose layers may be left out."""
