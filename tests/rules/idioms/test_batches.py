"""Loaders and batches as people hand them on: each copy must be seen."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..checks import check_named

HEAD = """
import torch
from torch import nn
from torch.utils.data import DataLoader
from torchvision import datasets, transforms

photos = datasets.ImageFolder("d", transforms.ToTensor())
"""
MODEL = """
model = nn.Linear(8, 2).cuda()
"""
UNPINNED = """
loader = DataLoader(photos, batch_size=8, num_workers=4)  # -> ACC101 warning safe
"""

BATCHES = {
    "optional loader": """
import sys
a = b = None
if "a" in sys.argv:
    a = DataLoader(photos, batch_size=8, num_workers=4)  # -> ACC101 warning safe
if "b" in sys.argv:
    b = DataLoader(photos, batch_size=8, num_workers=4)  # -> ACC101 warning safe
loader = a if "a" in sys.argv else b
"""
    + MODEL
    + """
for x, y in loader:
    x = x.cuda()  # -> ACC201 info safe
    model(x).sum().backward()
""",
    "super init": """
class Base:
    def __init__(self):
        self.device = torch.device("cuda")
        self.model = nn.Linear(8, 2).to(self.device)
class Exp(Base):
    def __init__(self):
        super().__init__()
        self.loader = DataLoader(photos, batch_size=8, num_workers=4)  # -> ACC101 warning safe
    def train(self):
        for x, y in self.loader:
            x = x.to(self.device)  # -> ACC201 info safe
            self.model(x).sum().backward()
Exp().train()
""",
    "no own init control": """
class Base:
    def __init__(self):
        self.device = torch.device("cuda")
        self.model = nn.Linear(8, 2).to(self.device)
class Exp(Base):
    def train(self):
        loader = DataLoader(photos, batch_size=8, num_workers=4)  # -> ACC101 warning safe
        for x, y in loader:
            x = x.to(self.device)  # -> ACC201 info safe
            self.model(x).sum().backward()
Exp().train()
""",
    "contexts": """
def make(flag):
    return DataLoader(datasets.ImageFolder(flag, transforms.ToTensor()), batch_size=8, num_workers=4)  # -> ACC101 warning safe
def one(): return make("1")
def two(): return make("2")
def three(): return make("3")
def four(): return make("4")
def five(): return make("5")
def six(): return make("6")
def seven(): return make("7")
def eight(): return make("8")
def run():
    model = nn.Linear(8, 2).cuda()
    for x, y in make("9"):
        x = x.cuda()  # -> ACC201 info safe
        model(x).sum().backward()
one(); two(); three(); four(); five(); six(); seven(); eight(); run()
""",
    "rebound unknown": "from opacus import PrivacyEngine\n"
    + MODEL
    + """
opt = torch.optim.SGD(model.parameters(), lr=.1)
loader = DataLoader(photos, batch_size=8, num_workers=4)  # -> ACC101 info unsafe
if input():
    model, opt, loader = PrivacyEngine().make_private(module=model, optimizer=opt, data_loader=loader)
for x, y in loader:
    x = x.cuda()  # -> ACC201 info unsafe
    model(x).sum().backward()
""",
    "no workers unknown ds": "from monai.data import CacheDataset, DataLoader as ML\n"
    + MODEL
    + """
loader = ML(CacheDataset([], None), batch_size=8)  # -> ACC101 info unsafe
for b in loader:
    x = b["image"].cuda()  # -> ACC201 info unsafe
    model(x).sum().backward()
""",
    "pinned no workers control": "from monai.data import CacheDataset, DataLoader as ML\n"
    + MODEL
    + """
loader = ML(CacheDataset([], None), batch_size=8, pin_memory=True)
for b in loader:
    x = b["image"].cuda()  # -> ACC201 warning unsafe
    model(x).sum().backward()
""",
    "loader param": """
class Trainer:
    def __init__(self, model, train_loader):
        self.model = model.cuda(); self.train_loader = train_loader
    def train(self):
        for x, y in self.train_loader:
            x = x.cuda()  # -> ACC201 info unsafe
            self.model(x).sum().backward()
""",
    "function param": """
def train(model, train_loader, device=torch.device("cuda")):
    model.to(device)
    for x, y in train_loader:
        x = x.to(device)  # -> ACC201 info unsafe
        model(x).sum().backward()
""",
    "batch item assign": MODEL
    + UNPINNED
    + """
for batch in loader:
    batch[0] = batch[0].cuda()  # -> ACC201 info safe
    model(batch[0]).sum().backward()
""",
    "item assign dict": MODEL
    + UNPINNED
    + """
for batch in loader:
    for k in batch:
        batch[k] = batch[k].cuda()  # -> ACC201 info safe
    model(batch["x"]).sum().backward()
""",
    "type then to": MODEL
    + """
loader = DataLoader(photos, batch_size=8, num_workers=4)
for x, y in loader:
    y = y.type(torch.LongTensor).cuda()  # -> ACC201 info none
    model(y).sum().backward()
""",
    "all contexts": MODEL
    + UNPINNED
    + """
for x, y in loader:
    for i in range(2):
        if i == 1:
            x = torch.flip(x, (3,))
        x_ = x.cuda()  # -> ACC201 info unsafe
        model(x_).sum().backward()
""",
    "dotnext": MODEL
    + UNPINNED
    + """
it = iter(loader)
for step in range(100):
    x, y = it.next()
    x = x.cuda()  # -> ACC201 info safe
    model(x).sum().backward()
""",
    "next try": MODEL
    + UNPINNED
    + """
it = iter(loader)
for step in range(100):
    try:
        x, y = next(it)
    except StopIteration:
        it = iter(loader)
        x, y = next(it)
    x = x.cuda()  # -> ACC201 info safe
    model(x).sum().backward()
""",
    "next unbound": MODEL
    + """
loader = DataLoader(photos, batch_size=8, num_workers=4)  # -> ACC101 info unsafe
for step in range(100):
    try:
        x, y = next(it)
    except:
        it = iter(loader)
        x, y = next(it)
    x = x.cuda()  # -> ACC201 info unsafe
    model(x).sum().backward()
""",
    "dict of loaders": MODEL
    + """
loaders = {}
for name in ("a", "b"):
    loaders[name] = DataLoader(photos, batch_size=8, num_workers=4)  # -> ACC101 warning safe
for name in loaders:
    loader = loaders[name]
    for x, y in loader:
        x = x.cuda()  # -> ACC201 info safe
        model(x).sum().backward()
""",
    "dict nested": MODEL
    + """
loaders = {n: {"q": None, "g": None} for n in ("a", "b")}
for name in ("a", "b"):
    loaders[name]["q"] = DataLoader(photos, batch_size=8, num_workers=4)  # -> ACC101 warning safe
for name in ("a", "b"):
    for x, y in loaders[name]["q"]:
        x = x.cuda()  # -> ACC201 info safe
        model(x).sum().backward()
""",
    "partial map": """
from functools import partial
make = partial(DataLoader, batch_size=8)  # -> ACC101 info safe
"""
    + MODEL
    + """
train, val = map(make, [photos, photos])
for x, y in train:
    x = x.cuda()  # -> ACC201 info safe
    model(x).sum().backward()
""",
    "partial control": """
from functools import partial
make = partial(DataLoader, batch_size=8)
"""
    + MODEL
    + """
train = make(photos)  # -> ACC101 info safe
for x, y in train:
    x = x.cuda()  # -> ACC201 info safe
    model(x).sum().backward()
""",
    "subclass hook": """
class Engine:
    def __init__(self, loader): self.loader = loader
    def run(self):
        for self.batch_idx, data in enumerate(self.loader):
            self.step(data)
    def step(self, data):
        raise NotImplementedError
class Soft(Engine):
    def __init__(self, loader, model):
        super().__init__(loader)
        self.model = model
    def step(self, data):
        x = data[0].cuda()  # -> ACC201 info safe
        self.model(x).sum().backward()
Soft(DataLoader(photos, batch_size=8, num_workers=4), nn.Linear(8, 2).cuda()).run()  # -> ACC101 warning safe
""",
    "with tqdm": "from tqdm import tqdm\n"
    + MODEL
    + UNPINNED
    + """
with tqdm(loader) as it:
    for x, y in it:
        x = x.cuda()  # -> ACC201 info safe
        model(x).sum().backward()
""",
    "helper recursive": """
def to_dev(obj, dev):
    if torch.is_tensor(obj):
        return obj.cuda(dev, non_blocking=True)
    elif isinstance(obj, dict):
        return {k: to_dev(v, dev) for k, v in obj.items()}
    elif isinstance(obj, (list, tuple)):
        return [to_dev(v, dev) for v in obj]
"""
    + MODEL
    + UNPINNED
    + """
for b in loader:
    b = to_dev(b, 0)
    model(b[0]).sum().backward()
""",
    "model method": """
class M(nn.Module):
    def __init__(self):
        super().__init__(); self.fc = nn.Linear(8, 2)
    def parse(self, batch):
        x, y = batch
        return x.cuda(non_blocking=True), y.cuda(non_blocking=True)
    def forward(self, x): return self.fc(x)
def wrap(m): return m
model = M().cuda()
loader = DataLoader(photos, batch_size=8, num_workers=4, pin_memory=False)  # -> ACC101 info none
for b in loader:
    x, y = model.parse(b)
    model(x).sum().backward()
""",
    "dict comp": MODEL
    + 'device = "cuda"\n'
    + UNPINNED
    + """
for b in loader:
    b = {k: v.to(device) for k, v in b.items()}  # -> ACC201 info unsafe
    model(b["x"]).sum().backward()
""",
    "pop": MODEL
    + UNPINNED
    + """
for b in loader:
    x = b.pop("x").to("cuda", torch.float16)  # -> ACC201 info unsafe
    model(x).sum().backward()
""",
    "augmented then": MODEL
    + UNPINNED
    + """
for x, y in loader:
    x = x.float().cuda()  # -> ACC201 info none
    y = y[:, -4:, :].cuda()  # -> ACC201 info safe
    model(x).sum().backward()
""",
}


@pytest.mark.parametrize("idiom", BATCHES)
def test_a_batch_that_is_handed_on_so(idiom: str, tmp_path: Path) -> None:
    check_named(HEAD + BATCHES[idiom], tmp_path)
