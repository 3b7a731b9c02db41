"""A trainer class with a sanity check, accumulation, evaluation in between, a progress bar that is a generator, and a
teardown that turns every ending into a checkpoint."""

import sys

import torch
from plain import Samples, model, update
from torch import nn
from torch.utils.data import DataLoader


def bar(loader):
    count = 0
    try:
        for batch in loader:
            yield batch
            count += 1
    finally:
        open(f"bar-{count}", "w").close()


class Trainer:
    def __init__(self):
        self.train, self.validation = Samples(), Samples(24)

    def evaluate(self, most=None):
        with torch.no_grad():
            for number, (x, _) in enumerate(DataLoader(self.validation, 8)):
                model(x)
                if number == most:
                    break

    def fit(self):
        self.evaluate(1)
        loader = DataLoader(self.train, 8, shuffle=True, num_workers=1)
        try:
            for _ in range(1000):
                for number, (x, y) in enumerate(bar(loader)):
                    nn.functional.cross_entropy(model(x), y).backward()
                    if number % 4 == 3:
                        update()
                self.evaluate()
        except BaseException:
            torch.save(model.state_dict(), "last.ckpt")
            sys.exit(0)
        finally:
            torch.save(model.state_dict(), "final.ckpt")


if __name__ == "__main__":
    Trainer().fit()
