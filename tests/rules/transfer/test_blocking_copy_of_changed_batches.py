"""ACC201 blocking-copy, of batches that the program changes in place: silent where the copy may still be reading."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..checks import findings_of
from ..programs import IMPORTS

TRAIN = """
from torchvision.datasets import ImageFolder
loader = DataLoader(ImageFolder("a"), batch_size=16, num_workers=4)
net = nn.Linear(8, 2).cuda()
def change(x):
    x.mul_(0.5)
    return x
def train(loader):
    for batch in loader:
        {}
def evaluate(loader):
    for batch in loader:
        net(batch[0].cuda())
train(loader)
evaluate(loader)
"""
COPY = "net(batch[0].cuda()).sum().backward()"
REFILL = "for i in range(len(batch)): batch[i] = batch[i].cuda()\n        "


def lines(body: str, tmp_path: Path) -> list[int]:
    """The lines, counted from that of the training loop, in which a copy is reported."""
    source = IMPORTS + TRAIN.format(body)
    first = source[: source.index("def train")].count("\n") + 2
    return [one.span.start.row - first for one in findings_of("ACC201", source, tmp_path)]


@pytest.mark.parametrize("change", ["change(batch[0])", "batch[0].zero_()"])
def test_a_change_silences_the_copies_of_its_own_loop(change: str, tmp_path: Path) -> None:
    assert lines(COPY, tmp_path) == [1, 4]
    assert lines(f"{COPY}; {change}", tmp_path) == [4]


def test_a_change_of_what_was_copied_silences_nothing(tmp_path: Path) -> None:
    assert lines(f"{REFILL}net(change(batch[0])).sum().backward()", tmp_path) == [1, 5]
    assert lines(f"change(batch[0])\n        {REFILL}net(batch[0]).sum().backward()", tmp_path) == [6]


def test_a_change_of_what_came_back_from_the_gpu_silences_nothing(tmp_path: Path) -> None:
    moved = "moved = batch[0].cuda()\n        net(moved).sum().backward()\n        "
    assert lines(f"{moved}moved.cpu().clamp_(0, 1)", tmp_path) == [1, 6]
    assert lines(f"{moved}batch[0].cpu().clamp_(0, 1)", tmp_path) == [6]
