"""A library makes its own loaders of the script's, both at one place: each is the script's own all the same."""

import sys
from pathlib import Path

import torch
from slow import Slow, model, step
from torch.utils.data import DataLoader

sys.path.append(str(Path(__file__).parent / "site-packages"))
from preparing import prepare

data, held_out = Slow(), Slow(16)
first = DataLoader(held_out, batch_size=8)
second = DataLoader(data, batch_size=8, shuffle=True)  # measured
validation, training = map(prepare, (first, second))
while True:
    for x, y in training:
        step(x, y)
    with torch.no_grad():
        assert sum(len(model(x)) for x, _ in validation) == 16
