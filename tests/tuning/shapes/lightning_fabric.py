"""A loader that Fabric wraps."""

import lightning
import torch
from slow import Slow
from torch.utils.data import DataLoader

fabric = lightning.Fabric(accelerator="cpu", devices=1)
fabric.launch()
model = torch.nn.Linear(8, 3)
model, optimizer = fabric.setup(model, torch.optim.SGD(model.parameters(), 0.01))
loader = DataLoader(Slow(), batch_size=8, shuffle=True)  # measured
loader = fabric.setup_dataloaders(loader)
while True:
    for x, y in loader:
        optimizer.zero_grad()
        fabric.backward(torch.nn.functional.cross_entropy(model(x), y))
        optimizer.step()
