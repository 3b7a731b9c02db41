"""ACC408 to ACC427 on whole programs, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from .programs import IMPORTS
from .single import check_one

SILENT = {
    "ACC410: seeded helper": """
def seed():
    torch.backends.cudnn.deterministic = True
    torch.backends.cudnn.benchmark = False
""",
    "ACC410: either branch": """
import argparse
p = argparse.ArgumentParser(); p.add_argument("--det", action="store_true"); a = p.parse_args()
if a.det:
    torch.backends.cudnn.deterministic = True
else:
    torch.backends.cudnn.benchmark = True
""",
    "ACC411: own module zero_grad": """
class My:
    def zero_grad(self, set_to_none=False):
        pass
My().zero_grad(set_to_none=False)
""",
    "ACC411: arg": """
import argparse
p = argparse.ArgumentParser(); p.add_argument("--n", action="store_true"); a = p.parse_args()
model = nn.Linear(2, 2)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
opt.zero_grad(set_to_none=a.n)
""",
    "ACC411: grads read afterwards": """
model = nn.Linear(2, 2)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
opt.zero_grad(set_to_none=False)
for p in model.parameters():
    p.grad.add_(torch.ones_like(p))
""",
    "ACC412: env from args": """
import os, argparse
p = argparse.ArgumentParser(); p.add_argument("--debug", action="store_true"); a = p.parse_args()
torch.autograd.set_detect_anomaly(a.debug)
model = nn.Linear(2, 2)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for i in range(3):
    model(torch.zeros(2)).sum().backward(); opt.step()
""",
    "ACC413: explicit": """
from torch.utils.checkpoint import checkpoint
checkpoint(print, 1, use_reentrant=True)
""",
    "ACC413: partial": """
from functools import partial
from torch.utils.checkpoint import checkpoint
ck = partial(checkpoint, use_reentrant=False)
ck(print, 1)
""",
    "ACC413: kwargs": """
from torch.utils.checkpoint import checkpoint
def f(**kw):
    checkpoint(print, 1, **kw)
""",
    "ACC414: gan": """
model = nn.Linear(2, 2); d = nn.Linear(2, 2)
loader = DataLoader(TensorDataset(torch.zeros(8, 2)))
for (x,) in loader:
    fake = model(x)
    d(fake).sum().backward(retain_graph=True)
    (d(fake).mean()).backward()
""",
    "ACC414: loop over losses": """
model = nn.Linear(2, 2)
loader = DataLoader(TensorDataset(torch.zeros(8, 2)))
for (x,) in loader:
    out = model(x)
    for l in (out.sum(), out.mean()):
        l.backward(retain_graph=True)
""",
    "ACC416: cpu": """
model = nn.Linear(2, 2)
opt = torch.optim.Adam(model.parameters(), foreach=False)
""",
    "ACC426: map location given": """
model = nn.Linear(2, 2).cuda()
model.load_state_dict(torch.load("a", map_location=lambda s, l: s))
""",
    "ACC426: no gpu": """
model = nn.Linear(2, 2)
model.load_state_dict(torch.load("a"))
""",
    "ACC426: cpu-saved artefact": """
stats = torch.load("stats.pt")
model = nn.Linear(2, 2).cuda()
""",
    "ACC427: guarded": """
model = nn.Linear(2, 2)
loader = DataLoader(TensorDataset(torch.zeros(8, 2)))
for i, (x,) in enumerate(loader):
    model(x).sum().backward()
    if i % 100 == 0:
        torch.save(model.state_dict(), "a")
""",
    "ACC427: guarded by continue": """
model = nn.Linear(2, 2)
loader = DataLoader(TensorDataset(torch.zeros(8, 2)))
for i, (x,) in enumerate(loader):
    model(x).sum().backward()
    if i % 100:
        continue
    torch.save(model.state_dict(), "a")
""",
    "ACC427: per epoch": """
model = nn.Linear(2, 2)
loader = DataLoader(TensorDataset(torch.zeros(8, 2)))
for e in range(3):
    for i, (x,) in enumerate(loader):
        model(x).sum().backward()
    torch.save(model.state_dict(), "a")
""",
    "ACC427: helper with condition": """
model = nn.Linear(2, 2)
loader = DataLoader(TensorDataset(torch.zeros(8, 2)))
def save(i):
    if i % 100 == 0:
        torch.save(model.state_dict(), "a")
for i, (x,) in enumerate(loader):
    model(x).sum().backward()
    save(i)
""",
}


@pytest.mark.parametrize("case", SILENT)
def test_silent(case: str, tmp_path: Path) -> None:
    check_one(case[:6], IMPORTS + SILENT[case], tmp_path)


REPORTED = {
    "ACC410: both": """
torch.backends.cudnn.deterministic = True
torch.backends.cudnn.benchmark = True  # -> info unsafe
""",
    "ACC410: off": """
from torch.backends import cudnn
cudnn.enabled = False  # -> warning unsafe
""",
    "ACC411: literal": """
model = nn.Linear(2, 2)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
opt.zero_grad(set_to_none=False)  # -> info unsafe
""",
    "ACC412: on": """
import os
os.environ["CUDA_LAUNCH_BLOCKING"] = "1"  # -> warning none
model = nn.Linear(2, 2)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for i in range(3):
    model(torch.zeros(2)).sum().backward(); opt.step()
""",
    "ACC413: plain": """
import torch.utils.checkpoint as cp
cp.checkpoint(print, 1)  # -> warning unsafe
""",
    "ACC414: alone": """
model = nn.Linear(2, 2)
loader = DataLoader(TensorDataset(torch.zeros(8, 2)))
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for (x,) in loader:
    opt.zero_grad()
    loss = model(x).sum()
    loss.backward(retain_graph=True)  # -> warning unsafe
    opt.step()
""",
    "ACC416: cuda": """
model = nn.Linear(2, 2).cuda()
opt = torch.optim.Adam(model.parameters(), foreach=False)  # -> info unsafe
""",
    "ACC426: then moved": """
model = nn.Linear(2, 2)
state = torch.load("a")  # -> info unsafe
model.load_state_dict(state["model"])
model.cuda()
""",
    "ACC427: each step": """
model = nn.Linear(2, 2)
loader = DataLoader(TensorDataset(torch.zeros(8, 2)))
for e in range(3):
    for i, (x,) in enumerate(loader):
        model(x).sum().backward()
        torch.save(model.state_dict(), "a")  # -> warning none
""",
    "ACC427: in a helper each step": """
model = nn.Linear(2, 2)
loader = DataLoader(TensorDataset(torch.zeros(8, 2)))
def save():
    torch.save(model.state_dict(), "a")  # -> warning none
for e in range(3):
    for i, (x,) in enumerate(loader):
        model(x).sum().backward()
        save()
""",
}


@pytest.mark.parametrize("case", REPORTED)
def test_reported(case: str, tmp_path: Path) -> None:
    check_one(case[:6], IMPORTS + REPORTED[case], tmp_path)
