"""Takes its batches from no loader, and changes the parameters by hand."""

import torch
from plain import model

while True:
    model(torch.rand(8, 8)).sum().backward()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter -= 0.1 * parameter.grad
            parameter.grad = None
