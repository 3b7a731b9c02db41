"""Every epoch is broken off after five batches."""

from slow import Slow, step
from torch.utils.data import DataLoader

loader = DataLoader(Slow(), 8, shuffle=True)  # measured
while True:
    for count, (x, y) in enumerate(loader):
        if count == 5:
            break
        step(x, y)
