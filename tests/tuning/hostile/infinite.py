"""One iterator for all epochs, made while the loader is built, over a sampler that never ends."""

from plain import Samples, step
from torch.utils.data import DataLoader


class Repeat:
    def __init__(self, sampler):
        self.sampler = sampler

    def __len__(self):
        return len(self.sampler)

    def __iter__(self):
        while True:
            yield from iter(self.sampler)


class InfiniteLoader(DataLoader):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        object.__setattr__(self, "batch_sampler", Repeat(self.batch_sampler))
        self.iterator = super().__iter__()

    def __len__(self):
        return len(self.batch_sampler.sampler)

    def __iter__(self):
        for _ in range(len(self)):
            yield next(self.iterator)


loader = InfiniteLoader(Samples(), batch_size=8, shuffle=True, num_workers=1)
while True:
    count = 0
    for x, y in loader:
        step(x, y)
        count += 1
    assert count == len(loader) == 20
