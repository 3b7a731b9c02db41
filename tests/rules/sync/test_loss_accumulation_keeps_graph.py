"""ACC209 loss-accumulation-keeps-graph, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..checks import Pair, check, check_one, check_pair, fixed
from ..programs import IMPORTS
from .programs import BATCH, CLASSIFIER


def kept(before: str, body: str) -> str:
    return f"{CLASSIFIER}{before}\n{BATCH}    {body}\n"


NOTHING_KEPT = {
    "the first is deleted": kept("losses = []", "losses.append(loss)\n    del losses[0]"),
    "emptied in place": kept("losses = []", "losses.append(loss)\n    losses[:] = []"),
    "an item is reset": kept("d = {'a': 0}", "d['a'] += loss\n    if i % 100 == 0:\n        d = {'a': 0}"),
    "a dict of this pass": kept("pass", "d = {'loss': []}\n    d['loss'].append(loss)"),
    "a defaultdict of this pass": kept("pass", "d = defaultdict(list)\n    d['loss'].append(loss)"),
    "detached": kept("total = 0", "total = total + loss.detach()"),
    "differentiated later": (
        f"{CLASSIFIER}total = 0\nfor i, (x, y) in enumerate(loader):\n    loss = criterion(model(x), y)\n    total = total + loss\n"
        "    if i % 4 == 0:\n        total.backward()\n        total = 0\n"
    ),
    "a part of the loss": (
        f"{CLASSIFIER}for x, y in loader:\n    loss = 0\n    for k in range(3):\n        loss = loss + criterion(model(x), y)\n"
        "    loss.backward()\n"
    ),
    "a list that is summed": (
        f"{CLASSIFIER}for x, y in loader:\n    losses = []\n    for k in range(3):\n        losses.append(criterion(model(x), y))\n"
        "    sum(losses).backward()\n"
    ),
}


@pytest.mark.parametrize("source", NOTHING_KEPT.values(), ids=NOTHING_KEPT.keys())
def test_silent_where_no_graph_outlives_its_step(source: str, tmp_path: Path) -> None:
    check_one("ACC209", source, tmp_path)


TRAIN = """
model = nn.Linear(8, 2)
criterion = nn.MSELoss()
loader = DataLoader(TensorDataset(torch.zeros(64, 8), torch.zeros(64, 2)), batch_size=16)
"""
SILENT = {
    "a number": "total = 0\nfor x, y in loader:\n    loss = criterion(model(x), y)\n    loss.backward()\n    total += loss.item()",
    "detached": "total = 0\nfor x, y in loader:\n    loss = criterion(model(x), y)\n    loss.backward()\n    total += loss.detach()",
    "as a float": "total = 0\nfor x, y in loader:\n    loss = criterion(model(x), y)\n    loss.backward()\n    total += float(loss)",
    "its data": "total = 0\nfor x, y in loader:\n    loss = criterion(model(x), y)\n    loss.backward()\n    total += loss.data",
    "the sum is differentiated": (
        "for x, y in loader:\n    loss = 0\n    for t in range(3):\n        loss += criterion(model(x), y)\n    loss.backward()"
    ),
    "never differentiated": "total = 0\nfor x, y in loader:\n    total += criterion(model(x), y)",
    "reset for each batch": (
        "for x, y in loader:\n    total = 0\n    loss = criterion(model(x), y)\n    loss.backward()\n    total += loss"
    ),
    "the list is cleared": (
        "kept = []\nfor x, y in loader:\n    kept.clear()\n    loss = criterion(model(x), y)\n    loss.backward()\n"
        "    kept.append(loss)"
    ),
    "a new list for each batch": (
        "for x, y in loader:\n    kept = []\n    loss = criterion(model(x), y)\n    loss.backward()\n    kept.append(loss)"
    ),
    "the graph is retained": (
        "total = 0\nfor x, y in loader:\n    loss = criterion(model(x), y)\n    loss.backward(retain_graph=True)\n    total += loss\n"
        "total.backward()"
    ),
    "gradients by hand": (
        "total = 0\nfor x, y in loader:\n    loss = criterion(model(x), y)\n    loss.backward()\n    total += loss\n"
        "torch.autograd.grad(total, model.weight)"
    ),
}


@pytest.mark.parametrize("source", SILENT.values(), ids=SILENT.keys())
def test_silent_about_sums_that_keep_no_graph(source: str, tmp_path: Path) -> None:
    check(IMPORTS + TRAIN + source + "\n", tmp_path)


PAIRS: dict[str, tuple[str, ...]] = {
    "never differentiated": (
        "total = 0\nfor x, y in loader:\n    total += criterion(model(x), y)",
        "total += criterion(model(x), y)",
        "loss = criterion(model(x), y)\n    loss.backward()\n    total += loss",
    ),
    "another loss": (
        "total = 0\n" + BATCH + "    other = criterion(model(x), y)\n    total += other\n",
        "other\n",
        "loss\n",
    ),
    "multi-task": (
        (
            "for x, y in loader:\n    loss = 0\n    for t in range(3):\n"
            "        loss += criterion(model(x), y)\n    loss.backward()"
        ),
        (
            "for x, y in loader:\n    loss = 0\n    for t in range(3):\n"
            "        loss += criterion(model(x), y)\n    loss.backward()"
        ),
        (
            "total = 0\nfor x, y in loader:\n    for t in range(3):\n        loss = criterion(model(x), y)\n"
            "        loss.backward()\n        total += loss"
        ),
    ),
    "two losses": (
        (
            "for x, y in loader:\n    loss = criterion(model(x), y)\n    loss += criterion(model(x), y)\n"
            "    loss.backward()"
        ),
        (
            "for x, y in loader:\n    loss = criterion(model(x), y)\n    loss += criterion(model(x), y)\n"
            "    loss.backward()"
        ),
        ("total = 0\nfor x, y in loader:\n    loss = criterion(model(x), y)\n    loss.backward()\n    total += loss"),
    ),
    "the sum is differentiated": (
        "total = 0\nfor x, y in loader:\n    total += criterion(model(x), y)\ntotal.backward()",
        "total += criterion(model(x), y)\ntotal.backward",
        "loss = criterion(model(x), y)\n    total += loss\n    loss.backward",
    ),
    "the graph is retained": (
        (
            "total = 0\nfor x, y in loader:\n    loss = criterion(model(x), y)\n"
            "    loss.backward(retain_graph=True)\n    total += loss\ntotal.backward()"
        ),
        "retain_graph=True)\n    total += loss\ntotal.backward()",
        ")\n    total += loss\n",
    ),
    "a graph of gradients": (
        "total = 0\n" + BATCH + "    criterion(model(x), y).backward(create_graph=True)\n    total += loss\n",
        "create_graph=True",
    ),
    "autograd.grad": (
        "total = 0\n" + BATCH + "    total += loss\n    torch.autograd.grad(total, model.weight)\n",
        "torch.autograd.grad(total, model.weight)",
        "pass",
    ),
    "item": ("total = 0\n" + BATCH + "    total += loss.item()\n", "loss.item()", "loss"),
    "detach": ("total = 0\n" + BATCH + "    total += loss.detach()\n", "loss.detach()", "loss"),
    "detach_": ("total = 0\n" + BATCH + "    loss.detach_()\n    total += loss\n", "loss.detach_()", "pass"),
    "float": ("total = 0\n" + BATCH + "    total += float(loss)\n", "float(loss)", "loss"),
    "made from data": ("total = 0\n" + BATCH + "    total += loss.data\n", "loss.data", "loss"),
    "cpu detach": ("total = 0\n" + BATCH + "    total += loss.cpu().detach()\n", ".detach()"),
    "clone detach": (
        "kept = []\n" + BATCH + "    kept.append(loss.clone().detach())\n",
        "loss.clone().detach()",
        "loss",
    ),
    "no_grad": (
        "total = 0\n" + BATCH + "    with torch.no_grad():\n        total += loss\n",
        "with torch.no_grad()",
        "if 1",
    ),
    "no_grad +": (
        "total = 0\n" + BATCH + "    with torch.no_grad():\n        total = total + loss\n",
        "with torch.no_grad()",
        "if 1",
    ),
    "inference_mode": (
        "total = 0\n" + BATCH + "    with torch.inference_mode():\n        total += loss\n",
        "with torch.inference_mode()",
        "if 1",
    ),
    "made under no_grad": (
        "total = 0\n"
        + BATCH
        + ("    with torch.no_grad():\n        other = criterion(model(x), y)\n    total += other\n"),
        "with torch.no_grad():\n        other = criterion(model(x), y)\n    total += other",
        "total += loss",
    ),
    "cleared": ("kept = []\n" + BATCH + "    kept.clear()\n    kept.append(loss)\n", "kept.clear()", "pass"),
    "rebound list": (
        "kept = []\n" + BATCH + "    kept = []\n    kept.append(loss)\n",
        "kept = []\n    ",
        "pass\n    ",
    ),
    "rebound": ("total = 0\n" + BATCH + "    total = 0\n    total += loss\n", "total = 0\n    ", "pass\n    "),
    "dict of lists cleared": (
        "d = {'a': []}\n" + BATCH + "    d['a'] = []\n    d['a'].append(loss)\n",
        "d['a'] = []",
        "pass",
    ),
    "every hundredth": (
        "total = 0\n" + BATCH + "    total += loss\n    if i % 100 == 0:\n        total = 0\n",
        "\n        total = 0",
        "\n        pass",
    ),
    "popped": (
        "losses = []\n" + BATCH + "    losses.append(loss)\n    if i > 10:\n        losses.pop(0)\n",
        "losses.pop(0)",
        "pass",
    ),
    "sliced": (
        "losses = []\n" + BATCH + "    losses.append(loss)\n    losses = losses[-10:]\n",
        "losses = losses[-10:]",
        "pass",
    ),
    "deque": ("losses = deque(maxlen=10)\n" + BATCH + "    losses.append(loss)\n", "deque(maxlen=10)", "[]"),
    "another name": ("total = 0\n" + BATCH + "    both = total + loss\n", "both", "total"),
    "no loop": (
        ("total = 0\nx, y = next(iter(loader))\nloss = criterion(model(x), y)\nloss.backward()\ntotal += loss"),
        "x, y = next(iter(loader))\nloss = criterion(model(x), y)\nloss.backward()\n",
        "for x, y in loader:\n    loss = criterion(model(x), y)\n    loss.backward()\n    ",
    ),
    "added in a function without autograd": (
        "@torch.no_grad()\ndef log(t, l): return t + l\ntotal = 0\n" + BATCH + "    total = log(total, loss)",
        "@torch.no_grad()\ndef log(t, l): return t + l\ntotal = 0\n" + BATCH + "    total = log(total, loss)",
        "total = 0\n" + BATCH + "    total = total + loss",
    ),
    "an item detached": ("d = {'a': 0}\n" + BATCH + "    d['a'] += loss.detach()", "loss.detach()", "loss"),
    "numbers in a list": ("l = []\n" + BATCH + "    l.append(loss.item())", "loss.item()", "loss"),
    "arrays in a list": (
        "l = []\n" + BATCH + "    l.append(loss.detach().cpu().numpy())",
        "loss.detach().cpu().numpy()",
        "loss",
    ),
    "data in a list": ("l = []\n" + BATCH + "    l.append(loss.data)", "loss.data", "loss"),
    "a product without autograd": (
        "l = []\n" + BATCH + "    with torch.no_grad():\n        l.append(loss * 2)",
        " * 2",
    ),
    "a mean without autograd": (
        "l = []\n" + BATCH + "    with torch.no_grad():\n        l.append(loss.mean())",
        "with torch.no_grad():\n        ",
    ),
    "a mean by a function without autograd": (
        "l = []\n" + BATCH + "    with torch.no_grad():\n        l.append(torch.mean(loss))",
        "with torch.no_grad():\n        ",
    ),
    "a list of the parts of one batch": (
        "for x, y in loader:\n    losses = []\n    for a, b in zip(x.chunk(4), y.chunk(4)):\n"
        "        loss = criterion(model(a), b)\n        loss.backward()\n        losses.append(loss)\n",
        "for x, y in loader:\n    losses = []\n",
        "losses = []\nfor x, y in loader:\n",
    ),
    "a list of the parts of one batch that a function gets": (
        "def step(x, y):\n    losses = []\n    for a, b in zip(x.chunk(4), y.chunk(4)):\n"
        "        loss = criterion(model(a), b)\n        loss.backward()\n        losses.append(loss)\n"
        "for x, y in loader:\n    step(x, y)\n",
        "def step(x, y):\n    losses = []\n",
        "losses = []\ndef step(x, y):\n",
    ),
    "a mean of what is detached": (
        "total = 0\n"
        + BATCH.replace("criterion(out, y)", "torch.mean(criterion(out, y))")
        + "    total += torch.mean(loss.detach())",
        "torch.mean(loss.detach())",
        "loss",
    ),
}


@pytest.mark.parametrize("case", PAIRS)
def test_silent_for_one_reason(case: str, tmp_path: Path) -> None:
    source, *change = PAIRS[case]
    check_pair("ACC209", Pair(CLASSIFIER + source, *change), tmp_path)


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
    check_one("ACC209", CLASSIFIER + source, tmp_path)


def test_reports_sums_that_keep_the_graph(tmp_path: Path) -> None:
    source = """
total, weighted, kept = 0.0, 0.0, []
for x, y in loader:
    loss = criterion(model(x), y)
    loss.backward()
    total += loss  # -> ACC209 warning safe
    weighted += loss * 3  # -> ACC209 warning none
    kept.append(loss)  # -> ACC209 warning safe
"""
    check(IMPORTS + TRAIN + source, tmp_path)
    text = fixed("ACC209", IMPORTS + TRAIN + source, tmp_path)
    assert "total += loss.detach()  #" in text
    assert "kept.append(loss.detach())  #" in text


def test_reports_a_sum_in_a_function_that_a_loop_over_epochs_calls(tmp_path: Path) -> None:
    source = """
def epoch(model, loader):
    total = 0
    for x, y in loader:
        loss = criterion(model(x), y)
        loss.backward()
        total += loss  # -> ACC209 warning safe
    return total / len(loader)
for _ in range(3):
    print(epoch(model, loader))
"""
    check(IMPORTS + TRAIN + source, tmp_path)


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
