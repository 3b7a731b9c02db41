"""A long evaluation after every few steps, from a loader that is dearer than the one that trains."""

import torch
from slow import Slow, model, step
from torch.utils.data import DataLoader

loader = DataLoader(Slow(), batch_size=8, shuffle=True)  # measured
held_out = DataLoader(Slow(32, 0.004), batch_size=8)
seen = 0
while True:
    for x, y in loader:
        step(x, y)
        seen += 1
        if seen % 20 == 0:
            with torch.no_grad():
                assert sum(len(model(x)) for x, _ in held_out) == 32
