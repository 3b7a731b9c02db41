"""Makes its batches in the loop and has no loader."""

import torch
from plain import step

while True:
    step(torch.rand(8, 8), torch.zeros(8, dtype=torch.long))
