"""A loop that waits for its data and does nothing strange."""

from plain import Samples, step
from torch.utils.data import DataLoader

if __name__ == "__main__":
    loader = DataLoader(Samples(400, 0.004), 8)
    while True:
        for x, y in loader:
            step(x, y)
