"""An optimizer that calls back several times a step, inside a loop that catches every exception and goes on."""

import torch
from plain import Samples, model
from torch import nn
from torch.utils.data import DataLoader

optimizer = torch.optim.LBFGS(model.parameters(), 0.01, max_iter=2)
loader = DataLoader(Samples(), 8, shuffle=True)
while True:
    try:
        for x, y in loader:

            def closure(x=x, y=y):
                optimizer.zero_grad()
                loss = nn.functional.cross_entropy(model(x), y)
                loss.backward()
                return loss

            optimizer.step(closure)
    except Exception:
        open("swallowed", "a").close()
