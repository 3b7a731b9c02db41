"""ACC401 to ACC407 on whole programs, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from .programs import IMPORTS
from .single import check_one

SILENT = {
    "ACC401: returns features": """
model = nn.Linear(8, 2).cuda()
from lib import data
loader = DataLoader(data)
def extract():
    feats = []
    for x in loader:
        feats.append(model(x))
    return feats
""",
    "ACC401: reinforce eval mode then backward": """
model = nn.Linear(8, 2)
loader = DataLoader(TensorDataset(torch.zeros(8, 8)))
def finetune_bn_frozen():
    model.eval()
    for (x,) in loader:
        loss = model(x).sum()
        loss.backward()
""",
    "ACC401: caller trains on what it returns": """
model = nn.Linear(8, 2)
loader = DataLoader(TensorDataset(torch.zeros(8, 8)))
def evaluate_loss():
    model.eval()
    total = 0
    for (x,) in loader:
        total = total + model(x).sum()
    return total
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for i in range(4):
    loss = evaluate_loss()
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
    "ACC401: requires grad false model params": """
model = nn.Linear(8, 2)
for p in model.parameters():
    p.requires_grad = False
loader = DataLoader(TensorDataset(torch.zeros(8, 8)))
def evaluate():
    model.eval()
    for (x,) in loader:
        print(model(x).argmax(1))
""",
    "ACC401: forces in forward": """
class Energy(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 1)
    def forward(self, x):
        x.requires_grad_(True)
        return torch.autograd.grad(self.fc(x).sum(), x)[0]
model = Energy()
loader = DataLoader(TensorDataset(torch.zeros(8, 8)))
def evaluate():
    model.eval()
    for (x,) in loader:
        print(model(x).mean().item())
evaluate()
""",
    "ACC402: old torch alias": """
from torch.cuda.amp import autocast, GradScaler
try:
    from torch.amp import GradScaler as G2
except ImportError:
    G2 = None
scaler = G2("cuda") if G2 is not None else GradScaler()
""",
    "ACC402: user named autocast": """
def autocast(x):
    return x
autocast(False)
""",
    "ACC402: try import fallback": """
try:
    from torch.amp import autocast
except ImportError:
    from torch.cuda.amp import autocast
with autocast("cuda"):
    pass
""",
    "ACC403: device.type": """
device = torch.device("cuda")
with torch.autocast(device.type):
    pass
""",
    "ACC403: device string name": """
device = "cuda" if torch.cuda.is_available() else "cpu"
with torch.autocast(device):
    pass
""",
    "ACC403: parameter": """
def f(device):
    with torch.autocast(device):
        pass
""",
    "ACC403: str()": """
device = torch.device("cuda")
with torch.autocast(str(device)):
    pass
with torch.autocast(device_type=device.type, dtype=torch.bfloat16):
    pass
""",
    "ACC406: disabled inside": """
import torch.nn.functional as F
z = torch.zeros(3).cuda()
with torch.autocast("cuda"):
    with torch.autocast("cuda", enabled=False):
        loss = F.binary_cross_entropy(torch.sigmoid(z.float()), z)
""",
    "ACC406: cpu autocast": """
import torch.nn.functional as F
z = torch.zeros(3)
with torch.autocast("cpu"):
    loss = F.binary_cross_entropy(torch.sigmoid(z), z)
""",
    "ACC406: logits": """
import torch.nn.functional as F
z = torch.zeros(3)
with torch.autocast("cuda"):
    loss = F.binary_cross_entropy_with_logits(z, z)
""",
    "ACC406: flag": """
import argparse
p = argparse.ArgumentParser(); p.add_argument("--amp", action="store_true"); a = p.parse_args()
crit = nn.BCELoss()
z = torch.zeros(3)
with torch.autocast("cuda", enabled=a.amp):
    loss = crit(torch.sigmoid(z), z)
""",
    "ACC407: outside": """
model = nn.Linear(3, 3).cuda()
with torch.autocast("cuda"):
    loss = model(torch.zeros(3, device="cuda")).sum()
loss.backward()
""",
}


@pytest.mark.parametrize("case", SILENT)
def test_silent(case: str, tmp_path: Path) -> None:
    check_one(case[:6], IMPORTS + SILENT[case], tmp_path)


REPORTED = {
    "ACC401: plain evaluate": """
model = nn.Linear(8, 2)
loader = DataLoader(TensorDataset(torch.zeros(8, 8), torch.zeros(8)))
def evaluate():
    model.eval()
    correct = 0
    for x, y in loader:  # -> warning unsafe
        correct += (model(x).argmax(1) == y).sum().item()
    print(correct / 8)
evaluate()
""",
    "ACC401: trainer method": """
class T:
    def __init__(self):
        self.model = nn.Linear(8, 2)
        self.val = DataLoader(TensorDataset(torch.zeros(8, 8), torch.zeros(8)))
    def validate(self):
        self.model.eval()
        losses = []
        for x, y in self.val:  # -> warning unsafe
            losses.append(nn.functional.cross_entropy(self.model(x), y).item())
        return sum(losses) / len(losses)
T().validate()
""",
    "ACC401: predict function at inference": """
def predict(model, loader):
    model.eval()
    out = []
    for (x,) in loader:  # -> warning unsafe
        out.append(model(x).argmax(1).cpu())
    return torch.cat(out)
predict(nn.Linear(8, 2), DataLoader(TensorDataset(torch.zeros(8, 8))))
""",
    "ACC402: old amp": """
from torch.cuda.amp import autocast, GradScaler
scaler = GradScaler()  # -> info safe
with autocast():  # -> info safe
    pass
""",
    "ACC402: attribute module alias": """
import torch.cuda.amp as amp
with amp.autocast(enabled=True):  # -> info safe
    pass
""",
    "ACC403: device object": """
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
with torch.autocast(device_type=device, dtype=torch.float16):  # -> error safe
    pass
""",
    "ACC403: missing": """
with torch.autocast(enabled=True):  # -> error none
    pass
""",
    "ACC403: amp alias": """
from torch.amp import autocast
device = torch.device("cuda")
with autocast(device):  # -> error safe
    pass
""",
    "ACC403: self.device": """
class T:
    def __init__(self):
        self.device = torch.device("cuda:0")
    def run(self):
        with torch.autocast(self.device):  # -> error safe
            pass
T().run()
""",
    "ACC406: bce": """
crit = nn.BCELoss()
model = nn.Sequential(nn.Linear(3, 1), nn.Sigmoid()).cuda()
with torch.autocast("cuda"):
    loss = crit(model(torch.zeros(3, device="cuda")), torch.zeros(1, device="cuda"))  # -> error none
""",
    "ACC406: float32": """
import torch.nn.functional as F
z = torch.zeros(3).cuda()
y = torch.zeros(3).cuda()
with torch.autocast("cuda"):
    p = torch.sigmoid(z)
    loss = F.binary_cross_entropy(p.float(), y.float())  # -> error none
""",
    "ACC406: old name, decorator": """
import torch.nn.functional as F
@torch.cuda.amp.autocast()
def step(z, y):
    return F.binary_cross_entropy(torch.sigmoid(z), y)  # -> error none
step(torch.zeros(3).cuda(), torch.zeros(3).cuda())
""",
    "ACC407: optimizer step outside": """
model = nn.Linear(3, 3).cuda()
with torch.autocast("cuda"):
    loss = model(torch.zeros(3, device="cuda")).sum()
    loss.backward()  # -> info none
""",
}


@pytest.mark.parametrize("case", REPORTED)
def test_reported(case: str, tmp_path: Path) -> None:
    check_one(case[:6], IMPORTS + REPORTED[case], tmp_path)
