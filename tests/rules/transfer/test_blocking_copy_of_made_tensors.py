"""ACC201 blocking-host-to-device-copy of what each step makes of arrays and lists, silent cases in pairs."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..checks import Pair, check_pair, findings_of

SOURCE = """
import numpy as np
import torch
from torch import nn

class Memory:
    def __init__(self, device):
        self.state = np.zeros((1000, 8), dtype=np.float32)
        self.reward = np.zeros((1000, 2), dtype=np.float32)
        self.device = device
    def sample(self, count):
        index = np.random.randint(0, 1000, size=count)
        return (
            torch.FloatTensor(self.state[index]).to(self.device),
            torch.from_numpy(self.reward[index]).to(self.device),
        )

def train(steps):
    memory = Memory(torch.device("cuda"))
    net = nn.Linear(8, 2).cuda()
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    for t in range(steps):
        if t >= 100:
            x, y = memory.sample(64)
            loss = (net(x) - y).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
"""


def test_the_parts_of_a_step_are_one_finding(tmp_path: Path) -> None:
    (found,) = findings_of("ACC201", SOURCE, tmp_path)
    assert "`torch.FloatTensor(self.state[index]).to(self.device)` makes a tensor at every step" in found.message
    assert (str(found.severity), found.fix, len(found.related)) == ("info", None, 1)


TASKS = """
import numpy as np
import torch
from torch import nn

class Memory:
    def __init__(self, model, device):
        self.model, self.device = model, device
        self.kept = []
    def look_back(self, task):
        for i in range(task):
            points = np.concatenate(self.kept[i])
            x = torch.from_numpy(points).to(self.device)
            self.model.zero_grad()
            self.model(x).sum().backward()
            self.far = self.model.weight.grad.clone()

def train(tasks, batches):
    model = nn.Linear(8, 2).cuda()
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    memory = Memory(model, "cuda")
    for task in range(tasks):
        memory.look_back(task)
        for i in range(batches):
            optimizer.zero_grad()
            model(torch.zeros(4, 8, device="cuda")).sum().backward()
            optimizer.step()

train(3, 9)
"""
PAIRS = {
    "a loop that looks back once a task": Pair(
        TASKS, "            self.far = ", "            self.opt.step()\n            "
    ),
    "every tenth step": Pair(
        SOURCE.replace("            x, y = mem", "            if t % 10 == 0:\n                x, y = mem"),
        "if t % 10 == 0",
        "if True",
    ),
    "asynchronous": Pair(SOURCE.replace("(self.device)", "(self.device, non_blocking=True)"), ", non_blocking=True"),
    "on the host": Pair(SOURCE.replace('torch.device("cuda")', 'torch.device("cpu")'), '"cpu"', '"cuda"'),
    "at the start": Pair(
        SOURCE.replace(
            "    for t in range(steps):\n", "    x, y = memory.sample(64)\n    for t in range(steps):\n"
        ).replace("            x, y = memory.sample(64)\n", "            x, y = x, y\n"),
        "            x, y = x, y\n",
        "            x, y = memory.sample(64)\n",
    ),
    "drawn": Pair(
        SOURCE.replace("torch.from_numpy(self.reward[index])", "torch.zeros(64, 2)").replace(
            "self.state[index])", "np.random.rand(count, 8))"
        ),
        "np.random.rand(count, 8)",
        "self.state[index]",
    ),
    "drawn, and computed with": Pair(
        SOURCE.replace("torch.FloatTensor(self.state[index])", "torch.zeros(64, 8)")
        .replace("        return (", "        drawn = np.random.beta(0.4, 0.4, (count, 2)) / 2 + 0.5\n        return (")
        .replace("torch.from_numpy(self.reward[index])", "torch.from_numpy(drawn)"),
        "np.random.beta(0.4, 0.4, (count, 2))",
        "self.reward[index]",
    ),
    "drawn for what is drawn": Pair(
        SOURCE.replace("torch.FloatTensor(self.state[index])", "torch.zeros(64, 8)")
        .replace(
            "        return (",
            "        drawn = np.random.beta(0.4, 0.4, (count, 2)) * np.random.rand(count, 2)\n        return (",
        )
        .replace("torch.from_numpy(self.reward[index])", "torch.from_numpy(drawn)"),
        "np.random.beta(0.4, 0.4, (count, 2))",
        'np.load("rewards.npy")',
    ),
    "a column of unknown things": Pair(
        SOURCE.replace("torch.FloatTensor(self.state[index])", "torch.zeros(64, 8)")
        .replace("        return (", "        rows = conf.rows(index)\n        return (")
        .replace("torch.from_numpy(self.reward[index])", "torch.tensor(rows[:, 0])"),
        "conf.rows(index)",
        "np.array(conf.rows(index))",
    ),
    "an algorithm on the host": Pair(
        SOURCE.replace("torch.FloatTensor(self.state[index])", "torch.zeros(64, 8)")
        .replace("        return (", "        path = np.zeros((count, 2))\n        self.walk(path)\n        return (")
        .replace("self.reward[index]", "path"),
        "np.zeros((count, 2))",
        "np.asarray(self.reward[index])",
    ),
}


@pytest.mark.parametrize("pair", PAIRS.values(), ids=PAIRS.keys())
def test_silent_for_one_reason(pair: Pair, tmp_path: Path) -> None:
    check_pair("ACC201", pair, tmp_path)


COLUMNS = """
import torch
from torch import nn

class Batches:
    def __init__(self, data, device):
        self.data, self.device, self.index = data, device, 0
    def __iter__(self):
        return self
    def __next__(self):
        if self.index >= len(self.data):
            raise StopIteration
        self.index += 1
        return torch.LongTensor([one[0] for one in self.data[self.index]]).to(self.device)

def train(data):
    net = nn.Embedding(3, 3).cuda()
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    for step, x in enumerate(Batches(data, "cuda")):
        loss = net(x).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""


@pytest.mark.parametrize("given", ["Batches(data, 'cuda')", "zip(batches, data)", "enumerate(batches)"])
def test_an_object_makes_its_batches_in_the_passes_of_the_loop(given: str, tmp_path: Path) -> None:
    source = COLUMNS.replace('enumerate(Batches(data, "cuda"))', given)
    source = source.replace("    for step, x", '    batches = Batches(data, "cuda")\n    for step, x')
    source = source.replace("for step, x", "for x") if given.startswith("B") else source
    source = source.replace("for step, x", "for x, step") if given.startswith("z") else source
    assert findings_of("ACC201", source, tmp_path)
    assert findings_of("ACC201", source.replace("[one[0] for", "[len(one) for"), tmp_path) == []


def test_next_asks_an_object_that_is_not_iterable(tmp_path: Path) -> None:
    fetching = COLUMNS.replace("    def __iter__(self):\n        return self\n", "")
    fetching = fetching.replace(
        'for step, x in enumerate(Batches(data, "cuda")):', "for step in range(900):\n        x = next(batches)"
    )
    source = fetching.replace("    for step", '    batches = Batches(data, "cuda")\n    for step')
    assert findings_of("ACC201", source, tmp_path)
    assert findings_of("ACC201", source.replace("x = next(batches)", "x = max(batches)"), tmp_path) == []


COLLATED = """
import conf
import torch
from torch import nn

def collate(part):
    lengths = torch.LongTensor([len(one) for one in part])
    words = torch.zeros(len(part), lengths.max().item()).long()
    mask = torch.zeros(len(part), lengths.max().item())
    for at, one in enumerate(part):
        words[at, : len(one)] = torch.LongTensor(one)
        mask[at, : len(one)] = torch.ones(len(one))
    words = words[lengths.argsort()]
    words = words.cuda()
    mask = mask.cuda()
    return words, mask

net = nn.Embedding(10, 8).cuda()
optimizer = torch.optim.SGD(net.parameters(), 0.1)
for turn in range(conf.turns):
    for at in range(conf.batches):
        words, mask = collate(conf.data[at : at + 8])
        loss = (net(words).sum(2) * mask).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""
FILL, SORT, COPY = (
    """    for at, one in enumerate(part):
        words[at, : len(one)] = torch.LongTensor(one)
        mask[at, : len(one)] = torch.ones(len(one))
""",
    "    words = words[lengths.argsort()]\n",
    "    words = words.cuda()\n    mask = mask.cuda()\n",
)
FILLED = {
    "filled on the GPU": Pair(
        COLLATED.replace(FILL + SORT + COPY, COPY + FILL + SORT), COPY + FILL + SORT, FILL + SORT + COPY
    ),
    "copied without waiting": Pair(
        COLLATED.replace(".cuda()\n    mask", ".cuda(non_blocking=True)\n    mask"), "non_blocking=True"
    ),
    "one tensor": Pair(COLLATED.replace("mask = mask.cuda()", "mask = mask"), "mask = mask\n", "mask = mask.cuda()\n"),
    "all at once": Pair(
        COLLATED.replace("    for at, one in enumerate(part):\n", "    at, one = 0, part[0]\n    if one:\n"),
        "    at, one = 0, part[0]\n    if one:\n",
        "    for at, one in enumerate(part):\n",
    ),
    "what a function within makes whole": Pair(
        COLLATED.replace(
            "words = torch.zeros(len(part), lengths.max().item())",
            "make = lambda: torch.zeros(len(part), 9)\n    words = make()",
        ).replace(FILL, "    at, one = 0, part[0]\n"),
        "    at, one = 0, part[0]\n",
        FILL,
    ),
    "once for all": Pair(
        COLLATED.replace("        words, mask = collate(conf.data[at : at + 8])\n", "").replace(
            "for turn", "words, mask = collate(conf.data)\nfor turn"
        ),
        "words, mask = collate(conf.data)\nfor turn in range(conf.turns):\n    for at in range(conf.batches):\n",
        (
            "for turn in range(conf.turns):\n    for at in range(conf.batches):\n"
            "        words, mask = collate(conf.data[at : at + 8])\n"
        ),
    ),
}


@pytest.mark.parametrize("case", FILLED)
def test_what_a_step_fills_sample_by_sample_silent_for_one_reason(case: str, tmp_path: Path) -> None:
    check_pair("ACC201", FILLED[case], tmp_path)


def test_what_a_step_fills_sample_by_sample_is_one_finding(tmp_path: Path) -> None:
    (found,) = findings_of("ACC201", COLLATED, tmp_path)
    assert "fills its batch sample by sample" in found.message
    assert [one.span.start.row for one in found.related] == [found.span.start.row + 1]


PLACED = """
import conf
import numpy as np
import torch
from torch import nn

class Memory:
    def __init__(self, device):
        self.device = device
    def sample(self, at):
        seen = conf.records[at]
        states = torch.tensor(seen['state'][:, :4], device=self.device, dtype=torch.float32)
        actions = torch.tensor(np.copy(seen['action'][:, 3]), device=self.device)
        return states, actions

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
memory, net = Memory(device), nn.Linear(4, 2).to(device)
optimizer = torch.optim.SGD(net.parameters(), 0.1)
for turn in range(conf.turns):
    states, actions = memory.sample(turn)
    loss = net(states).gather(1, actions).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
PLACES = {
    "one tensor": Pair(
        PLACED.replace("torch.tensor(np.copy(seen['action'][:, 3]), device=self.device)", "seen['action']"),
        "= seen['action']",
        "= torch.tensor(seen['action'][:, 3], device=self.device)",
    ),
    "on the host": Pair(
        PLACED.replace('torch.device("cuda" if torch.cuda.is_available() else "cpu")', 'torch.device("cpu")'),
        'torch.device("cpu")',
        'torch.device("cuda")',
    ),
    "of what the step draws": Pair(
        PLACED.replace("seen['state'][:, :4]", "np.random.rand(8, 4)"), "np.random.rand(8, 4)", "seen['state'][:, :4]"
    ),
    "once": Pair(
        PLACED.replace("    states, actions = memory.sample(turn)\n", "").replace(
            "for turn", "states, actions = memory.sample(0)\nfor turn"
        ),
        "states, actions = memory.sample(0)\nfor turn in range(conf.turns):\n",
        "for turn in range(conf.turns):\n    states, actions = memory.sample(0)\n",
    ),
}


@pytest.mark.parametrize("case", PLACES)
def test_what_a_step_makes_on_the_gpu_silent_for_one_reason(case: str, tmp_path: Path) -> None:
    check_pair("ACC201", PLACES[case], tmp_path)


def test_what_a_step_makes_on_the_gpu_is_one_finding(tmp_path: Path) -> None:
    (found,) = findings_of("ACC201", PLACED, tmp_path)
    assert found.message.startswith("`torch.tensor(seen['state'][:, :4], device=self.device")
    assert [one.span.start.row for one in found.related] == [found.span.start.row + 1]


MASKED = """
import conf
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

class Trainer:
    def __init__(self):
        self.net = nn.Conv2d(3, 3, 1).cuda()
    def labels_of(self, shape):
        if hasattr(self, "labels") and self.labels.shape == shape:
            return self.labels
        labels = np.tile(conf.labels(shape), (shape[0], 1))
        self.labels = torch.from_numpy(labels).cuda()
        return self.labels
    def train(self, loader):
        optimizer = torch.optim.SGD(self.net.parameters(), 0.1)
        for (x,) in loader:
            out = self.net(x.cuda(non_blocking=True))
            optimizer.zero_grad()
            (out - self.labels_of(out.shape)).abs().sum().backward()
            optimizer.step()
Trainer().train(DataLoader(TensorDataset(torch.zeros(64, 3, 8, 8)), batch_size=16, pin_memory=True))
"""


@pytest.mark.parametrize(
    ("asks", "instead"),
    [
        ("hasattr(self, 'labels')", "hasattr(self, 'others')"),
        ("self.labels is not None", "self.labels is None"),
    ],
)
def test_what_is_kept_is_copied_the_first_time(asks: str, instead: str, tmp_path: Path) -> None:
    check_pair("ACC201", Pair(MASKED.replace('hasattr(self, "labels")', asks), asks, instead), tmp_path)


def test_what_is_kept_is_given_back(tmp_path: Path) -> None:
    returned = "            return self.labels\n"
    check_pair("ACC201", Pair(MASKED, returned, "            return torch.zeros(2).cuda()\n"), tmp_path)


DEALT = """
import conf
import torch
from torch import nn

net = nn.Conv1d(8, 2, 3).cuda()
optimizer = torch.optim.SGD(net.parameters(), 0.1)
for epoch in range(9):
    for seen, wanted in conf.dealer.next_epoch():
        x = torch.from_numpy(seen.astype("float32"))
        y = torch.from_numpy(wanted.copy())
        if torch.cuda.is_available():
            x = x.cuda()
            y = y.cuda()
        optimizer.zero_grad()
        nn.functional.mse_loss(net(x), y).backward()
        optimizer.step()
"""


def test_a_script_that_moves_what_a_generator_deals(tmp_path: Path) -> None:
    (found,) = findings_of("ACC201", DEALT, tmp_path)
    assert [found.span.start.row, *(one.span.start.row for one in found.related)] == [13, 14]


@pytest.mark.parametrize(
    ("here", "instead"),
    [
        ("        y = y.cuda()\n", "        print(y.mean())\n        y = y.cuda()\n"),
        ("        y = y.cuda()\n", ""),
        ("wanted.copy()", "conf.blurred(wanted)"),
    ],
)
def test_such_a_script_where_the_host_may_use_it_too(here: str, instead: str, tmp_path: Path) -> None:
    (found,) = findings_of("ACC201", DEALT.replace(here, instead), tmp_path)
    assert (found.span.start.row, found.related) == (13, ())
