"""Its workers raise."""

from plain import Samples, step
from torch.utils.data import DataLoader, get_worker_info


class Fails(Samples):
    def __getitem__(self, index):
        if get_worker_info() is not None:
            raise KeyError("the handle was opened in another process")
        return super().__getitem__(index)


loader = DataLoader(Fails(), 8, shuffle=True)
while True:
    for x, y in loader:
        step(x, y)
