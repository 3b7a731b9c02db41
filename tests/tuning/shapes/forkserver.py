"""Workers by forkserver, whose data set is a class of the script."""

import torch.multiprocessing
from slow import Slow, step
from torch.utils.data import DataLoader


class Mine(Slow):
    pass


if __name__ == "__main__":
    torch.multiprocessing.set_start_method("forkserver")
    loader = DataLoader(Mine(), batch_size=8, shuffle=True)  # measured
    while True:
        for x, y in loader:
            step(x, y)
