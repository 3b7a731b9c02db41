"""Trains in processes of its own, as Hogwild and torch.multiprocessing.spawn do: argument fork or spawn."""

import sys

import torch.multiprocessing as mp
from plain import Samples, step
from torch.utils.data import DataLoader


def train():
    while True:
        for x, y in DataLoader(Samples(48), 8, shuffle=True):
            step(x, y)


if __name__ == "__main__":
    process = mp.get_context(sys.argv[1]).Process(target=train)
    process.start()
    process.join()
