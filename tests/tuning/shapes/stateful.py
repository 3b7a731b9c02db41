"""torchdata's StatefulDataLoader."""

from slow import Slow, step
from torchdata.stateful_dataloader import StatefulDataLoader

loader = StatefulDataLoader(Slow(), batch_size=8, shuffle=True)  # measured
while True:
    count = 0
    for x, y in loader:
        step(x, y)
        count += 1
        if count == 10:
            assert loader.state_dict()
    assert count == 20
