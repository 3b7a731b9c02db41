"""From time to time a batch takes half a minute."""

import time

from plain import Samples, step
from torch.utils.data import DataLoader

count = 0
while True:
    for x, y in DataLoader(Samples(), 8, shuffle=True):
        step(x, y)
        count += 1
        if count % 100 == 0:
            time.sleep(30)
