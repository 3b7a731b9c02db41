"""Scripts that the tests of the commands lint."""

from __future__ import annotations

SLOW = """\
import torch
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


model = torch.nn.Linear(8, 2).cuda()
loader = DataLoader(Photos(["a.jpg"]), batch_size=2)
for x in loader:
    model(x.cuda(non_blocking=True)).sum().backward()
"""
HEALTHY = SLOW.replace("batch_size=2", "batch_size=2, num_workers=4, pin_memory=True")
NOT_TORCH = "x = 1\n"
