"""Beginnings that the marked programs share."""

IMPORTS = """
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, IterableDataset, TensorDataset
"""

PHOTOS = (
    IMPORTS
    + """
from PIL import Image
import numpy as np

class Photos(Dataset):
    def __init__(self, paths):
        self.paths = paths
    def __len__(self):
        return len(self.paths)
    def __getitem__(self, index):
        return torch.from_numpy(np.asarray(Image.open(self.paths[index]))), index

photos = Photos(["a.png"])
"""
)

NET = (
    IMPORTS
    + """
loader = DataLoader(TensorDataset(torch.zeros(8, 8), torch.zeros(8)), batch_size=4)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 2)
    def forward(self, x):
        return self.fc(x)
"""
)

MODEL = """
model = nn.Linear(8, 2).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
def step(x, y):
    optimizer.zero_grad()
    (model(x).sum() - y.sum()).backward()
    optimizer.step()
"""

LOOP = """
for x, y in loader:
    step(x.cuda(non_blocking=True), y.cuda(non_blocking=True))
"""

FILES = (
    IMPORTS
    + """
import argparse, conf, datasets, functools, glob, h5py, lmdb, os, random, threading
import numpy as np
from torch.utils.data import DistributedSampler, RandomSampler, Subset
model = nn.Linear(8, 2)
class Files(Dataset):
    def __init__(self): self.stage = 0
    def __len__(self): return 2
    def __getitem__(self, i): return torch.load(str(self.stage))
    def advance(self): self.stage += 1
    def look(self): return self.stage
files = Files()
data = [1, 2, 3]
def take(batch, at=0): return batch[0]
"""
)
"""A data set whose samples depend on a stage, which the program may change; more imports than anything needs."""
