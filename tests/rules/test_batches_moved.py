"""ACC302 is silent: something moves the batch, or it may stay where it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from .programs import NET
from .single import check_one

MOVED: dict[str, str] = {
    "fully_shard": """
from torch.distributed.fsdp import fully_shard
model = nn.Linear(8, 2).cuda()
fully_shard(model)
for x, y in loader:
    model(x).sum().backward()
""",
    "collate on GPU": """
def collate(batch):
    xs = torch.stack([b[0] for b in batch]).cuda()
    return xs, torch.zeros(len(batch)).cuda()
model = nn.Linear(8, 2).cuda()
loader = DataLoader(TensorDataset(torch.zeros(8, 8), torch.zeros(8)), batch_size=4, collate_fn=collate)
for x, y in loader:
    model(x).sum().backward()
""",
    "dataset gets tensors": """
class D(Dataset):
    def __init__(self, x): self.x = x
    def __len__(self): return 8
    def __getitem__(self, i): return self.x[i], 0
model = nn.Linear(8, 2).to("cuda")
loader = DataLoader(D(torch.zeros(8, 8).to("cuda")), batch_size=4)
for x, y in loader:
    model(x).sum().backward()
""",
    "dataset gets unknown data": """
import store
class D(Dataset):
    def __init__(self, x): self.x = x
    def __len__(self): return 8
    def __getitem__(self, i): return self.x[i], 0
model = nn.Linear(8, 2).to("cuda")
loader = DataLoader(D(store.load()), batch_size=4)
for x, y in loader:
    model(x).sum().backward()
""",
    "dataset transform moves": """
from torchvision import datasets, transforms
t = transforms.Compose([transforms.ToTensor(), transforms.Lambda(lambda x: x.cuda())])
model = nn.Linear(8, 2).to("cuda")
loader = DataLoader(datasets.MNIST("r", transform=t), batch_size=4)
for x, y in loader:
    model(x).sum().backward()
""",
    "set_default_tensor_type in function": """
def main():
    if torch.cuda.is_available():
        torch.set_default_tensor_type("torch.cuda.FloatTensor")
    model = nn.Linear(8, 2).cuda()
    loader = DataLoader(TensorDataset(torch.zeros(8, 8), torch.zeros(8)), batch_size=4)
    for x, y in loader:
        model(x).sum().backward()
main()
""",
    "to_device helper recursive": """
def to_device(obj, device):
    if isinstance(obj, (list, tuple)):
        return [to_device(o, device) for o in obj]
    return obj.to(device, non_blocking=True)
model = nn.Linear(8, 2).cuda()
for batch in loader:
    x, y = to_device(batch, "cuda")
    model(x).sum().backward()
""",
    "jovian DeviceDataLoader": """
def to_device(data, device):
    if isinstance(data, (list, tuple)):
        return [to_device(x, device) for x in data]
    return data.to(device, non_blocking=True)
class DeviceDataLoader():
    def __init__(self, dl, device):
        self.dl = dl
        self.device = device
    def __iter__(self):
        for b in self.dl:
            yield to_device(b, self.device)
    def __len__(self):
        return len(self.dl)
device = torch.device("cuda")
loader = DeviceDataLoader(loader, device)
model = to_device(nn.Linear(8, 2), device)
for x, y in loader:
    model(x).sum().backward()
""",
    "tree_map": """
from torch.utils._pytree import tree_map
model = nn.Linear(8, 2).cuda()
for batch in loader:
    x, y = tree_map(lambda t: t.cuda(), batch)
    model(x).sum().backward()
""",
    "dict comprehension": """
class D(Dataset):
    def __len__(self): return 8
    def __getitem__(self, i): return {"x": torch.zeros(8), "y": 0}
model = nn.Linear(8, 2).cuda()
loader = DataLoader(D(), batch_size=4)
for batch in loader:
    batch = {k: v.cuda() for k, v in batch.items()}
    model(batch["x"]).sum().backward()
""",
    "dict assigned in place": """
class D(Dataset):
    def __len__(self): return 8
    def __getitem__(self, i): return {"x": torch.zeros(8), "y": 0}
model = nn.Linear(8, 2).cuda()
loader = DataLoader(D(), batch_size=4)
for batch in loader:
    for k in batch:
        batch[k] = batch[k].cuda()
    model(batch["x"]).sum().backward()
""",
    "list in place": """
model = nn.Linear(8, 2).cuda()
for batch in loader:
    for i in range(len(batch)):
        batch[i] = batch[i].cuda()
    model(batch[0]).sum().backward()
""",
    "generator unpack": """
model = nn.Linear(8, 2).cuda()
for batch in loader:
    x, y = (t.cuda(non_blocking=True) for t in batch)
    model(x).sum().backward()
""",
    "map lambda": """
model = nn.Linear(8, 2).cuda()
for batch in loader:
    x, y = map(lambda t: t.cuda(non_blocking=True), batch)
    model(x).sum().backward()
""",
    "helper in place": """
def prepare(batch):
    for k in batch:
        batch[k] = batch[k].cuda()
class D(Dataset):
    def __len__(self): return 8
    def __getitem__(self, i): return {"x": torch.zeros(8), "y": 0}
model = nn.Linear(8, 2).cuda()
loader = DataLoader(D(), batch_size=4)
for batch in loader:
    prepare(batch)
    model(batch["x"]).sum().backward()
""",
    "unknown helper in place": """
import lib
class D(Dataset):
    def __len__(self): return 8
    def __getitem__(self, i): return {"x": torch.zeros(8), "y": 0}
model = nn.Linear(8, 2).cuda()
loader = DataLoader(D(), batch_size=4)
for batch in loader:
    lib.prepare(batch)
    model(batch["x"]).sum().backward()
""",
    ".data in place": """
model = nn.Linear(8, 2).cuda()
for x, y in loader:
    x.data = x.data.cuda()
    model(x).sum().backward()
""",
    "BatchEncoding to": """
class D(Dataset):
    def __init__(self, t): self.t = t
    def __len__(self): return 8
    def __getitem__(self, i): return self.t("abc", return_tensors="pt")
from transformers import AutoTokenizer
tok = AutoTokenizer.from_pretrained("b")
model = nn.Linear(8, 2).cuda()
loader = DataLoader(D(tok), batch_size=4)
for batch in loader:
    batch.to("cuda")
    model(batch["input_ids"]).sum().backward()
""",
    "prefetcher class": """
class Prefetcher:
    def __init__(self, loader):
        self.loader = iter(loader)
        self.stream = torch.cuda.Stream()
        self.preload()
    def preload(self):
        try:
            self.next_input, self.next_target = next(self.loader)
        except StopIteration:
            self.next_input = None
            self.next_target = None
            return
        with torch.cuda.stream(self.stream):
            self.next_input = self.next_input.cuda(non_blocking=True)
            self.next_target = self.next_target.cuda(non_blocking=True)
    def next(self):
        torch.cuda.current_stream().wait_stream(self.stream)
        i, t = self.next_input, self.next_target
        self.preload()
        return i, t
model = nn.Linear(8, 2).cuda()
p = Prefetcher(loader)
x, y = p.next()
while x is not None:
    model(x).sum().backward()
    x, y = p.next()
""",
    "another branch": """
import argparse
a = argparse.ArgumentParser(); a.add_argument("--gpu", type=int); args = a.parse_args()
model = nn.Linear(8, 2)
if args.gpu is not None:
    model = model.cuda(args.gpu)
else:
    model = torch.nn.DataParallel(model).cuda()
for x, y in loader:
    if args.gpu is not None:
        x = x.cuda(args.gpu, non_blocking=True)
    y = y.cuda(args.gpu, non_blocking=True)
    nn.functional.cross_entropy(model(x), y).backward()
""",
    "if cuda both": """
cuda = torch.cuda.is_available()
model = nn.Linear(8, 2)
crit = nn.CrossEntropyLoss()
if cuda:
    model.cuda(); crit.cuda()
Tensor = torch.cuda.FloatTensor if cuda else torch.FloatTensor
for x, y in loader:
    x = x.type(Tensor)
    y = torch.autograd.Variable(y.type(Tensor))
    crit(model(x), y).backward()
""",
    "custom decorator wraps": """
import functools
def on_gpu(fn):
    @functools.wraps(fn)
    def inner(x, y):
        return fn(x.cuda(), y.cuda())
    return inner
model = nn.Linear(8, 2).cuda()
@on_gpu
def step(x, y):
    return model(x).sum()
for x, y in loader:
    step(x, y).backward()
""",
    "custom decorator from library": """
import lib
model = nn.Linear(8, 2).cuda()
@lib.on_gpu
def step(x, y):
    return model(x).sum()
for x, y in loader:
    step(x, y).backward()
""",
    "deepspeed": """
import deepspeed
model = nn.Linear(8, 2)
engine, _, loader, _ = deepspeed.initialize(model=model, training_data=TensorDataset(torch.zeros(8, 8)))
for x, y in loader:
    engine(x.cuda()).sum().backward()
    model(x.cuda())
""",
    "functools partial": """
from functools import partial
def step(model, device, x, y):
    return model(x.to(device)).sum()
model = nn.Linear(8, 2).cuda()
go = partial(step, model, "cuda")
for x, y in loader:
    go(x, y).backward()
""",
    "loss on cpu on purpose": """
model = nn.Linear(8, 2).cuda()
crit = nn.CrossEntropyLoss()
for x, y in loader:
    out = model(x.cuda()).cpu()
    crit(out, y).backward()
""",
    "model given by keyword/unpack in **batch": """
class D(Dataset):
    def __len__(self): return 8
    def __getitem__(self, i): return {"x": torch.zeros(8), "y": 0}
model = nn.Linear(8, 2).cuda()
loader = DataLoader(D(), batch_size=4)
for b in loader:
    model(**b)
    model(*b)
""",
}


@pytest.mark.parametrize("source", MOVED.values(), ids=MOVED.keys())
def test_silent(source: str, tmp_path: Path) -> None:
    for code in ("ACC302", "ACC303"):
        check_one(code, NET + source, tmp_path)


ELSEWHERE = {
    "dataset keeps device given and moves in helper": (
        """
from util import to_dev
class D(Dataset):
    def __init__(self, x, d): self.x = x; self.d = d
    def __len__(self): return 8
    def __getitem__(self, i): return to_dev(self.x[i], self.d), 0
model = nn.Linear(8, 2).to("cuda")
loader = DataLoader(D([1.0], "cuda"), batch_size=4)
for x, y in loader:
    model(x).sum().backward()
""",
        "util.py",
        """
import torch
def to_dev(x, d):
    return torch.tensor(x).to(d)
""",
    ),
}
"""Programs of two files."""


@pytest.mark.parametrize(("source", "name", "other"), ELSEWHERE.values(), ids=ELSEWHERE.keys())
def test_silent_across_files(source: str, name: str, other: str, tmp_path: Path) -> None:
    for code in ("ACC302", "ACC303"):
        check_one(code, NET + source, tmp_path, {name: other})
