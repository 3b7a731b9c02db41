"""An evaluation: batches, but no training."""

import torch
from plain import Samples, model
from torch.utils.data import DataLoader

with torch.no_grad():
    for x, _ in DataLoader(Samples(), 8):
        model(x)
