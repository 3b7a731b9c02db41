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
"""A data set whose samples are decoded."""

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
"""A loader, and the class of a model."""

MODEL = """
model = nn.Linear(8, 2).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
def step(x, y):
    optimizer.zero_grad()
    (model(x).sum() - y.sum()).backward()
    optimizer.step()
"""
"""A model on the GPU, and a step of its training."""

LOOP = """
for x, y in loader:
    step(x.cuda(non_blocking=True), y.cuda(non_blocking=True))
"""
"""A loop that copies what it needs without waiting."""

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

LEARNER = """
net = nn.Linear(8, 2)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
data = TensorDataset(torch.load("x.pt"))
loader = DataLoader(data, batch_size=16)
def learn(model, x):
    optimizer.zero_grad()
    model(x).sum().backward()
    optimizer.step()
"""
"""A small model, its loader, and a step for any model."""

IMAGES = (
    IMPORTS
    + """
import conf
loader = DataLoader(TensorDataset(torch.zeros(64, 3, 8, 8)), batch_size=16)
net = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU())
{}net.cuda()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for (x,) in loader:
    net(x.cuda()).sum().backward()
    optimizer.step()
"""
)
"""A convolutional network that is trained on CUDA; one more line goes before it is moved."""

GROUP = 'dist.init_process_group("nccl")\n'
PARALLEL = GROUP + "model = DDP(Net().to(rank), device_ids=[rank])\n"
"""A model that several processes train, for ``RANKS``."""

RANKS = (
    IMPORTS
    + """
import os, conf
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DistributedSampler, Subset
from torchvision.datasets import FakeData
rank = int(os.environ["LOCAL_RANK"])
data = FakeData()
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(8, 2)
    def forward(self, x):
        return self.layer(x)
"""
)
"""What a process of several needs: its rank, data, and the class of a model."""

NUMBERS = (
    IMPORTS
    + """
import os, multiprocessing, conf
import numpy as np
data = [1, 2, 3]
model = nn.Linear(1, 1)
class Rows(IterableDataset):
    def __iter__(self): return iter(conf.rows())
"""
)
"""A list as a data set, and a stream."""

STAGED_FILES = (
    IMPORTS
    + """
import argparse, conf
from torch.utils.data import DistributedSampler
model = nn.Linear(8, 2)
class Files(Dataset):
    def __init__(self): self.stage = 0
    def __len__(self): return 2
    def __getitem__(self, i): return torch.load(str(self.stage))
    def advance(self): self.stage += 1
parser = argparse.ArgumentParser()
parser.add_argument("--workers", type=int, default=2)
args = parser.parse_args()
files = Files()
"""
)
"""As ``FILES``, with the number of workers as an option."""

EPOCHS = """
for epoch in range(10):
    for x in loader:
        model(x).sum().backward()
"""

REGRESSION = (
    IMPORTS
    + """
data = TensorDataset(torch.zeros(64, 8), torch.zeros(64, 2))
loader = DataLoader(data, batch_size=16, pin_memory=True)
model = nn.Linear(8, 2).cuda()
criterion = nn.MSELoss()
"""
)
"""A model on the GPU and a loader that pins."""

REGRESSION_STEP = """for x, y in loader:
    out = model(x.cuda(non_blocking=True))
    loss = criterion(out, y.cuda(non_blocking=True))
    loss.backward()
"""

CONVOLUTIONS = "net = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU())\n"
IMAGE_LOADER = "import conf\nloader = DataLoader(TensorDataset(torch.zeros(64, 3, 8, 8)), batch_size=16)\n"

IMAGE_LOOP = """
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for (x,) in loader:{mark}
    net(x.cuda()).sum().backward()
    optimizer.step()
for (x,) in loader:
    net(x.cuda()).sum().backward()
    optimizer.step()
"""


def image_program(*lines: str, net: str = CONVOLUTIONS, mark: str = "") -> str:
    """Two loops that train a network on images, with lines between the network and the first of them."""
    return IMPORTS + IMAGE_LOADER + net + "\n".join(lines) + IMAGE_LOOP.format(mark=mark)


PHOTOS_AND_MODEL = (
    PHOTOS
    + """
import functools, random, threading, conf
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = nn.Linear(8, 2).to(device)
"""
)
"""Samples that are decoded, and a model on the GPU where there is one."""


def data_set(sample: str, init: str = "pass", more: str = "", make: str = "Data()") -> str:
    """A data set with these bodies, bound to ``data``."""
    return (
        f"class Data(Dataset):\n    def __init__(self, held=None):\n        {init}\n    def __len__(self): return 3\n"
        f"    def __getitem__(self, i):\n        {sample}\n{more}data = {make}\n"
    )
