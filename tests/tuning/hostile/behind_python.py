"""Writes where no patched function sees it: through the raw file class, and through another program."""

import io
import subprocess

from plain import Samples, step
from torch.utils.data import DataLoader

with io.FileIO("config.json", "w") as raw:
    raw.write(b"overwritten")
with io.FileIO("raw.bin", "w") as raw:
    raw.write(b"new")
subprocess.run(["touch", "touched.txt"], check=True)
loader = DataLoader(Samples(), 8, shuffle=True)
while True:
    for x, y in loader:
        step(x, y)
