"""ACC301, ACC307, ACC308, ACC310 and ACC311, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from .programs import IMPORTS
from .single import check_one

SILENT = {
    "ACC307: weights moved": """
w = torch.tensor([1.0, 5.0]).cuda()
crit = nn.CrossEntropyLoss(weight=w)
model = nn.Linear(8, 2).cuda()
for x, y in DataLoader(TensorDataset(torch.zeros(8, 8), torch.zeros(8))):
    crit(model(x.cuda()), y.cuda()).backward()
""",
    "ACC307: crit moved later": """
crit = nn.CrossEntropyLoss(weight=torch.tensor([1.0, 5.0]))
model = nn.Linear(8, 2).cuda()
crit.cuda()
for x, y in DataLoader(TensorDataset(torch.zeros(8, 8), torch.zeros(8))):
    crit(model(x.cuda()), y.cuda()).backward()
""",
    "ACC307: in a module": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 2)
        self.crit = nn.CrossEntropyLoss(weight=torch.tensor([1.0, 5.0]))
    def forward(self, x, y):
        return self.crit(self.fc(x), y)
model = Net().cuda()
for x, y in DataLoader(TensorDataset(torch.zeros(8, 8), torch.zeros(8))):
    model(x.cuda(), y.cuda()).backward()
""",
    "ACC307: numpy weights unknown": """
import conf
crit = nn.CrossEntropyLoss(weight=conf.weights())
model = nn.Linear(8, 2).cuda()
for x, y in DataLoader(TensorDataset(torch.zeros(8, 8), torch.zeros(8))):
    crit(model(x.cuda()), y.cuda()).backward()
""",
    "ACC307: outputs moved back": """
crit = nn.CrossEntropyLoss(weight=torch.tensor([1.0, 5.0]))
model = nn.Linear(8, 2).cuda()
for x, y in DataLoader(TensorDataset(torch.zeros(8, 8), torch.zeros(8))):
    crit(model(x.cuda()).cpu(), y).backward()
""",
    "ACC308: adam before cuda": """
model = nn.Linear(8, 2)
opt = torch.optim.Adam(model.parameters())
model.cuda()
""",
    "ACC308: adagrad after": """
model = nn.Linear(8, 2).cuda()
opt = torch.optim.Adagrad(model.parameters())
""",
    "ACC308: rebuilt later": """
model = nn.Linear(8, 2)
opt = torch.optim.Adagrad(model.parameters())
model.cuda()
opt = torch.optim.Adagrad(model.parameters())
""",
    "ACC308: load then state moved by hand": """
model = nn.Linear(8, 2)
opt = torch.optim.Adam(model.parameters())
opt.load_state_dict(torch.load("x", map_location="cpu")["o"])
model.cuda()
for s in opt.state.values():
    for k, v in s.items():
        if torch.is_tensor(v):
            s[k] = v.cuda()
""",
    "ACC308: to cpu": """
model = nn.Linear(8, 2)
opt = torch.optim.Adagrad(model.parameters())
model.to("cpu")
""",
    "ACC308: FSDP use_orig_params": """
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP
model = nn.Linear(8, 2).cuda()
model = FSDP(model)
opt = torch.optim.AdamW(model.parameters())
""",
    "ACC310: no workers": """
torch.set_default_device("cuda")
loader = DataLoader(TensorDataset(torch.zeros(8, 8), torch.zeros(8)), batch_size=4)
""",
    "ACC310: cpu default": """
torch.set_default_device("cpu")
loader = DataLoader(TensorDataset(torch.zeros(8, 8), torch.zeros(8)), batch_size=4, num_workers=2)
""",
    "ACC310: either": """
torch.set_default_device("cuda" if torch.cuda.is_available() else "cpu")
loader = DataLoader(TensorDataset(torch.zeros(8, 8), torch.zeros(8)), batch_size=4)
""",
    "ACC311: in order": """
import os
os.environ["CUDA_VISIBLE_DEVICES"] = "1"
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
""",
    "ACC311: for processes": """
import os, subprocess
print(torch.cuda.is_available())
os.environ["CUDA_VISIBLE_DEVICES"] = "1"
subprocess.run(["python", "worker.py"])
""",
    "ACC301: exported via __all__": """
__all__ = ["device", "train"]
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
from conf import batch
def train():
    model = nn.Linear(8, 2)
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    for i in range(3):
        model(batch()).sum().backward()
        opt.step()
""",
}


@pytest.mark.parametrize("case", SILENT)
def test_silent(case: str, tmp_path: Path) -> None:
    check_one(case[:6], IMPORTS + SILENT[case], tmp_path)


REPORTED = {
    "ACC307: positional weight": """
crit = nn.CrossEntropyLoss(torch.tensor([1.0, 5.0]))  # -> error none
model = nn.Linear(8, 2).cuda()
for x, y in DataLoader(TensorDataset(torch.zeros(8, 8), torch.zeros(8))):
    crit(model(x.cuda()), y.cuda()).backward()
""",
    "ACC307: in trainer class": """
class T:
    def __init__(self):
        self.device = torch.device("cuda")
        self.model = nn.Linear(8, 2).to(self.device)
        self.crit = nn.BCEWithLogitsLoss(pos_weight=torch.ones(2) * 3)  # -> error none
        self.loader = DataLoader(TensorDataset(torch.zeros(8, 8), torch.zeros(8)))
    def run(self):
        for x, y in self.loader:
            x, y = x.to(self.device), y.to(self.device)
            self.crit(self.model(x), y).backward()
T().run()
""",
    "ACC307: functional": """
import torch.nn.functional as F
w = torch.FloatTensor([1.0, 2.0])
model = nn.Linear(8, 2).cuda()
for x, y in DataLoader(TensorDataset(torch.zeros(8, 8), torch.zeros(8))):
    F.cross_entropy(model(x.cuda()), y.cuda(), weight=w).backward()  # -> error none
""",
    "ACC307: functional positional": """
import torch.nn.functional as F
w = torch.FloatTensor([1.0, 2.0])
model = nn.Linear(8, 2).cuda()
for x, y in DataLoader(TensorDataset(torch.zeros(8, 8), torch.zeros(8))):
    F.nll_loss(model(x.cuda()), y.cuda(), w).backward()  # -> error none
""",
    "ACC308: load before the move": """
model = nn.Linear(8, 2)
opt = torch.optim.Adam(model.parameters())
ckpt = torch.load("x", map_location="cpu")
model.load_state_dict(ckpt["m"])
opt.load_state_dict(ckpt["o"])  # -> error none
model.to("cuda")
""",
    "ACC308: adagrad before": """
def main():
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = nn.Sequential(nn.Linear(8, 2))
    opt = torch.optim.Adagrad(model.parameters(), lr=0.1)  # -> error none
    model = model.to(device)
main()
""",
    "ACC308: fully_shard after the optimizer": """
from torch.distributed.fsdp import fully_shard
model = nn.Linear(8, 2).cuda()
opt = torch.optim.AdamW(model.parameters())  # -> error none
fully_shard(model)
""",
    "ACC308: FSDP wrap after the optimizer": """
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP
model = nn.Linear(8, 2).cuda()
opt = torch.optim.AdamW(model.parameters())  # -> error none
model = FSDP(model)
""",
    "ACC311: after a question": """
import os
if torch.cuda.is_available():
    print("gpu")
os.environ["CUDA_VISIBLE_DEVICES"] = "1"  # -> warning none
""",
    "ACC311: device_count before": """
import os
def main():
    n = torch.cuda.device_count()
    os.environ["CUDA_VISIBLE_DEVICES"] = "0,1"  # -> warning none
main()
""",
    "ACC301: in f-string only": """
device = "cuda" if torch.cuda.is_available() else "cpu"  # -> info none
print(f"Using {device} device")
from conf import batch
model = nn.Linear(8, 2)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for i in range(3):
    model(batch()).sum().backward()
    opt.step()
""",
    "ACC301: printed only": """
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")  # -> info none
print("device:", device)
from conf import batch
model = nn.Linear(8, 2)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for i in range(3):
    model(batch()).sum().backward()
    opt.step()
""",
}


@pytest.mark.parametrize("case", REPORTED)
def test_reported(case: str, tmp_path: Path) -> None:
    check_one(case[:6], IMPORTS + REPORTED[case], tmp_path)
