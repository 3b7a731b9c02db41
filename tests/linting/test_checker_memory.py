"""What was known of a program is gone with the next one's, though no garbage is collected."""

from __future__ import annotations

import gc
import weakref
from pathlib import Path

from accel_advisor.config import Config
from accel_advisor.linting.checker import Checker
from accel_advisor.linting.report import Program
from accel_advisor.records.facts import Facts
from accel_advisor.source.document import Document
from accel_advisor.values.scope import Scope

MODEL = """
import torch
from torch.utils.data import Dataset

class Images(Dataset):
    def __getitem__(self, index):
        return torch.load(f"{index}.pt")

    def __len__(self):
        return 100

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(8, 2)

    def forward(self, images):
        return self.layer(images)
"""
TRAIN = """
import torch
from torch.utils.data import DataLoader
from model import Images, Net

loader = DataLoader(Images(), batch_size=64, num_workers=4)
model = Net().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for images, labels in loader:
    loss = model(images.cuda()).sum()
    loss.backward()
    optimizer.step()
"""


class Watching(Checker):
    """Watches whether what it is told of lives on."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[weakref.ref[Document | Scope]] = []

    def understood(self, facts: Facts) -> None:
        self.seen.append(weakref.ref(facts.document))
        self.seen += [weakref.ref(one.scope) for one in facts.devices]


def test_a_program_that_was_checked_is_gone(tmp_path: Path) -> None:
    texts = {"model.py": MODEL, "train.py": TRAIN}
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    contents = {str(tmp_path / name): text.encode() for name, text in texts.items()}
    config = Config(root=tmp_path)
    checker = Watching()
    gc.collect()
    gc.disable()
    try:
        program = Program(tuple(contents), (config, config), str(tmp_path))
        result = checker.check(program, contents, {})
        first = checker.seen
        checker.seen = []
        checker.check(program, contents, {})  # what is asked of the last program is kept until then
        alive = [one for one in first if one() is not None]
    finally:
        gc.enable()
    assert {one.code for one in result.findings} >= {"ACC101"}
    assert len(first) >= len(texts)
    assert not alive
