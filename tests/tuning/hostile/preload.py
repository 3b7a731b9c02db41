"""All batches are read before training."""

from plain import Samples, step
from torch.utils.data import DataLoader

batches = list(DataLoader(Samples(), 8, shuffle=True))
while True:
    for x, y in batches:
        step(x, y)
