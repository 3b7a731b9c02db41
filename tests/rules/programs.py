"""Beginnings that the marked programs share."""

IMPORTS = """
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, IterableDataset, TensorDataset
"""

PHOTOS = (
    IMPORTS
    + """
from PIL import Image
import numpy as np

class Photos(Dataset):
    def __init__(self, paths):
        self.paths = paths
    def __len__(self):
        return len(self.paths)
    def __getitem__(self, index):
        return torch.from_numpy(np.asarray(Image.open(self.paths[index]))), index

photos = Photos(["a.png"])
"""
)

NET = (
    IMPORTS
    + """
loader = DataLoader(TensorDataset(torch.zeros(8, 8), torch.zeros(8)), batch_size=4)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 2)
    def forward(self, x):
        return self.fc(x)
"""
)

MODEL = """
model = nn.Linear(8, 2).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
def step(x, y):
    optimizer.zero_grad()
    (model(x).sum() - y.sum()).backward()
    optimizer.step()
"""

LOOP = """
for x, y in loader:
    step(x.cuda(non_blocking=True), y.cuda(non_blocking=True))
"""
