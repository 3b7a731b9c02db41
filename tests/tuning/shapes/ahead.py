"""A prefetcher that holds the next batch while the loop computes on this one."""

from slow import Slow, step
from torch.utils.data import DataLoader


class Ahead:
    def __init__(self, loader):
        self.batches = iter(loader)
        self.load()

    def load(self):
        self.following = next(self.batches, None)

    def next(self):
        batch = self.following
        self.load()
        return batch


loader = DataLoader(Slow(), batch_size=8, shuffle=True)  # measured
while True:
    ahead = Ahead(loader)
    batch = ahead.next()
    count = 0
    while batch is not None:
        step(*batch)
        batch = ahead.next()
        count += 1
    assert count == len(loader)
