"""Steps that get slow just when the probe has begun to take the loop over, in a loop that counts on every batch."""

import time

from plain import Samples, step
from torch.utils.data import DataLoader

loader = DataLoader(Samples(seconds=0.0), batch_size=8, shuffle=True, num_workers=1)
total = 0
while True:
    count = 0
    for x, y in loader:
        step(x, y)
        count += 1
        total += 1
        time.sleep(0.06 if total <= 8 else 0.3 if total <= 12 else 0.0)
    assert count == 20, count
