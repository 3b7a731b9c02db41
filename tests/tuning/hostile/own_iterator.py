"""A subclass that never calls DataLoader.__iter__, but its _get_iterator."""

from plain import Samples, step
from torch.utils.data import DataLoader


class Own(DataLoader):
    def __iter__(self):
        return self._get_iterator()


loader = Own(Samples(), batch_size=8, shuffle=True)
while True:
    for x, y in loader:
        step(x, y)
