"""Takes batches apart and writes into them."""

from plain import Samples, step
from torch.utils.data import DataLoader


class Records(Samples):
    def __getitem__(self, index):
        x, y = super().__getitem__(index)
        return {"x": x, "y": y, "meta": {"id": index, "name": str(index)}}


loader = DataLoader(Records(), 8, shuffle=True)
while True:
    for batch in loader:
        x, y = batch.pop("x"), batch.pop("y")
        assert float(x.max()) <= 4.0
        assert len(batch.pop("meta")["name"]) == 8
        x.add_(5.0).requires_grad_(True)
        step(x, y)
