"""Copies to devices as people spell them, and moves that are lost: what each of them must be told."""

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
COPY = """
for x, y in loader:
    x = x.to(device)  # -> ACC201 warning safe
    model(x).sum().backward()
"""
MODEL = """
model = nn.Linear(8, 2).cuda()
"""
UNPINNED = """
loader = DataLoader(photos, batch_size=8, num_workers=4)  # -> ACC101 warning safe
"""
PINNED = """
loader = DataLoader(photos, batch_size=8, num_workers=4, pin_memory=True)
"""

DEVICES = {
    "control": MODEL
    + UNPINNED
    + """
for x, y in loader:
    x = x.to("cuda")  # -> ACC201 info safe
    model(x).sum().backward()
""",
    "argparse default cuda": """
import argparse
p = argparse.ArgumentParser(); p.add_argument("--device", default="cuda"); args = p.parse_args()
device = torch.device(args.device)
model = nn.Linear(8, 2).to(device)
"""
    + PINNED
    + """
for x, y in loader:
    x = x.to(device)  # -> ACC201 info unsafe
    model(x).sum().backward()
""",
    "auto device": """
def run(device="auto"):
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    model = nn.Linear(8, 2).to(device)
    loader = DataLoader(photos, batch_size=8, num_workers=4, pin_memory=True)
    for x, y in loader:
        x = x.to(device)  # -> ACC201 info unsafe
        model(x).sum().backward()
run()
""",
    "format cuda": """
gpu = int(input())
device = torch.device("cuda:{}".format(gpu))
model = nn.Linear(8, 2).to(device)
"""
    + PINNED
    + COPY,
    "percent cuda": """
gpu = int(input())
device = torch.device("cuda:%d" % gpu)
model = nn.Linear(8, 2).to(device)
"""
    + PINNED
    + COPY,
    "concat cuda": """
gpu = input()
device = torch.device("cuda:" + gpu)
model = nn.Linear(8, 2).to(device)
"""
    + PINNED
    + COPY,
    "fstring control": """
gpu = int(input())
device = torch.device(f"cuda:{gpu}")
model = nn.Linear(8, 2).to(device)
"""
    + PINNED
    + COPY,
    "rank int": """
import torch.distributed as dist
dist.init_process_group("nccl")
rank = dist.get_rank()
device = rank % torch.cuda.device_count()
torch.cuda.set_device(device)
model = nn.Linear(8, 2).to(device)
"""
    + PINNED
    + COPY,
    "local rank env": """
import os
rank = int(os.environ["LOCAL_RANK"])
torch.cuda.set_device(rank)
model = nn.Linear(8, 2).to(rank)
"""
    + PINNED
    + """
for x, y in loader:
    x = x.to(rank)  # -> ACC201 info unsafe
    model(x).sum().backward()
""",
    "accelerator type": """
device = torch.accelerator.current_accelerator().type if hasattr(torch, "accelerator") else "cuda"
model = nn.Linear(8, 2).to(device)
"""
    + PINNED
    + """
for x, y in loader:
    x = x.to(device)  # -> ACC201 warning none
    model(x).sum().backward()
""",
    "timed loop": "from time import time\n"
    + MODEL
    + PINNED
    + """
step, start = 0, time()
for x, y in loader:
    x = x.cuda()  # -> ACC201 warning safe
    model(x).sum().backward()
    step += 1
    if step % 100 == 0:
        torch.cuda.synchronize()
        print(step / (time() - start)); start = time()
""",
    "model device": """
from transformers import AutoModelForCausalLM
model = AutoModelForCausalLM.from_pretrained("gpt2").to("cuda")
loader = DataLoader(photos, batch_size=8, num_workers=4)  # -> ACC101 info unsafe
for b in loader:
    x = b["input_ids"].to(model.device)  # -> ACC201 info unsafe
    model(x).loss.backward()
""",
    "param device": MODEL
    + "device = next(model.parameters()).device\n"
    + UNPINNED
    + """
for x, y in loader:
    x = x.to(device)  # -> ACC201 info safe
    model(x).sum().backward()
""",
    "discard from fn": """
def masks(batch):
    src = batch.src.transpose(0, 1)
    mask = (src != 1).unsqueeze(-2)
    return mask
def train(batch, device):
    mask = masks(batch)
    mask.to("cuda")  # -> ACC207 warning unsafe
    return mask
""",
    "register buffer": """
class P(nn.Module):
    def __init__(self):
        super().__init__()
        pe = torch.zeros(10, 4)
        self.register_buffer("pe", pe)
    def forward(self, x):
        pe = torch.autograd.Variable(self.pe[:, :4], requires_grad=False)
        if x.is_cuda:
            pe.cuda()  # -> ACC207 error unsafe
        return x + pe
""",
    "annotated tensor": """
def fit(x: torch.Tensor, y: torch.Tensor):
    x.to("cuda")  # -> ACC207 warning unsafe
    return x + y
""",
    "dataset slice": """
from torch.utils.data import TensorDataset
def fit(dataset: TensorDataset):
    x, y = dataset[:]
    x.to("cuda")  # -> ACC207 warning unsafe
    return x + y
""",
    "forward moves": """
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 2)
    def forward(self, x):
        x = x.to(device)
        return self.fc(x)
net = Net()  # -> ACC303 error unsafe
out = net(torch.zeros(1, 4))
""",
    "cfg namespace": """
from types import SimpleNamespace
cfg = SimpleNamespace(**{})
cfg.device = "cuda"
"""
    + UNPINNED
    + """
model = nn.Linear(8, 2).to(cfg.device)
for x, y in loader:
    x = x.to(cfg.device)  # -> ACC201 info safe
    model(x).sum().backward()
""",
}


@pytest.mark.parametrize("idiom", DEVICES)
def test_a_copy_to_a_device_that_is_spelled_so(idiom: str, tmp_path: Path) -> None:
    check_named(HEAD + DEVICES[idiom], tmp_path)
