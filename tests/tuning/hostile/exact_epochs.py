"""Counts on exact epochs: losses by index, a schedule of known length, a batch sampler, an epoch's seed."""

import torch
from plain import Samples, model, optimizer
from torch import nn
from torch.utils.data import DataLoader, Sampler


class Buckets(Sampler):
    def __init__(self):
        self.epoch = 0

    def __len__(self):
        return 20

    def __iter__(self):
        order = torch.randperm(160, generator=torch.Generator().manual_seed(self.epoch)).tolist()
        return iter(order[start : start + 8] for start in range(0, 160, 8))


epochs = 500
sampler = Buckets()
loader = DataLoader(Samples(), batch_sampler=sampler, num_workers=2, persistent_workers=True)
schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.1, total_steps=epochs * len(loader))
losses = torch.full((epochs, len(loader)), -1.0)
for epoch in range(epochs):
    sampler.epoch = epoch
    for i, (x, y) in enumerate(loader):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        losses[epoch, i] = loss.item()
        schedule.step()
    assert (losses[epoch] >= 0).all(), "an epoch is shorter than its loader"
