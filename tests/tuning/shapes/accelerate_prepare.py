"""accelerate: loaders that it prepares, each one batch ahead, with gradient accumulation and an evaluation."""

import torch
from accelerate import Accelerator
from slow import Slow
from torch.utils.data import DataLoader

accelerator = Accelerator(cpu=True, gradient_accumulation_steps=2)
model = torch.nn.Linear(8, 3)
held_out = DataLoader(Slow(40, 0.001), batch_size=8)
loader = DataLoader(Slow(), batch_size=8, shuffle=True, pin_memory=True)  # measured
model, optimizer, loader, held_out = accelerator.prepare(
    model, torch.optim.SGD(model.parameters(), 0.01), loader, held_out
)
while True:
    count = 0
    for x, y in loader:
        with accelerator.accumulate(model):
            accelerator.backward(torch.nn.functional.cross_entropy(model(x), y))
            optimizer.step()
            optimizer.zero_grad()
        count += 1
    assert count == 20
    with torch.no_grad():
        assert sum(len(accelerator.gather_for_metrics(model(x))) for x, _ in held_out) == 40
