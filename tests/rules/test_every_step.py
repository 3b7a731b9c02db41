"""ACC208 and ACC209 on training loops as people write them, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from .programs import IMPORTS
from .single import check_one

HEAD = (
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
BATCH = """
for i, (x, y) in enumerate(loader):
    x, y = x.to(device, non_blocking=True), y.to(device, non_blocking=True)
    out = model(x)
    loss = criterion(out, y)
    loss.backward()
"""

FEW_WAITS = {
    "one f-string": "print(f'{loss:.3f}')",
    "a number in an f-string": "print(f'{loss.item():.3f}')",
    "one progress bar": "conf.bar.set_postfix(loss=loss.item())",
    "a chain": "a = out.detach().cpu().numpy().tolist()",
    "after the copy": "host = out.detach().cpu()\n    a, b, c = host.max().item(), host.min().item(), f'{host}'",
    "slices": "a, b, c = out[:2], out[-1], out[0, 0]",
    "indices": "picked = out[out.argmax(1)]\n    again = x[y]",
    "where with three arguments": "a = torch.where(y > 0, y, y)\n    b = torch.where(out > 0, out, 0)",
    "masked on the device": "a = out.masked_fill(y > 0, 0)\n    b = out * (y > 0)",
    "every hundredth": "if i % 100 == 0:\n        print(loss.item(), f'{loss}', float(out.max()))",
    "behind a condition": "if i % 100 == 0 and loss.item() > 3 and out.max().item() > 3:\n        pass",
    "where one loop in many ends": "if i > 9:\n        break\n    print(loss.item(), float(out.max()))",
    "in the only step": "print(loss.item(), float(out.max()))\n    break",
    "whether there is one": "if loss is None or out is None or y is None:\n        pass",
    "a mask that became numbers": "a = out[(y > 0).long()]\n    b = out[(y > 0).int()]",
    "asynchronously": "a = out.to('cpu', non_blocking=True)\n    b = loss.to('cpu', non_blocking=True)",
}


@pytest.mark.parametrize("body", FEW_WAITS.values(), ids=FEW_WAITS.keys())
def test_silent_where_a_step_waits_once_at_most(body: str, tmp_path: Path) -> None:
    check_one("ACC208", f"{HEAD}{BATCH}    {body}\n", tmp_path)


@pytest.mark.parametrize(
    "wait",
    [
        "print(f'{loss:.3f}')",
        "print('%.3f' % loss)",
        "print('{:.3f}'.format(loss))",
        "if loss > 3:\n        pass",
        "assert not torch.isnan(loss)",
        "bad = torch.isnan(out).any() or conf.bad",
        "kept = out[y > 0]",
        "kept = out[y.eq(1)]",
        "kept = out[torch.isfinite(out)]",
        "kept = torch.masked_select(out, out > 0)",
        "kept = torch.where(y > 0)",
        "kept = y.unique()",
        "kept = torch.nonzero(y)",
        "bad = math.isnan(loss)",
        "_, best = out.data.max(1)\n    hits = best.eq(y).sum().item()",
        "_, best = torch.max(out.data, 1)\n    hits = (best == y).sum().item()",
        "host = out.detach().to('cpu')",
    ],
)
def test_reports_all_that_waits(wait: str, tmp_path: Path) -> None:
    check_one("ACC208", f"{HEAD}{BATCH}    a = loss.item()  # -> info none\n    {wait}\n", tmp_path)


def test_reports_the_waits_of_functions_that_the_loop_calls(tmp_path: Path) -> None:
    source = """
class Trainer:
    def __init__(self, net, batches):
        self.net, self.batches = net, batches
    def step(self, x, y):
        out = self.net(x.to(device, non_blocking=True))
        loss = criterion(out, y.to(device, non_blocking=True))
        loss.backward()
        return loss.item(), (out.argmax(1) == y.to(device)).float().mean().item()  # -> info none
    def fit(self):
        for x, y in self.batches:
            self.step(x, y)
Trainer(model, loader).fit()
"""
    check_one("ACC208", HEAD + source, tmp_path)


def kept(before: str, body: str) -> str:
    return f"{HEAD}{before}\n{BATCH}    {body}\n"


NOTHING_KEPT = {
    "the last ten": kept("losses = []", "losses.append(loss)\n    losses = losses[-10:]"),
    "a queue": kept("losses = deque(maxlen=10)", "losses.append(loss)"),
    "the oldest is dropped": kept("losses = []", "losses.append(loss)\n    if i > 10:\n        losses.pop(0)"),
    "the first is deleted": kept("losses = []", "losses.append(loss)\n    del losses[0]"),
    "emptied in place": kept("losses = []", "losses.append(loss)\n    losses[:] = []"),
    "begins anew every hundredth": kept("total = 0", "total += loss\n    if i % 100 == 0:\n        total = 0"),
    "an item begins anew": kept("d = {'a': 0}", "d['a'] += loss\n    if i % 100 == 0:\n        d = {'a': 0}"),
    "a dict of this pass": kept("pass", "d = {'loss': []}\n    d['loss'].append(loss)"),
    "a defaultdict of this pass": kept("pass", "d = defaultdict(list)\n    d['loss'].append(loss)"),
    "detached": kept("total = 0", "total = total + loss.detach()"),
    "another name": kept("total = 0", "both = total + loss"),
    "differentiated later": (
        f"{HEAD}total = 0\nfor i, (x, y) in enumerate(loader):\n    loss = criterion(model(x), y)\n    total = total + loss\n"
        "    if i % 4 == 0:\n        total.backward()\n        total = 0\n"
    ),
    "a part of the loss": (
        f"{HEAD}for x, y in loader:\n    loss = 0\n    for k in range(3):\n        loss = loss + criterion(model(x), y)\n"
        "    loss.backward()\n"
    ),
    "a list that is summed": (
        f"{HEAD}for x, y in loader:\n    losses = []\n    for k in range(3):\n        losses.append(criterion(model(x), y))\n"
        "    sum(losses).backward()\n"
    ),
}


@pytest.mark.parametrize("source", NOTHING_KEPT.values(), ids=NOTHING_KEPT.keys())
def test_silent_where_no_graph_outlives_its_step(source: str, tmp_path: Path) -> None:
    check_one("ACC209", source, tmp_path)


@pytest.mark.parametrize(
    ("before", "body"),
    [
        ("total = 0", "total = total + loss"),
        ("d = {'loss': 0.0}", "d['loss'] += loss"),
        ("d = {'loss': [], 'n': []}", "d['loss'].append(loss)"),
        ("d = defaultdict(list)", "d['loss'].append(loss)"),
    ],
)
def test_reports_every_way_to_keep_a_graph(before: str, body: str, tmp_path: Path) -> None:
    check_one("ACC209", kept(before, f"{body}  # -> warning safe"), tmp_path)


def test_reports_what_an_object_keeps(tmp_path: Path) -> None:
    source = """
class Trainer:
    def __init__(self): self.total, self.losses = 0.0, []
    def fit(self):
        for x, y in loader:
            loss = criterion(model(x), y)
            loss.backward()
            self.total += loss  # -> warning safe
            self.losses.append(loss)  # -> warning safe
Trainer().fit()
"""
    check_one("ACC209", HEAD + source, tmp_path)


METER = """
class Meter:
    def __init__(self): self.reset()
    def reset(self): self.sum = 0
    def update(self, value, n=1): self.sum += value * n
meter = Meter()
"""


def test_knows_a_meter_of_numbers_and_one_that_is_reset(tmp_path: Path) -> None:
    check_one("ACC209", kept(METER, "meter.update(loss)\n    if i % 9 == 0:\n        meter.reset()"), tmp_path)
    check_one("ACC209", kept(METER, "meter.update(loss.item())"), tmp_path)
