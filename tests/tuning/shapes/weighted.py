"""A sampler of the library with replacement, and one whose epoch is set by hand."""

from slow import Slow, step
from torch.utils.data import ConcatDataset, DataLoader, DistributedSampler

data = ConcatDataset([Slow(80), Slow(80)])
sampler = DistributedSampler(data, num_replicas=1, rank=0)
loader = DataLoader(data, batch_size=8, sampler=sampler, drop_last=True)  # measured
epoch = 0
while True:
    sampler.set_epoch(epoch)
    for x, y in loader:
        step(x, y)
    epoch += 1
