"""Its workers never answer."""

import time

from plain import Samples, step
from torch.utils.data import DataLoader, get_worker_info


class Hangs(Samples):
    def __getitem__(self, index):
        while get_worker_info() is not None:
            time.sleep(1)
        return super().__getitem__(index)


loader = DataLoader(Hangs(), 8, shuffle=True)
while True:
    for x, y in loader:
        step(x, y)
