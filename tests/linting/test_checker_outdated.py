"""Files of older Python: what is found in them, and that nothing is edited."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from accel_advisor import lint
from accel_advisor.cli import cli

TRAIN = """\
import torch
from torch.utils.data import DataLoader
from torchvision.datasets import ImageFolder
loader = DataLoader(ImageFolder("p"), batch_size=64, num_workers=4, pin_memory=True)
model = torch.nn.Linear(8, 2).cuda()
for epoch in range(10):
    for images, labels in loader:
        labels = labels.cuda(async=True)
        loss = model(images.cuda()).sum()
        loss.backward()
        print "loss", loss.item()
"""


def _said(text: str, folder: Path) -> list[tuple[str, int, bool]]:
    path = folder / "train.py"
    path.write_text(text)
    findings = lint([path], select=["ACC001", "ACC201", "ACC208"]).findings
    return [(one.code, one.span.start.row, one.fix is not None) for one in findings]


def test_findings_beside_the_syntax_error_without_fixes(tmp_path: Path) -> None:
    assert sorted(_said(TRAIN, tmp_path)) == [("ACC001", 8, False), ("ACC201", 9, False), ("ACC208", 11, False)]
    today = TRAIN.replace("async", "non_blocking").replace('print "loss", loss.item()', 'print("loss", loss.item())')
    assert sorted(_said(today, tmp_path)) == [("ACC201", 9, True), ("ACC208", 11, False)]


@pytest.mark.parametrize("option", ["--fix", "--add-ignore"])
def test_no_code_is_changed(option: str, tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    path.write_text(TRAIN)
    done = CliRunner().invoke(cli, ["lint", "--no-cache", option, str(path)])
    assert done.exit_code in (0, 1), done.output
    written = path.read_text()
    assert written == TRAIN if option == "--fix" else "# accel: ignore[ACC201]" in written
    assert [line.partition("  # accel")[0] for line in written.splitlines()] == TRAIN.splitlines()
