"""ACC422 compile-dynamic-false-ragged, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..checks import check_one
from ..programs import IMPORTS, LEARNER

TRAIN = "\nfor (x,) in loader:\n    learn(fast, x)\n"
SILENT = {
    "shapes may change": "fast = torch.compile(net)\nloader = DataLoader(data, batch_size=16)",
    "asked to be dynamic": (
        "fast = torch.compile(net, dynamic=True, mode='reduce-overhead')\nloader = DataLoader(data, batch_size=16)"
    ),
    "the last batch is dropped": (
        "fast = torch.compile(net, dynamic=False)\nloader = DataLoader(data, batch_size=16, drop_last=True)"
    ),
    "perhaps dropped": (
        "import conf\nfast = torch.compile(net, dynamic=False)\n"
        "loader = DataLoader(data, batch_size=16, drop_last=conf.drop)"
    ),
    "other arguments": (
        "import conf\nfast = torch.compile(net, dynamic=False)\nloader = DataLoader(data, batch_size=16, **conf.kw)"
    ),
    "batches of one": "fast = torch.compile(net, dynamic=False)\nloader = DataLoader(data)",
    "a sampler of batches": (
        "import conf\nfast = torch.compile(net, dynamic=False)\nloader = DataLoader(data, batch_sampler=conf.sampler)"
    ),
    "no batches": "fast = torch.compile(net, dynamic=False)\nloader = DataLoader(data, batch_size=None)",
    "an even number of samples": (
        "fast = torch.compile(net, dynamic=False)\nloader = DataLoader(TensorDataset(torch.zeros(64, 8)), batch_size=16)"
    ),
    "the plain model": "torch.compile(net, dynamic=False)\nfast = net\nloader = DataLoader(data, batch_size=16)",
    "an option": (
        "import conf\nfast = torch.compile(net, dynamic=conf.dynamic)\nloader = DataLoader(data, batch_size=16)"
    ),
}


@pytest.mark.parametrize("source", SILENT.values(), ids=SILENT.keys())
def test_silent(source: str, tmp_path: Path) -> None:
    check_one("ACC422", IMPORTS + LEARNER + source + TRAIN, tmp_path)


def test_silent_in_evaluation(tmp_path: Path) -> None:
    source = (
        "fast = torch.compile(net, dynamic=False)\nwith torch.no_grad():\n    for (x,) in loader:\n        fast(x)\n"
    )
    check_one("ACC422", IMPORTS + LEARNER + source, tmp_path)


@pytest.mark.parametrize(
    "source",
    [
        "fast = torch.compile(net, dynamic=False)\nloader = DataLoader(data, batch_size=16)  # -> info none",
        "fast = torch.compile(net, mode='reduce-overhead')\nloader = DataLoader(data, 16)  # -> info none",
        (
            "fast = torch.compile(net, dynamic=False)\n"
            "loader = DataLoader(TensorDataset(torch.zeros(60, 8)), batch_size=16)  # -> info none"
        ),
    ],
)
def test_reported(source: str, tmp_path: Path) -> None:
    check_one("ACC422", IMPORTS + LEARNER + source + TRAIN, tmp_path)
