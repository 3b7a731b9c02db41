"""ACC208 where a step moves the tensors of a batch alone: dictionaries within it stay on the host; silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..checks import Pair, check_pair

TRAINER = """
import torch
import lib
from torch import nn
class Trainer:
    def __init__(self):
        self.net = nn.Linear(8, 2).cuda()
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.1)
    def step(self, batch):
        for k, v in batch.items():
            if type(v) != list and type(v) != dict:
                batch[k] = v.cuda()
        counts = [one.item() for one in batch["info"]["count"]]
        loss = self.net(batch["x"]).sum() * counts[0]
        loss.backward()
        self.optimizer.step()
trainer = Trainer()
for batch in lib.loader():
    trainer.step(batch)
"""
LOOP = TRAINER[TRAINER.index("        for k, v") : TRAINER.index("        counts")]
GUARD = "type(v) != list and type(v) != dict"
ONE_BY_ONE = "        batch = {k: v.cuda() if isinstance(v, torch.Tensor) else v for k, v in batch.items()}\n"
PAIRS = {
    "all but dictionaries": Pair(TRAINER, "type(v) != dict", "type(v) != str"),
    "no dictionary": Pair(TRAINER.replace(GUARD, "not isinstance(v, dict)"), "not isinstance(v, dict)", "len(v) > 1"),
    "tensors": Pair(TRAINER.replace(GUARD, "torch.is_tensor(v)"), "torch.is_tensor(v)", "len(v) > 1"),
    "tensors of a new dictionary": Pair(TRAINER.replace(LOOP, ONE_BY_ONE), " if isinstance(v, torch.Tensor) else v"),
    "what is no tensor otherwise": Pair(
        TRAINER, "batch[k] = v.cuda()\n", "batch[k] = v.cuda()\n            else:\n                lib.move(v)\n"
    ),
    "a dictionary within": Pair(TRAINER, 'batch["info"]["count"]', 'batch["count"]'),
    "the same dictionary": Pair(TRAINER, "        counts", "        batch = lib.move(batch)\n        counts"),
    "a single number": Pair(
        TRAINER.replace('[one.item() for one in batch["info"]["count"]]', '[batch["info"]["count"].item()]'),
        "type(v) != dict",
        "type(v) != str",
    ),
}


@pytest.mark.parametrize("pair", PAIRS.values(), ids=PAIRS.keys())
def test_silent_where_a_part_of_the_batch_stays_on_the_host(pair: Pair, tmp_path: Path) -> None:
    check_pair("ACC208", pair, tmp_path)


LATER = """
import lib
import torch
from torch import nn

def to_cuda(*args):
    return [None if one is None else one.cuda() for one in args]

class Trainer:
    def __init__(self):
        self.net = nn.Linear(8, 2).cuda()
        self.optimizer = torch.optim.SGD(self.net.parameters(), 0.1)
    def step(self):
        x, lengths = lib.batch()
        count = (lengths - 1).sum().item()
        x, lengths = to_cuda(x, lengths)
        loss = self.net(x).sum() / count
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
trainer = Trainer()
for _ in range(1000):
    trainer.step()
"""
MOVED = "        x, lengths = to_cuda(x, lengths)\n"
READ = "        count = (lengths - 1).sum().item()\n"
HOW = {
    "all by a function": (LATER, MOVED, "        x, = to_cuda(x)\n"),
    "a device": (
        LATER.replace(MOVED, "        x, lengths = x.cuda(), lengths.to(lib.device)\n"),
        "lib.device",
        "lib.kind",
    ),
    "a function of a library": (LATER.replace("= to_cuda(", "= lib.move_to_gpu("), "move_to_gpu", "check"),
    "of its own": (
        LATER.replace("def step(self):", "def step(self, lengths=None):")
        .replace("x, lengths = lib", "x, mine = lib")
        .replace("(lengths - 1)", "(mine - 1)")
        .replace(MOVED, "        x, mine = to_cuda(x, mine)\n"),
        "mine",
        "lengths",
    ),
    "read before": (LATER, READ + MOVED, MOVED + READ),
    "moved twice": (LATER, READ, MOVED + READ),
}


@pytest.mark.parametrize("case", HOW)
def test_silent_where_what_is_read_is_moved_afterwards(case: str, tmp_path: Path) -> None:
    source, here, instead = HOW[case]
    check_pair("ACC208", Pair(source, here, instead), tmp_path)
