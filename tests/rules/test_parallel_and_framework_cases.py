"""The rules of chapters 5 and 6 on whole programs, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from .programs import IMPORTS
from .single import check_one

SILENT = {
    "ACC501: one device": """
m = nn.DataParallel(nn.Linear(2, 2), device_ids=[0]).cuda()
""",
    "ACC501: cpu": """
m = nn.DataParallel(nn.Linear(2, 2))
""",
    "ACC501: isinstance": """
m = nn.Linear(2, 2).cuda()
if isinstance(m, nn.DataParallel):
    m = m.module
""",
    "ACC501: as the alternative to DDP": """
import torch.distributed as dist
m = nn.Linear(2, 2).cuda()
import argparse
p = argparse.ArgumentParser(); p.add_argument("--distributed", action="store_true"); a = p.parse_args()
if a.distributed:
    m = nn.parallel.DistributedDataParallel(m)
else:
    m = nn.DataParallel(m)
""",
    "ACC502: set_device": """
import os, torch.distributed as dist
dist.init_process_group("nccl")
torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
m = nn.Linear(2, 2).cuda()
""",
    "ACC502: f-string": """
import os, torch.distributed as dist
dist.init_process_group("nccl")
m = nn.Linear(2, 2).to(f"cuda:{os.environ['LOCAL_RANK']}")
""",
    "ACC502: env per rank": """
import os, torch.distributed as dist
os.environ["CUDA_VISIBLE_DEVICES"] = os.environ["LOCAL_RANK"]
dist.init_process_group("nccl")
m = nn.Linear(2, 2).cuda()
""",
    "ACC502: with device": """
import os, torch.distributed as dist
dist.init_process_group("nccl")
with torch.cuda.device(int(os.environ["LOCAL_RANK"])):
    m = nn.Linear(2, 2).cuda()
""",
    "ACC502: gloo": """
import torch.distributed as dist
dist.init_process_group("gloo")
m = nn.Linear(2, 2).cuda()
""",
    "ACC504: conditional forward": """
from torch.nn.parallel import DistributedDataParallel as DDP
class N(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(2, 2); self.b = nn.Linear(2, 2)
    def forward(self, x, w):
        return self.a(x) if w else self.b(x)
m = DDP(N().cuda(), find_unused_parameters=True)
""",
    "ACC504: unused layer": """
from torch.nn.parallel import DistributedDataParallel as DDP
class N(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(2, 2); self.b = nn.Linear(2, 2)
    def forward(self, x):
        return self.a(x)
m = DDP(N().cuda(), find_unused_parameters=True)
""",
    "ACC504: submodule unknown": """
import timm
from torch.nn.parallel import DistributedDataParallel as DDP
class N(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = timm.create_model("x")
    def forward(self, x):
        return self.a(x)
m = DDP(N().cuda(), find_unused_parameters=True)
""",
    "ACC504: only features of a backbone used": """
import torchvision
from torch.nn.parallel import DistributedDataParallel as DDP
class N(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = torchvision.models.resnet18()
    def forward(self, x):
        return self.a.layer1(self.a.conv1(x))
m = DDP(N().cuda(), find_unused_parameters=True)
""",
    "ACC601: given by kwargs": """
from transformers import TrainingArguments
def f(**kw):
    return TrainingArguments("o", **kw)
""",
    "ACC601: parser": """
from transformers import TrainingArguments, HfArgumentParser
args, = HfArgumentParser(TrainingArguments).parse_args_into_dataclasses()
""",
    "ACC601: given": """
from transformers import TrainingArguments
a = TrainingArguments("o", dataloader_num_workers=2)
""",
    "ACC601: streaming": """
from transformers import TrainingArguments
from datasets import load_dataset
d = load_dataset("x", streaming=True)
a = TrainingArguments("o")
""",
    "ACC603: ok": """
from transformers import TrainingArguments
import argparse
p = argparse.ArgumentParser(); p.add_argument("--w", type=int, default=0); g = p.parse_args()
a = TrainingArguments("o", dataloader_prefetch_factor=2, dataloader_num_workers=g.w)
""",
    "ACC604: one epoch": """
from transformers import TrainingArguments
a = TrainingArguments("o", dataloader_num_workers=2, num_train_epochs=1)
""",
    "ACC607: second model not prepared": """
from accelerate import Accelerator
acc = Accelerator()
model = nn.Linear(2, 2)
other = nn.Linear(2, 2)
loader = DataLoader(TensorDataset(torch.zeros(8, 2)))
model, loader = acc.prepare(model, loader)
for (x,) in loader:
    other(x).sum().backward()
""",
    "ACC607: right": """
from accelerate import Accelerator
acc = Accelerator()
model, loader = acc.prepare(nn.Linear(2, 2), DataLoader(TensorDataset(torch.zeros(8, 2))))
for (x,) in loader:
    acc.backward(model(x).sum())
""",
    "ACC609: lightning 1 project": """
import pytorch_lightning as pl
t = pl.Trainer(precision=16)
""",
    "ACC609: new": """
import lightning as L
t = L.Trainer(precision="16-mixed")
""",
    "ACC611: guarded": """
import lightning as L
class M(L.LightningModule):
    def training_step(self, b, i):
        loss = self.fc(b).sum()
        if i % 100 == 0:
            print(loss.item())
        return loss
""",
    "ACC611: validation": """
import lightning as L
class M(L.LightningModule):
    def validation_step(self, b, i):
        self.log("l", self.fc(b).sum().item())
""",
    "ACC611: batch item of host number": """
import lightning as L
import numpy as np
class M(L.LightningModule):
    def training_step(self, b, i):
        n = np.mean([1.0]).item()
        return self.fc(b).sum() * n
""",
    "ACC612: given": """
import timm.data
l = timm.data.create_loader([], 3, 4, pin_memory=False)
torch.zeros(3).cuda()
""",
    "ACC610: use_distributed_sampler False": """
import lightning as L
from torch.utils.data import DistributedSampler
class D(L.LightningDataModule):
    def train_dataloader(self):
        return DataLoader(self.d, sampler=DistributedSampler(self.d))
L.Trainer(use_distributed_sampler=False)
""",
}


@pytest.mark.parametrize("case", SILENT)
def test_silent(case: str, tmp_path: Path) -> None:
    check_one(case[:6], IMPORTS + SILENT[case], tmp_path)


REPORTED = {
    "ACC501: only when several": """
m = nn.Linear(2, 2)
if torch.cuda.device_count() > 1:
    m = nn.DataParallel(m)  # -> info none
m.to("cuda")
""",
    "ACC502: missing": """
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
def main():
    dist.init_process_group(backend="nccl")  # -> warning none
    m = nn.Linear(2, 2).cuda()
    m = DDP(m)
main()
""",
    "ACC504: straight": """
from torch.nn.parallel import DistributedDataParallel as DDP
class N(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(2, 2); self.b = nn.Linear(2, 2)
    def forward(self, x):
        return self.b(self.a(x))
m = DDP(N().cuda(), find_unused_parameters=True)  # -> info none
""",
    "ACC601: plain": """
from transformers import TrainingArguments, Trainer
a = TrainingArguments("o", per_device_train_batch_size=8)  # -> info unsafe
""",
    "ACC603: both precisions": """
from transformers import TrainingArguments
a = TrainingArguments("o", fp16=True, bf16=True)  # -> error none
""",
    "ACC604: several": """
from transformers import TrainingArguments
a = TrainingArguments("o", dataloader_num_workers=2, num_train_epochs=5)  # -> info unsafe
""",
    "ACC607: raw": """
from accelerate import Accelerator
acc = Accelerator()
model, loader = acc.prepare(nn.Linear(2, 2), DataLoader(TensorDataset(torch.zeros(8, 2))))
for (x,) in loader:
    loss = model(x).sum()
    loss.backward()  # -> error unsafe
""",
    "ACC609: old value": """
import lightning as L
t = L.Trainer(precision=16, max_epochs=3)  # -> info safe
""",
    "ACC609: pytorch namespace": """
import lightning.pytorch as pl
t = pl.Trainer(precision="bf16")  # -> info safe
""",
    "ACC611: item": """
import lightning as L
class M(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 2)
    def training_step(self, b, i):
        loss = self.fc(b).sum()
        self.log("l", loss.item())  # -> info none
        return loss
""",
    "ACC612: missing": """
from timm.data import create_loader
l = create_loader([], 3, 4)  # -> info unsafe
torch.zeros(3).cuda()
""",
    "ACC610: manual": """
import lightning as L
from torch.utils.data import DistributedSampler
class D(L.LightningDataModule):
    def train_dataloader(self):
        return DataLoader(self.d, sampler=DistributedSampler(self.d))  # -> info none
L.Trainer(devices=4)
""",
}


@pytest.mark.parametrize("case", REPORTED)
def test_reported(case: str, tmp_path: Path) -> None:
    check_one(case[:6], IMPORTS + REPORTED[case], tmp_path)
