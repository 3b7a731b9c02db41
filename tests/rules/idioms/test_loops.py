"""Steps that wait for the GPU in loops of all shapes: each must be seen."""

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
STEP = """\
    out = model(x.cuda(non_blocking=True))
    loss = criterion(out, y.cuda(non_blocking=True))
    loss.backward()
    total += loss.item()  # -> ACC208 info none
    acc += out.max().item()
"""
LOOP = f"""
for x, y in loader:
{STEP}"""
CRITERION = """
criterion = nn.MSELoss()
total = acc = 0.0
"""
MODEL = """
model = nn.Linear(8, 2).cuda()
"""

LOOPS = {
    "base": MODEL + CRITERION + LOOP,
    "single item": MODEL
    + CRITERION
    + """
for x, y in loader:
    out = model(x.cuda(non_blocking=True))
    loss = criterion(out, y.cuda(non_blocking=True))
    loss.backward()
    total += loss.item()  # -> ACC208 info none
""",
    "break guard": MODEL
    + CRITERION
    + """
for x, y in loader:
    if total > 9:
        break
"""
    + STEP,
    "raise guard": MODEL
    + CRITERION
    + """
for x, y in loader:
    if x.size(0) == 0:
        raise ValueError
"""
    + STEP,
    "continue guard": MODEL
    + CRITERION
    + """
for x, y in loader:
    if x.size(0) < 16:
        continue
"""
    + STEP,
    "invariant if": """
import os
rank = int(os.environ["RANK"])
"""
    + MODEL
    + CRITERION
    + """
for x, y in loader:
    out = model(x.cuda(non_blocking=True))
    loss = criterion(out, y.cuda(non_blocking=True))
    loss.backward()
    if rank == 0:
        total += loss.item()  # -> ACC208 info none
        acc += out.max().item()
""",
    "if else both": "amp = True\n"
    + MODEL
    + CRITERION
    + """
for x, y in loader:
    out = model(x.cuda(non_blocking=True))
    loss = criterion(out, y.cuda(non_blocking=True))
    loss.backward()
    if amp:
        total += loss.item()  # -> ACC208 info none
        acc += out.max().item()
    else:
        total += 2 * loss.item()
        acc += 2 * out.max().item()
""",
    "loader unknown": "from mylib import make_loader\n"
    + MODEL
    + CRITERION
    + """
for x, y in make_loader():
"""
    + STEP,
    "loader param": """
def train(model, loader, optimizer):
    criterion = nn.MSELoss()
    total = acc = 0.0
    for x, y in loader:
        out = model(x.cuda(non_blocking=True))
        loss = criterion(out, y.cuda(non_blocking=True))
        loss.backward()
        optimizer.step()
        total += loss.item()  # -> ACC208 info none
        acc += out.max().item()
""",
    "optional loader": """
def run(data, val=None):
    model = nn.Linear(8, 2).cuda()
    criterion = nn.MSELoss()
    loader = DataLoader(val, batch_size=16) if val is not None else None
    total = acc = 0.0
    if loader is not None:
        for x, y in loader:
            out = model(x.cuda(non_blocking=True))
            loss = criterion(out, y.cuda(non_blocking=True))
            loss.backward()
            total += loss.item()  # -> ACC208 info none
            acc += out.max().item()
""",
    "two loaders": """
def run(data, fast):
    model = nn.Linear(8, 2).cuda()
    criterion = nn.MSELoss()
    if fast:
        loader = DataLoader(data, batch_size=64)
    else:
        loader = DataLoader(data, batch_size=16)
    total = acc = 0.0
    for x, y in loader:
        x, y = x.cuda(non_blocking=True), y.cuda(non_blocking=True)
        out = model(x)
        loss = criterion(out, y)
        loss.backward()
        total += loss.item()  # -> ACC208 info none
        acc += x.max().item()
""",
    "opacus": "from opacus import PrivacyEngine\n"
    + MODEL
    + """
opt = torch.optim.SGD(model.parameters(), lr=0.1)
loader = DataLoader(data, batch_size=16)
model, opt, loader = PrivacyEngine().make_private(module=model, optimizer=opt, data_loader=loader)
"""
    + CRITERION
    + LOOP,
    "next in range": MODEL
    + CRITERION
    + """
it = iter(loader)
for step in range(1000):
    try:
        x, y = next(it)
    except StopIteration:
        it = iter(loader)
        x, y = next(it)
"""
    + STEP,
    "dot next": MODEL
    + CRITERION
    + """
loader = DataLoader(data, batch_size=16)
it = iter(loader)
for step in range(1000):
    try:
        x, y = it.next()
    except StopIteration:
        it = iter(loader)
        x, y = it.next()
"""
    + STEP,
    "dunder next": MODEL
    + CRITERION
    + """
loader = DataLoader(data, batch_size=16)
it = iter(loader)
for step in range(1000):
    try:
        x, y = it.__next__()
    except StopIteration:
        it = iter(loader)
        x, y = it.__next__()
"""
    + STEP,
    "helper step": MODEL
    + """
criterion = nn.MSELoss()
def step(x, y):
    out = model(x.cuda(non_blocking=True))
    loss = criterion(out, y.cuda(non_blocking=True))
    loss.backward()
    return {"loss": loss.item(), "max": out.max().item()}  # -> ACC208 info none
for x, y in loader:
    print(step(x, y))
""",
    "synchronize": "import time\n"
    + MODEL
    + CRITERION
    + """
for x, y in loader:
    out = model(x.cuda(non_blocking=True))
    loss = criterion(out, y.cuda(non_blocking=True))
    loss.backward()
    torch.cuda.synchronize()  # -> ACC215 info unsafe
    total += 1
print(time.time())
""",
    "synchronize noclock": MODEL
    + CRITERION
    + """
for x, y in loader:
    out = model(x.cuda(non_blocking=True))
    loss = criterion(out, y.cuda(non_blocking=True))
    loss.backward()
    torch.cuda.synchronize()  # -> ACC215 info unsafe
    total += 1
""",
    "fstring concat": MODEL
    + CRITERION
    + """
for x, y in loader:
    out = model(x.cuda(non_blocking=True))
    loss = criterion(out, y.cuda(non_blocking=True))
    loss.backward()
    print("a" f"{loss.item()} " f"{out.max().item()}")  # -> ACC208 info none
""",
    "fstring": MODEL
    + CRITERION
    + """
for x, y in loader:
    out = model(x.cuda(non_blocking=True))
    loss = criterion(out, y.cuda(non_blocking=True))
    loss.backward()
    print(f"a {loss.item()} {out.max().item()}")  # -> ACC208 info none
""",
    "gradnorm print": MODEL
    + CRITERION
    + """
for x, y in loader:
    out = model(x.cuda(non_blocking=True))
    loss = criterion(out, y.cuda(non_blocking=True))
    loss.backward()
    norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    print("norm {:.3f} {:.3f}".format(norm, loss.item()))  # -> ACC208 info none
""",
    "const branch": MODEL
    + CRITERION
    + """
def build(mode):
    if mode == "train":
        return DataLoader(data, batch_size=16)
    return DataLoader(data, batch_size=16), DataLoader(data, batch_size=16)
loader = build("train")
"""
    + LOOP,
    "no branch": MODEL
    + CRITERION
    + """
def build(mode):
    return DataLoader(data, batch_size=16)
loader = build("train")
"""
    + LOOP,
    "inner loop over losses": MODEL
    + CRITERION
    + """
for x, y in DataLoader(data, batch_size=16):
    out = model(x.cuda(non_blocking=True))
    loss = criterion(out, y.cuda(non_blocking=True))
    losses = {"total": loss, "mean": out.mean()}
    losses["total"].backward()
    for key in losses:
        print(key, losses[key].item())  # -> ACC208 info none
""",
    "partial map": MODEL
    + CRITERION
    + """
from functools import partial
get = partial(DataLoader, batch_size=16)
train, val = map(get, (data, data))
for x, y in train:
"""
    + STEP,
    "many callers": MODEL
    + CRITERION
    + """
def make(n):
    return DataLoader(data, batch_size=n)
l0 = make(1)
l1 = make(2)
l2 = make(3)
l3 = make(4)
l4 = make(5)
l5 = make(6)
l6 = make(7)
l7 = make(8)
l8 = make(9)
for x, y in l8:
"""
    + STEP,
    "few callers": MODEL
    + CRITERION
    + """
def make(n):
    return DataLoader(data, batch_size=n)
l0 = make(1)
l8 = make(9)
for x, y in l8:
"""
    + STEP,
}


@pytest.mark.parametrize("idiom", LOOPS)
def test_a_step_of_a_loop_of_this_shape(idiom: str, tmp_path: Path) -> None:
    check_named(HEAD + LOOPS[idiom], tmp_path)
