"""itertools.cycle reads the loader once and its own memory ever after."""

import itertools
import sys

from plain import Samples, step
from torch.utils.data import DataLoader

loader = DataLoader(Samples(int(sys.argv[1]) if sys.argv[1:] else 64), 8, shuffle=True)
for x, y in itertools.islice(itertools.cycle(loader), 1_000_000):
    step(x, y)
