"""A progress bar around the enumeration of a loader."""

from slow import Slow, step
from torch.utils.data import DataLoader
from tqdm import tqdm

loader = DataLoader(Slow(), batch_size=8, shuffle=True)  # measured
for epoch in range(1000):
    bar = tqdm(enumerate(loader), total=len(loader))
    for count, (x, y) in bar:
        step(x, y)
        bar.set_description(f"{epoch} {count}")
