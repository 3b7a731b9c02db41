"""Programs of several files, and a choice that is no finding: each must be seen as the whole that it is."""

from __future__ import annotations

from pathlib import Path

import accel_advisor

from ..checks import Pair, check_named, check_pair

FACTORY = """
import json
import torch
from torch import nn
import mods
def init(name, cfg): return getattr(mods, cfg["type"])(**cfg["args"])
cfg = json.load(open("c.json"))
loader = init("loader", cfg["loader"])
model = nn.Linear(8, 2).cuda()
for x, y in loader:
    x = x.cuda()  # -> ACC201 info unsafe
    model(x).sum().backward()
"""
MODS = """
from torch.utils.data import DataLoader
from torchvision import datasets, transforms

class MnistLoader(DataLoader):
    def __init__(self, bs, workers):
        super().__init__(datasets.MNIST("d", transform=transforms.ToTensor()), batch_size=bs, num_workers=workers)
"""
LIBRARY = """
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

def helper(x):
    return x

model = nn.Linear(8, 2).cuda()
model.eval()
total = 0.0
for (x,) in DataLoader(TensorDataset(torch.zeros(64, 8)), batch_size=16, num_workers=2):
    total += model(x.cuda()).sum()
"""
MAIN = """
import torch
from zzlib import helper

def go(x):
    with torch.no_grad():
        return helper(x)

go(torch.zeros(3))
"""
BOTH = """
import sys
import torch
from torch import nn
model = nn.Linear(8, 2).cuda()
if len(sys.argv) > 1:
    model = nn.parallel.DistributedDataParallel(model)
else:
    model = nn.DataParallel(model)
model(torch.zeros(4, 8).cuda()).sum().backward()
"""


def test_a_loader_whose_class_a_configuration_names(tmp_path: Path) -> None:
    check_named(FACTORY, tmp_path, {"mods.py": MODS})


def test_a_caller_without_gradients_says_nothing_of_the_file_that_it_imports(tmp_path: Path) -> None:
    (tmp_path / "zzlib.py").write_text(LIBRARY)
    (tmp_path / "zzmain.py").write_text(MAIN)
    report = accel_advisor.lint(tmp_path, select="ACC401", cache=False)
    assert [(Path(one.filename).name, one.span.start.row) for one in report.findings] == [("zzlib.py", 12)]


def test_silent_about_a_choice_between_both_ways_of_a_program_that_trains_nothing(tmp_path: Path) -> None:
    check_pair("ACC501", Pair(BOTH, "nn.parallel.DistributedDataParallel(model)", "model.float()"), tmp_path)
