"""A subclass that wraps the iterator of its parent, and finishes each batch in the main process."""

from slow import Slow, step
from torch.utils.data import DataLoader


class Finished:
    def __init__(self, batches):
        self.batches = batches

    def __iter__(self):
        return self

    def __next__(self):
        x, y = next(self.batches)
        return {"x": x, "y": y}


class Finishing(DataLoader):
    def _get_iterator(self):
        return Finished(super()._get_iterator())


loader = Finishing(Slow(), batch_size=8, shuffle=True, num_workers=1)  # measured
while True:
    count = 0
    for batch in loader:
        step(**batch)
        count += 1
    assert count == 20
