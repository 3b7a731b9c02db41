"""A project of two files that trains, and its lint."""

from __future__ import annotations

from accel_advisor.configurations import Configurations
from accel_advisor.linting.cache import Caches
from accel_advisor.linting.linter import lint
from accel_advisor.linting.report import Report
from accel_advisor.project.discovery import Found

LOADERS = """\
from PIL import Image
from torch.utils.data import DataLoader, Dataset
from torchvision.transforms.functional import to_tensor


class Photos(Dataset):
    def __init__(self, paths):
        self.paths = paths

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, index):
        return to_tensor(Image.open(self.paths[index]))


def build_loader(paths, workers=0):
    return DataLoader(Photos(paths), batch_size=2, num_workers=workers)
"""
TRAIN = """\
import torch
from loaders import build_loader

model = torch.nn.Linear(8, 2).cuda()
for x in build_loader(["a.jpg"]):
    model(x.cuda()).sum().backward()
"""


def linted(*names: str, caches: Caches | None = None, jobs: int = 1) -> Report:
    return lint([Found(name, named=True) for name in names], Configurations(), memory=caches, jobs=jobs)


def listed(report: Report) -> list[tuple[str, int, str]]:
    return [(one.filename, one.span.start.row, one.code) for one in report.findings]
