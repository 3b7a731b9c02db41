"""A thread reads the loader ahead of the loop, inside a generator inside a progress bar; the loop takes batches apart and
writes into them."""

import queue
import threading

from plain import Samples, step
from torch.utils.data import DataLoader


class Records(Samples):
    def __getitem__(self, index):
        x, y = super().__getitem__(index)
        return {"x": x, "y": y, "meta": {"id": index, "name": str(index)}}


class Background(threading.Thread):
    def __init__(self, batches):
        super().__init__(daemon=True)
        self.queue = queue.Queue(2)
        self.batches = batches
        self.start()

    def run(self):
        for batch in self.batches:
            self.queue.put(batch)
        self.queue.put(None)

    def __iter__(self):
        while (batch := self.queue.get()) is not None:
            yield batch


def bar(batches):
    count = 0
    try:
        for batch in batches:
            yield batch
            count += 1
    finally:
        print("closed at", count)


loader = DataLoader(Records(), 8, shuffle=True)
while True:
    for i, batch in enumerate(bar(Background(loader))):
        assert i < len(loader)
        x, y = batch.pop("x"), batch.pop("y")
        assert float(x.max()) <= 4.0
        assert len(batch.pop("meta")["name"]) == 8
        x.add_(5.0).requires_grad_(True)
        step(x, y)
