"""No optimizer, no backward: gradients by torch.autograd.grad; a loader that is built again for every epoch."""

import torch
from plain import Samples, model
from torch import nn
from torch.utils.data import DataLoader

while True:
    for x, y in DataLoader(Samples(48), 8, shuffle=True):
        loss = nn.functional.cross_entropy(model(x), y)
        grads = torch.autograd.grad(outputs=loss, inputs=list(model.parameters()))
        with torch.no_grad():
            for parameter, grad in zip(model.parameters(), grads, strict=True):
                parameter -= 0.01 * grad
