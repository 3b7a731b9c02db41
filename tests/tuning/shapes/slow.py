"""What the scripts beside it share: data that waits, and a step that does not."""

import time

import torch
from torch import nn
from torch.utils.data import Dataset

torch.set_num_threads(1)


class Slow(Dataset):
    def __init__(self, length=160, seconds=0.002):
        self.length = length
        self.seconds = seconds

    def __len__(self):
        return self.length

    def __getitem__(self, index):
        if index >= self.length:
            raise IndexError(index)
        time.sleep(self.seconds)
        return torch.full((8,), float(index % 5)), index % 3


model = nn.Linear(8, 3)
optimizer = torch.optim.SGD(model.parameters(), 0.01)


def loss_of(x, y):
    return nn.functional.cross_entropy(model(x), y)


def step(x, y):
    optimizer.zero_grad()
    loss_of(x, y).backward()
    optimizer.step()
