"""Steps that wait for what models and losses of all makes return: each must be seen."""

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
LOOP = """
for x, y in loader:
    out = model(x.cuda(non_blocking=True))
    loss = criterion(out, y.cuda(non_blocking=True))
    loss.backward()
    total += loss.item()  # -> ACC208 info none
    acc += out.max().item()
"""
CRITERION = """
criterion = nn.MSELoss()
total = acc = 0.0
"""
MODEL = """
model = nn.Linear(8, 2).cuda()
"""

MODELS = {
    "factory registry": """
import models
model = models.__dict__["net"]().cuda()
"""
    + CRITERION
    + LOOP,
    "library model": """
from monai.networks.nets import UNet
model = UNet(2, 1, 2).cuda()
"""
    + CRITERION
    + LOOP,
    "library loss": "from monai.losses import DiceLoss\n"
    + MODEL
    + """
criterion = DiceLoss()
total = acc = 0.0
for x, y in loader:
    out = model(x.cuda(non_blocking=True))
    loss = criterion(out, y.cuda(non_blocking=True))
    loss.backward()
    total += loss.item()  # -> ACC208 info none
    acc += loss.item()
""",
    "ddp of unknown": """
import models
model = nn.parallel.DistributedDataParallel(models.build().cuda(), device_ids=[0])
"""
    + CRITERION
    + LOOP,
    "if cuda model": """
use_gpu = torch.cuda.is_available()
model = nn.Linear(8, 2)
if use_gpu:
    model = model.cuda()
"""
    + CRITERION
    + LOOP,
    "if else out": "amp = True\n"
    + MODEL
    + CRITERION
    + """
for x, y in loader:
    x, y = x.cuda(non_blocking=True), y.cuda(non_blocking=True)
    if amp:
        out = model(x)
        loss = criterion(out, y)
    else:
        out = model(x)
        loss = criterion(out, y)
    loss.backward()
    total += loss.item()  # -> ACC208 info none
    acc += out.max().item()
""",
    "super init": """
class Base:
    def __init__(self, data):
        self.model = nn.Linear(8, 2).cuda()
        self.loader = DataLoader(data, batch_size=16)
        self.criterion = nn.MSELoss()
class Trainer(Base):
    def __init__(self, data):
        super().__init__(data)
    def run(self):
        total = acc = 0.0
        for x, y in self.loader:
            out = self.model(x.cuda(non_blocking=True))
            loss = self.criterion(out, y.cuda(non_blocking=True))
            loss.backward()
            total += loss.item()  # -> ACC208 info none
            acc += out.max().item()
Trainer(TensorDataset(torch.zeros(64, 8), torch.zeros(64, 2))).run()
""",
    "no super": """
class Base:
    def __init__(self, data):
        self.model = nn.Linear(8, 2).cuda()
        self.loader = DataLoader(data, batch_size=16)
        self.criterion = nn.MSELoss()
class Trainer(Base):
    def run(self):
        total = acc = 0.0
        for x, y in self.loader:
            out = self.model(x.cuda(non_blocking=True))
            loss = self.criterion(out, y.cuda(non_blocking=True))
            loss.backward()
            total += loss.item()  # -> ACC208 info none
            acc += out.max().item()
Trainer(TensorDataset(torch.zeros(64, 8), torch.zeros(64, 2))).run()
""",
    "loss in model": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 2)
        self.criterion = nn.MSELoss()
    def forward(self, x, y):
        out = self.fc(x)
        return out, self.criterion(out, y)
model = Net().cuda()
total = acc = 0.0
for x, y in loader:
    out, loss = model(x.cuda(non_blocking=True), y.cuda(non_blocking=True))
    loss.backward()
    total += loss.item()  # -> ACC208 info none
    acc += out.max().item()
""",
    "hf loss": """
from transformers import AutoModelForCausalLM
def train(loader):
    model = AutoModelForCausalLM.from_pretrained("gpt2").cuda()
    total = acc = 0.0
    for batch in DataLoader(loader, batch_size=4):
        batch = {k: v.cuda() for k, v in batch.items()}
        out = model(**batch)
        loss = out.loss
        loss.backward()
        total += loss.item()  # -> ACC208 info none
        acc += out.logits.max().item()
""",
    "loss div": "from cfg import accum\n"
    + MODEL
    + CRITERION
    + """
for x, y in loader:
    out = model(x.cuda(non_blocking=True))
    loss = criterion(out, y.cuda(non_blocking=True))
    loss = loss / accum
    loss.backward()
    total += loss.item()  # -> ACC208 info none
    acc += loss.item()
""",
    "loss mul param": """
def train(lamb):
    model = nn.Linear(8, 2).cuda()
    criterion = nn.MSELoss()
    total = acc = 0.0
    for x, y in loader:
        out = model(x.cuda(non_blocking=True))
        loss = criterion(out, y.cuda(non_blocking=True)) * lamb
        loss.backward()
        total += loss.item()  # -> ACC208 info none
        acc += loss.item()
""",
    "custom loss class": """
class SemiLoss:
    def __call__(self, out, y):
        return torch.mean((out - y) ** 2), out.sum()
"""
    + MODEL
    + """
criterion = SemiLoss()
total = acc = 0.0
for x, y in loader:
    out = model(x.cuda(non_blocking=True))
    loss, reg = criterion(out, y.cuda(non_blocking=True))
    loss.backward()
    total += loss.item()  # -> ACC208 info none
    acc += reg.item()
""",
    "accumulate mean": """
model = nn.Linear(8, 2)
criterion = nn.MSELoss(reduction="none")
total = 0.0
for x, y in loader:
    loss = torch.mean(criterion(model(x), y))
    loss.backward()
    total += loss  # -> ACC209 warning safe
""",
    "accumulate method": """
model = nn.Linear(8, 2)
criterion = nn.MSELoss(reduction="none")
total = 0.0
for x, y in loader:
    loss = criterion(model(x), y).mean()
    loss.backward()
    total += loss  # -> ACC209 warning safe
""",
    "escaped model": "from mylib import count\n" + MODEL + "count(model)\n" + CRITERION + LOOP,
    "float of unknown": """
import models
model = models.build().cuda()
"""
    + CRITERION
    + """
for x, y in loader:
    out = model(x.cuda(non_blocking=True))
    loss = criterion(out, y.cuda(non_blocking=True))
    loss.backward()
    total += float(out.max())  # -> ACC208 info none
    acc += float(out.min())
""",
    "seven models": """
import sys
class A(nn.Linear):
    pass
class A0(A):
    pass
class A1(A):
    pass
class A2(A):
    pass
class A3(A):
    pass
class A4(A):
    pass
class A5(A):
    pass
class A6(A):
    pass
class A7(A):
    pass
def build(n):
    if n == 0:
        m = A0(8, 2)
    elif n == 1:
        m = A1(8, 2)
    elif n == 2:
        m = A2(8, 2)
    elif n == 3:
        m = A3(8, 2)
    elif n == 4:
        m = A4(8, 2)
    elif n == 5:
        m = A5(8, 2)
    elif n == 6:
        m = A6(8, 2)
    elif n == 7:
        m = A7(8, 2)
    else:
        sys.exit()
    return m.cuda()
model = build(int(sys.argv[1]))
"""
    + CRITERION
    + """
for x, y in DataLoader(data, batch_size=16):
    out = model(x.cuda(non_blocking=True))
    loss = criterion(out, y.cuda(non_blocking=True))
    loss.backward()
    total += loss.item()  # -> ACC208 info none
    acc += out.max().item()
""",
    "six models": """
import sys
class A(nn.Linear):
    pass
class A0(A):
    pass
class A1(A):
    pass
class A2(A):
    pass
class A3(A):
    pass
class A4(A):
    pass
class A5(A):
    pass
class A6(A):
    pass
class A7(A):
    pass
def build(n):
    if n == 0:
        m = A0(8, 2)
    elif n == 1:
        m = A1(8, 2)
    elif n == 2:
        m = A2(8, 2)
    elif n == 3:
        m = A3(8, 2)
    elif n == 4:
        m = A4(8, 2)
    elif n == 5:
        m = A5(8, 2)
    else:
        sys.exit()
    return m.cuda()
model = build(int(sys.argv[1]))
"""
    + CRITERION
    + """
for x, y in DataLoader(data, batch_size=16):
    out = model(x.cuda(non_blocking=True))
    loss = criterion(out, y.cuda(non_blocking=True))
    loss.backward()
    total += loss.item()  # -> ACC208 info none
    acc += out.max().item()
""",
    "model param moved by caller": """
import sys
from mylib import registry
def train(model, loader):
    criterion = nn.MSELoss()
    total = acc = 0.0
    for x, y in loader:
        x, y = x.cuda(), y.cuda()
        out = model(x)
        loss = criterion(out, y)
        loss.backward()
        total += loss.item()  # -> ACC208 info none
        acc += out.max().item()
train(registry[sys.argv[1]]().cuda(), DataLoader(data, batch_size=16))
""",
    "ddp known": "model = nn.parallel.DistributedDataParallel(nn.Linear(8, 2).cuda(), device_ids=[0])\n"
    + CRITERION
    + """
for x, y in DataLoader(data, batch_size=16):
    out = model(x.cuda(non_blocking=True))
    loss = criterion(out, y.cuda(non_blocking=True))
    loss.backward()
    total += loss.item()  # -> ACC208 info none
    acc += out.max().item()
""",
}


@pytest.mark.parametrize("idiom", MODELS)
def test_a_step_that_waits_for_what_this_makes(idiom: str, tmp_path: Path) -> None:
    check_named(HEAD + MODELS[idiom], tmp_path)
