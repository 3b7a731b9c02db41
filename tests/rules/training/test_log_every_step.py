"""ACC428 log-every-step, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..checks import check_one
from .programs import LOGGED_STEP, LOGGING

SILENT = {
    "every so often": LOGGED_STEP + "    if i % 100 == 0:\n        wandb.log({'loss': loss.item()})",
    "after a condition leaves": LOGGED_STEP + "    if i % 100:\n        continue\n    wandb.log({'loss': loss.item()})",
    "after the epoch": LOGGED_STEP + "wandb.log({'loss': loss.item()})",
    "a number": LOGGED_STEP + "    wandb.log({'lr': 0.1})\n    writer.add_scalar('lr', 0.1, i)",
    "on the host": "host = nn.Linear(8, 2)\n" + LOGGED_STEP + "    writer.add_scalar('s', torch.zeros(1).item(), i)",
    "evaluation": "for x, y in loader:\n    writer.add_scalar('s', model(x.cuda()).sum().item(), 0)",
    "somebody else's": LOGGED_STEP + "    conf.log(loss.item())",
}


@pytest.mark.parametrize("source", SILENT.values(), ids=SILENT.keys())
def test_silent(source: str, tmp_path: Path) -> None:
    check_one("ACC428", LOGGING + source + "\n", tmp_path)


@pytest.mark.parametrize(
    "line",
    [
        "wandb.log({'loss': loss.item()})",
        "writer.add_scalar('loss', loss.item(), i)",
        "writer.add_scalar('loss', loss, i)",
        "writer.add_scalar('loss', float(loss), i)",
        "writer.add_scalars('losses', {'loss': loss, 'again': loss.item()}, i)",
    ],
)
def test_reported(line: str, tmp_path: Path) -> None:
    check_one("ACC428", LOGGING + LOGGED_STEP + f"    {line}  # -> info none\n", tmp_path)
