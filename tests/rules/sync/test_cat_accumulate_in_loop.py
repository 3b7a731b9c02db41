"""ACC216 cat-accumulate-in-loop, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..checks import Pair, check, check_one, check_pair
from ..programs import REGRESSION

SILENT = {
    "of others": "for x, y in loader:\n    both = torch.cat([x, y])",
    "reset": ("for x, y in loader:\n    both = x[y]\n    both = torch.cat([both, y])\n    model(both.cuda())"),
}


@pytest.mark.parametrize("source", SILENT.values(), ids=SILENT.keys())
def test_silent(source: str, tmp_path: Path) -> None:
    check_one("ACC216", REGRESSION + "import conf\n" + source + "\n", tmp_path)


LOADED = REGRESSION + "import conf\n"
FILLED = "kept = torch.zeros(0)\nfor x, y in loader:\n    "
PAIRS: dict[str, tuple[str, ...]] = {
    "few times": (
        ("kept = torch.zeros(0)\nfor i in range(3):\n    kept = torch.cat([kept, torch.zeros(1)])"),
        "i in range(3):\n    kept = torch.cat([kept, torch.zeros(1)",
        "x, y in loader:\n    kept = torch.cat([kept, x",
    ),
    "one pass": (FILLED + "kept = torch.cat([kept, x])\n    break", "break", "pass"),
    "condition": (
        FILLED + "if conf.keeps(x):\n        kept = torch.cat([kept, x])",
        "if conf.keeps(x)",
        "with torch.enable_grad()",
    ),
    "others": (FILLED + "both = torch.cat([x, y])", "both = torch.cat([x", "kept = torch.cat([kept"),
    "needed": (FILLED + "kept = torch.cat([kept, x])\n    model(kept.cuda())", "model(kept.cuda())", "pass"),
    "needed before": (FILLED + "print(kept.mean())\n    kept = torch.cat([kept, x])", "kept.mean()"),
    "reset": (FILLED + "kept = x[y]\n    kept = torch.cat([kept, y])", "kept = x[y]", "pass"),
    "queue": (FILLED + "kept = torch.cat([kept, x])[-9:]", "[-9:]"),
    "a few batches": (
        (
            "kept = torch.zeros(0)\nimport itertools\nfor x, y in itertools.islice(loader, 3):\n"
            "    kept = torch.cat([kept, x])"
        ),
        "import itertools\nfor x, y in itertools.islice(loader, 3)",
        "for x, y in loader",
    ),
    "until a break": (
        (
            "kept = torch.zeros(0)\nfor i, (x, y) in enumerate(loader):\n    kept = torch.cat([kept, x])\n"
            "    if i == 3:\n        break"
        ),
        "\n    if i == 3:\n        break",
    ),
    "given at each step": (
        (
            "def f():\n    kept = torch.zeros(0)\n    for x, y in loader:\n"
            "        kept = torch.cat([kept, x])\n        yield kept\nfor z in f(): print(z)"
        ),
        "\n        yield kept\nfor z in f(): print(z",
        "\n    return kept\nf(",
    ),
}


@pytest.mark.parametrize("case", PAIRS)
def test_silent_for_one_reason(case: str, tmp_path: Path) -> None:
    source, *change = PAIRS[case]
    check_pair("ACC216", Pair(LOADED + source, *change), tmp_path)


def test_reported(tmp_path: Path) -> None:
    source = """
kept = torch.zeros(0, 8)
for x, y in loader:
    x = model(x.cuda(non_blocking=True))
    kept = torch.cat([kept, x])  # -> ACC216 info none
"""
    check(REGRESSION + source, tmp_path)
