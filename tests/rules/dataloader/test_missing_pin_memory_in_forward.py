"""ACC101 and ACC201 where a model moves the batch that it is given by itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..checks import findings_of
from ..programs import PHOTOS

PROGRAM = (
    PHOTOS
    + """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Conv2d(3, 3, 3)
    def forward(self, batch, mode):
        x = batch[0].cuda()
        if mode == "train":
            loss = self.layer(x).sum()
            loss.backward()
            return loss
        return self.layer(x)
class Trainer(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = Net()
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.1)
    def update(self, batch):
        self.optimizer.zero_grad()
        self.net(batch, "train")
        self.optimizer.step()
trainer = Trainer()
trainer.cuda()
loader = DataLoader(photos, num_workers=2)
for batch in loader:
    trainer.update(batch)
"""
)
SILENT = {
    "moved before": ("trainer.update(batch)", "trainer.update([one.cuda(non_blocking=True) for one in batch])"),
    "no batch": ("trainer.update(batch)", "trainer.update([torch.zeros(2, 3, 9, 9)])"),
    "another argument moves": ("batch[0].cuda()", "mode[0].cuda()"),
    "by a wrapper": ("self.net = Net()", "self.net = nn.DataParallel(Net().cuda())"),
}


def test_reports_the_loader_of_what_a_forward_moves(tmp_path: Path) -> None:
    (found,) = findings_of("ACC101", PROGRAM, tmp_path)
    assert "`batch[0].cuda()`" in found.message
    (copy,) = findings_of("ACC201", PROGRAM, tmp_path)
    assert "for the batches of `loader`" in copy.message


@pytest.mark.parametrize("case", SILENT)
def test_silent_where_no_forward_moves_its_batch(case: str, tmp_path: Path) -> None:
    messages = [one.message for one in findings_of("ACC201", PROGRAM.replace(*SILENT[case]), tmp_path)]
    assert not any("`batch[0].cuda()`" in one for one in messages)
