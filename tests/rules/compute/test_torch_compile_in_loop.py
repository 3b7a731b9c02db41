"""ACC421 torch-compile-in-loop, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..checks import check_one
from ..programs import IMPORTS, LEARNER

SILENT = {
    "once": "net = torch.compile(net)\nfor (x,) in loader:\n    learn(net, x)",
    "a model of its own in each pass": (
        "for width in (8, 16):\n    net = nn.Linear(8, width)\n    net = torch.compile(net)\n    learn(net, 1)"
    ),
    "one of several models": "for net in (nn.Linear(8, 2), nn.Linear(8, 3)):\n    net = torch.compile(net)\n    learn(net, 1)",
    "under another name once an epoch": "for e in range(9):\n    fast = torch.compile(net)\n    for (x,) in loader:\n        learn(fast, x)",
    "on a condition": "for e in range(9):\n    if e == 3:\n        net = torch.compile(net)\n    learn(net, 1)",
    "in place": "for e in range(9):\n    net.compile()\n    learn(net, 1)",
    "a function": "for (x,) in loader:\n    torch.compile(lambda t: t + 1)(x)",
    "built for each batch": "for (x,) in loader:\n    fresh = torch.compile(nn.Linear(8, 2))\n    fresh(x).sum().backward()",
}


@pytest.mark.parametrize("source", SILENT.values(), ids=SILENT.keys())
def test_silent(source: str, tmp_path: Path) -> None:
    check_one("ACC421", IMPORTS + LEARNER + source + "\n", tmp_path)


@pytest.mark.parametrize(
    "source",
    [
        "for e in range(9):\n    net = torch.compile(net)  # -> info none\n    learn(net, 1)",
        "while True:\n    net = torch.compile(net, mode='reduce-overhead')  # -> info none\n    learn(net, 1)",
        "for (x,) in loader:\n    fast = torch.compile(net)  # -> info none\n    learn(fast, x)",
        "for (x,) in loader:\n    torch.compile(net)(x).sum().backward()  # -> info none",
    ],
)
def test_reported(source: str, tmp_path: Path) -> None:
    check_one("ACC421", IMPORTS + LEARNER + source + "\n", tmp_path)
