"""A thread reads the loader ahead of the loop, inside a generator inside a progress bar."""

import queue
import threading

from plain import Samples, step
from torch.utils.data import DataLoader


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


loader = DataLoader(Samples(), 8, shuffle=True)
while True:
    for i, (x, y) in enumerate(bar(Background(loader))):
        assert i < len(loader)
        step(x, y)
