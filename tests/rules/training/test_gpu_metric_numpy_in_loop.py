"""ACC429 gpu-metric-numpy-in-loop, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..checks import check_one
from .programs import LOGGED_STEP, LOGGING

SILENT = {
    "evaluation": "for x, y in loader:\n    metrics.f1_score(y.numpy(), model(x.cuda()).cpu().numpy())",
    "every so often": LOGGED_STEP + "    if i % 9 == 0:\n        metrics.f1_score(y.cpu().numpy(), out.cpu().numpy())",
    "after the epoch": LOGGED_STEP + "metrics.f1_score(y.cpu().numpy(), out.cpu().numpy())",
    "never on the GPU": LOGGED_STEP.replace("x, y = x.cuda(), y.cuda()", "z = y.numpy()").replace(
        "model(x)", "model(x.cuda())"
    )
    + "    np.mean(z)",
    "on the GPU": LOGGED_STEP + "    metric = (out.argmax(1) == y).float().mean()",
    "no arrays": LOGGED_STEP + "    host = out.cpu()\n    np.mean([1, 2])",
}


@pytest.mark.parametrize("source", SILENT.values(), ids=SILENT.keys())
def test_silent(source: str, tmp_path: Path) -> None:
    check_one("ACC429", LOGGING + source + "\n", tmp_path)


@pytest.mark.parametrize(
    "lines",
    [
        "    metrics.f1_score(y.cpu().numpy(), out.argmax(1).cpu().numpy())  # -> info none",
        "    guess = out.detach().cpu().numpy()\n    np.mean(guess)  # -> info none",
    ],
)
def test_reported(lines: str, tmp_path: Path) -> None:
    check_one("ACC429", LOGGING + LOGGED_STEP + lines + "\n", tmp_path)
