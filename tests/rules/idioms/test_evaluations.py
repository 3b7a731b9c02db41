"""Evaluations that record gradients, loaders that each epoch builds again, and DataParallel."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..checks import check_named

HEAD = """
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

data = TensorDataset(torch.zeros(64, 8), torch.zeros(64, 2))
loader = DataLoader(data, batch_size=16, num_workers=2, pin_memory=True)
"""
CRITERION = """
criterion = nn.MSELoss()
total = acc = 0.0
"""
MODEL = """
model = nn.Linear(8, 2).cuda()
"""

WHOLE = {
    "eval choice loader": """
def evaluate(data, fast):
    model = nn.Linear(8, 2).cuda()
    model.eval()
    if fast:
        loader = DataLoader(data, batch_size=64)
    else:
        loader = DataLoader(data, batch_size=16)
    total = 0.0
    for (x,) in loader:  # -> ACC401 warning unsafe
        total += model(x.cuda()).sum().item()
    return total
""",
    "eval one loader": """
def evaluate(data, fast):
    model = nn.Linear(8, 2).cuda()
    model.eval()
    loader = DataLoader(data, batch_size=16)
    total = 0.0
    for (x,) in loader:  # -> ACC401 warning unsafe
        total += model(x.cuda()).sum().item()
    return total
""",
    "eval optional loader": """
def fit(data, val=None):
    model = nn.Linear(8, 2)
    val_loader = None
    if val is not None:
        val_loader = DataLoader(val, batch_size=16)
    model.eval()
    if val_loader is not None:
        total = 0.0
        for (x,) in val_loader:  # -> ACC401 warning unsafe
            total += model(x).sum()
        return total
""",
    "eval given loader": """
def fit(data, val):
    val_loader = DataLoader(val, batch_size=16)
    model = nn.Linear(8, 2)
    model.eval()
    if val_loader is not None:
        total = 0.0
        for (x,) in val_loader:  # -> ACC401 warning unsafe
            total += model(x).sum()
        return total
""",
    "eval of a function of another name": """
def fit(data, val):
    val_loader = DataLoader(val, batch_size=16)
    model = nn.Linear(8, 2)
    model.eval()
    total = 0.0
    for (x,) in val_loader:  # -> ACC401 warning unsafe
        total += model(x).sum()
    return total
""",
    "eval in a function called evaluate": """
def evaluate(data, val):
    val_loader = DataLoader(val, batch_size=16)
    model = nn.Linear(8, 2)
    model.eval()
    total = 0.0
    for (x,) in val_loader:  # -> ACC401 warning unsafe
        total += model(x).sum()
    return total
""",
    "eval on the gpu": """
def fit(data, val):
    val_loader = DataLoader(val, batch_size=16)
    model = nn.Linear(8, 2).cuda()
    model.eval()
    total = 0.0
    for (x,) in val_loader:  # -> ACC401 warning unsafe
        total += model(x.cuda()).sum()
    return total
""",
    "eval on the gpu given loader": """
def fit(data, val):
    val_loader = DataLoader(val, batch_size=16)
    model = nn.Linear(8, 2).cuda()
    model.eval()
    if val_loader is not None:
        total = 0.0
        for (x,) in val_loader:  # -> ACC401 warning unsafe
            total += model(x.cuda()).sum()
        return total
""",
    "eval on the gpu optional loader": """
def fit(data, val=None):
    model = nn.Linear(8, 2).cuda()
    val_loader = None
    if val is not None:
        val_loader = DataLoader(val, batch_size=16)
    model.eval()
    if val_loader is not None:
        total = 0.0
        for (x,) in val_loader:  # -> ACC401 warning unsafe
            total += model(x.cuda()).sum()
        return total
""",
    "eval prepared batch": """
def prepare(names):
    return torch.tensor([len(one) for one in names]).float()
def test(model, names):
    model = nn.Linear(8, 2)
    model.eval()
    correct = 0
    for batch in DataLoader(names, batch_size=16):  # -> ACC401 warning unsafe
        out = model(prepare(batch))
        correct += out.max()
    return correct
""",
    "eval prepared batch on the gpu": """
def prepare(names):
    return torch.tensor([len(one) for one in names]).float()
def test(model, names):
    model = nn.Linear(8, 2).cuda()
    model.eval()
    correct = 0
    for batch in DataLoader(names, batch_size=16):  # -> ACC401 warning unsafe
        out = model(prepare(batch).cuda())
        correct += out.max()
    return correct
""",
    "eval plain batch on the gpu": """
def prepare(names):
    return torch.tensor([len(one) for one in names]).float()
def test(model, names):
    model = nn.Linear(8, 2).cuda()
    model.eval()
    correct = 0
    for batch in DataLoader(names, batch_size=16):  # -> ACC401 warning unsafe
        out = model(batch.cuda())
        correct += out.max()
    return correct
""",
    "eval over indices": """
def test_net(dataset):
    net = nn.Linear(8, 2)
    net.eval()
    found = []
    for i in range(len(dataset)):  # -> ACC401 warning unsafe
        image, target = dataset[i]
        found.append(net(image.unsqueeze(0)))
    return found
""",
    "rebuilt direct": "data = TensorDataset(torch.zeros(64, 8))\n"
    + MODEL
    + """
opt = torch.optim.SGD(model.parameters(), lr=0.1)
def make():
    return DataLoader(data, batch_size=16, num_workers=4)  # -> ACC107 info none
for epoch in range(10):
    loader = make()
    for (x,) in loader:
        loss = model(x.cuda()).sum()
        loss.backward()
        opt.step()
""",
    "rebuilt two modes": "data = TensorDataset(torch.zeros(64, 8))\n"
    + MODEL
    + """
opt = torch.optim.SGD(model.parameters(), lr=0.1)
def make(mode):
    return DataLoader(data, batch_size=16, shuffle=mode == "train", num_workers=4)  # -> ACC107 info none
for epoch in range(10):
    loader = make("train")
    tests = make("test")
    for (x,) in loader:
        loss = model(x.cuda()).sum()
        loss.backward()
        opt.step()
""",
    "rebuilt plain": "data = TensorDataset(torch.zeros(64, 8))\n"
    + MODEL
    + """
opt = torch.optim.SGD(model.parameters(), lr=0.1)
def make():
    return DataLoader(data, batch_size=16, num_workers=4)
for epoch in range(10):
    loader = DataLoader(data, batch_size=16, num_workers=4)  # -> ACC107 info unsafe
    for (x,) in loader:
        loss = model(x.cuda()).sum()
        loss.backward()
        opt.step()
""",
    "rebuilt arg workers": MODEL
    + """
opt = torch.optim.SGD(model.parameters(), lr=0.1)
class Maker:
    def __init__(self, workers):
        self.data = TensorDataset(torch.zeros(64, 8))
        self.workers = workers
    def run(self, mode):
        if mode == "train":
            return DataLoader(self.data, batch_size=16, num_workers=self.workers)  # -> ACC107 info none
        elif mode == "test":
            return DataLoader(self.data, batch_size=32, num_workers=self.workers)  # -> ACC107 info none
maker = Maker(4)
for epoch in range(10):
    loader = maker.run("train")
    for (x,) in loader:
        loss = model(x.cuda()).sum()
        loss.backward()
        opt.step()
    with torch.no_grad():
        for (x,) in maker.run("test"):
            model(x.cuda())
""",
    "dp": "import sys\n"
    + MODEL
    + """
model = nn.DataParallel(model)  # -> ACC501 info none
model(torch.zeros(4, 8).cuda()).sum().backward()
""",
}


@pytest.mark.parametrize("idiom", WHOLE)
def test_a_program_that_is_written_so(idiom: str, tmp_path: Path) -> None:
    check_named(HEAD + WHOLE[idiom], tmp_path)
