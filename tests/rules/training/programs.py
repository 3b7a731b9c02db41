"""Beginnings that the programs of rules/training share."""

from __future__ import annotations

from ..programs import IMPORTS, MODEL

NO_GPU = [
    "torch.cuda.manual_seed_all(0)",
    "torch.cuda.empty_cache()",
    "torch.load('m', map_location='cpu')",
    "# .cuda()",
]
"""Lines that do not show that a program uses a GPU."""

LOGGING = (
    IMPORTS
    + MODEL
    + """
import conf
import numpy as np
import wandb
from sklearn import metrics
from torch.utils.tensorboard import SummaryWriter
writer = SummaryWriter()
loader = DataLoader(TensorDataset(torch.zeros(64, 8), torch.zeros(64)), batch_size=16)
"""
)
"""A model on the GPU, its loader, and what logs and measures it."""

LOGGED_STEP = """
for i, (x, y) in enumerate(loader):
    x, y = x.cuda(), y.cuda()
    out = model(x)
    loss = (out.sum() - y.sum())
    loss.backward()
    optimizer.step()
"""
