"""Workers by spawn, whose data set is a class of the script; one of its loaders cannot be pickled."""

import sys
from pathlib import Path

import torch.multiprocessing
from plain import Samples, step
from torch.utils.data import DataLoader

runs = Path("runs.txt")
with runs.open("a") as file:
    file.write(__name__ + "\n")


class Mine(Samples):
    def __getitem__(self, index):
        Path(f"sample-{index % 2}.txt").write_text("from a worker")
        return super().__getitem__(index)


if __name__ == "__main__":
    torch.multiprocessing.set_start_method("spawn")
    loader = DataLoader(Mine(), 8, shuffle=True, collate_fn=(lambda batch: batch) if "lambda" in sys.argv else None)
    while True:
        for batch in loader:
            if "lambda" in sys.argv:
                batch = torch.utils.data.default_collate(batch)
            step(*batch)
