"""No automatic batching: the sampler gives the indices of a batch, and the data set a whole one."""

import torch
from slow import Slow, step
from torch.utils.data import BatchSampler, DataLoader, RandomSampler


class Batched(Slow):
    def __getitem__(self, indices):
        x, y = zip(*(super(Batched, self).__getitem__(index) for index in indices), strict=True)
        return torch.stack(x), torch.tensor(y)


data = Batched()
sampler = BatchSampler(RandomSampler(data), 8, drop_last=False)
loader = DataLoader(data, sampler=sampler, batch_size=None)  # measured
while True:
    count = 0
    for x, y in loader:
        assert x.shape == (8, 8)
        step(x, y)
        count += 1
    assert count == len(loader) == 20
