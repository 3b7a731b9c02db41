"""One epoch of one loader, and then another for ever."""

from plain import Samples, step
from torch.utils.data import DataLoader

for x, y in DataLoader(Samples(640), 8, shuffle=True):
    step(x, y)
while True:
    for x, y in DataLoader(Samples(640, 0.0), 8, shuffle=True):
        step(x, y)
