"""Loaders of other data are built first, and one is evaluated before and between the epochs of training."""

import torch
from slow import Slow, model, step
from torch.utils.data import DataLoader, Subset

data = Slow(240)
unused = DataLoader(data, batch_size=8, num_workers=1)
held_out = DataLoader(Subset(data, range(40)), batch_size=8)
loader = DataLoader(Subset(data, range(40, 240)), batch_size=8, shuffle=True)  # measured


def evaluate():
    model.eval()
    with torch.no_grad():
        assert sum(len(model(x)) for x, _ in held_out) == 40
    model.train()


evaluate()
while True:
    for x, y in loader:
        step(x, y)
    evaluate()
