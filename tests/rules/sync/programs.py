"""Beginnings that the programs of rules/sync share."""

from __future__ import annotations

from ..programs import IMPORTS

CLASSIFIER = (
    IMPORTS
    + """
import math, conf
from collections import defaultdict, deque
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
loader = DataLoader(TensorDataset(torch.zeros(64, 8), torch.zeros(64)), batch_size=4, pin_memory=True)
model = nn.Linear(8, 2).to(device)
criterion = nn.CrossEntropyLoss()
"""
)
"""A model on the GPU where there is one, and a loader that pins."""

BATCH = """
for i, (x, y) in enumerate(loader):
    x, y = x.to(device, non_blocking=True), y.to(device, non_blocking=True)
    out = model(x)
    loss = criterion(out, y)
    loss.backward()
"""
"""A step of ``CLASSIFIER`` that does not wait."""
