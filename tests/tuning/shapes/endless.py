"""A generator that begins the loader again forever, asked for one batch at a time."""

from slow import Slow, step
from torch.utils.data import DataLoader


def endless(loader):
    while True:
        yield from loader


loader = DataLoader(Slow(), batch_size=8, shuffle=True)  # measured
batches = endless(loader)
while True:
    step(*next(batches))
