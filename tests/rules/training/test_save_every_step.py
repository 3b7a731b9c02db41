"""ACC427 save-every-step, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..checks import Pair, check_one, check_pair
from ..programs import IMPORTS, MODEL

SILENT = {
    "after the epoch": "for e in range(3):\n    for (x,) in loader:\n        step(x, x)\n    torch.save(model, 'm')",
    "on a condition": "for i, (x,) in enumerate(loader):\n    step(x, x)\n    if i % 9 == 0:\n        torch.save(model, 'm')",
    "before a condition leaves": (
        "for i, (x,) in enumerate(loader):\n    step(x, x)\n    if i % 9:\n        continue\n    torch.save(model, 'm')"
    ),
    "no training": "for i, (x,) in enumerate(loader):\n    torch.save(model(x), f'{i}.pt')",
    "a few numbers": "for i in range(3):\n    step(1, 2)\n    torch.save(model, 'm')",
    "of one batch": "for (x,) in loader:\n    step(x, x)\n    torch.save(model, 'm')\n    break",
    "of one batch in a function": (
        "def once():\n    for (x,) in loader:\n        step(x, x)\n        torch.save(model, 'm')\n        return x\nonce()"
    ),
}
FETCHED = """
batches = iter(loader)
for e in range(3):
    x = next(batches)
    while x is not None:
        step(x, x)
        x = next(batches)
    torch.save(model, 'm')
"""
LOADER = "loader = DataLoader(TensorDataset(torch.zeros(8, 8)))\n"


def test_a_pass_that_looks_at_one_more_batch_is_an_epoch(tmp_path: Path) -> None:
    """And a step where it learns from that one alone."""
    loop = "    for (x,) in loader:\n        step(x, x)\n"
    once = "    (x,) = next(iter(loader))\n    step(x, x)\n"
    program = f"def train():\n{loop}{once}start = int(input())\nfor e in range(start, 99):\n    train()\n"
    source = IMPORTS + MODEL + LOADER + program + "    torch.save(model, 'm')\n"
    check_pair("ACC427", Pair(source, loop, ""), tmp_path)


@pytest.mark.parametrize("source", SILENT.values(), ids=SILENT.keys())
def test_silent(source: str, tmp_path: Path) -> None:
    check_one("ACC427", IMPORTS + MODEL + LOADER + source + "\n", tmp_path)


SILENT_PROGRAMS = {
    "guarded": """
model = nn.Linear(2, 2)
loader = DataLoader(TensorDataset(torch.zeros(8, 2)))
for i, (x,) in enumerate(loader):
    model(x).sum().backward()
    if i % 100 == 0:
        torch.save(model.state_dict(), "a")
""",
    "guarded by continue": """
model = nn.Linear(2, 2)
loader = DataLoader(TensorDataset(torch.zeros(8, 2)))
for i, (x,) in enumerate(loader):
    model(x).sum().backward()
    if i % 100:
        continue
    torch.save(model.state_dict(), "a")
""",
    "per epoch": """
model = nn.Linear(2, 2)
loader = DataLoader(TensorDataset(torch.zeros(8, 2)))
for e in range(3):
    for i, (x,) in enumerate(loader):
        model(x).sum().backward()
    torch.save(model.state_dict(), "a")
""",
    "helper with condition": """
model = nn.Linear(2, 2)
loader = DataLoader(TensorDataset(torch.zeros(8, 2)))
def save(i):
    if i % 100 == 0:
        torch.save(model.state_dict(), "a")
for i, (x,) in enumerate(loader):
    model(x).sum().backward()
    save(i)
""",
}


@pytest.mark.parametrize("case", SILENT_PROGRAMS)
def test_silent_programs(case: str, tmp_path: Path) -> None:
    check_one("ACC427", IMPORTS + SILENT_PROGRAMS[case], tmp_path)


PAIR_LOADER = "import conf, io, itertools\nloader = DataLoader(TensorDataset(torch.zeros(64, 8)))\n"
SAVES = IMPORTS + MODEL + PAIR_LOADER + "for i, (x,) in enumerate({}):\n    step(x, x)\n    {}\n"
PAIRS = {
    "the first batches": Pair(
        SAVES.format("itertools.islice(loader, 3)", "torch.save(model, 'm')"), "itertools.islice(loader, 3)", "loader"
    ),
    "the first of a list": Pair(SAVES.format("list(loader)[:3]", "torch.save(model, 'm')"), "[:3]"),
    "some batches": Pair(
        SAVES.format("loader", "torch.save(model, 'm')").replace(
            "i, (x,) in enumerate(loader)", "i, (x,) in zip(range(3), loader)"
        ),
        "range(3)",
        "range(3, len(loader))",
    ),
    "the first of what is counted": Pair(
        SAVES.format("loader", "torch.save(model, 'm')").replace(
            "enumerate(loader)", "itertools.islice(enumerate(loader), 3)"
        ),
        ", 3)",
        ", None)",
    ),
    "the first, by another name": Pair(
        "from itertools import islice as first\n" + SAVES.format("first(loader, 0, 3)", "torch.save(model, 'm')"),
        "0, 3)",
        "0, None, 3)",  # every third one
    ),
    "the first, not as a text says": Pair(
        "from tqdm import tqdm\n"
        + SAVES.format("tqdm(loader[:3], desc='loader')", "torch.save(model, 'm')").replace(
            "loader = DataLoader(TensorDataset(torch.zeros(64, 8)))",
            "loader = list(DataLoader(TensorDataset(torch.zeros(64, 8))))",
        ),
        "loader[:3], desc='loader'",
        "loader, desc='islice(loader, 3)'",
    ),
    "batches, not rows": Pair(
        SAVES.format("list(DataLoader(list(x)[:64]))[:3]", "torch.save(model, 'm')").replace(
            "loader =", "x = torch.zeros(64, 8)\nloader ="
        ),
        ")[:3]",
        ")",
    ),
    "in memory": Pair(SAVES.format("loader", "torch.save(model, io.BytesIO())"), "io.BytesIO()", "'m'"),
    "every so often": Pair(SAVES.format("loader", "if i % 9 == 0: conf.net.save_pretrained('m')"), "if i % 9 == 0: "),
    "every so often, in short": Pair(
        SAVES.format("loader", "i % 9 == 0 and torch.save(model, 'm')"), "i % 9 == 0 and "
    ),
    "a helper decides": Pair(
        "def keep(i):\n    if i % 9:\n        return\n    torch.save(model, 'm')\n" + SAVES.format("loader", "keep(i)"),
        "    if i % 9:\n        return\n",
    ),
}


@pytest.mark.parametrize("pair", PAIRS.values(), ids=PAIRS.keys())
def test_silent_for_one_reason(pair: Pair, tmp_path: Path) -> None:
    check_pair("ACC427", pair, tmp_path)


SAVED = (
    "for i, (x,) in enumerate(loader):\n    step(x, x)\n    torch.save(model.state_dict(), 'm')  # -> warning none\n"
)


REPORTED = {
    "alone": SAVED,
    "until a condition": SAVED + "    if i > 9:\n        break",
    "before the rest of the pass": SAVED + "    if i < 9:\n        continue\n    break",
    "after a loop that ends at once": SAVED + "    for _ in x:\n        break",
}


@pytest.mark.parametrize("source", REPORTED.values(), ids=REPORTED.keys())
def test_reported(source: str, tmp_path: Path) -> None:
    check_one("ACC427", IMPORTS + MODEL + LOADER + source + "\n", tmp_path)


REPORTED_PROGRAMS = {
    "each step": """
model = nn.Linear(2, 2)
loader = DataLoader(TensorDataset(torch.zeros(8, 2)))
for e in range(3):
    for i, (x,) in enumerate(loader):
        model(x).sum().backward()
        torch.save(model.state_dict(), "a")  # -> warning none
""",
    "in a helper each step": """
model = nn.Linear(2, 2)
loader = DataLoader(TensorDataset(torch.zeros(8, 2)))
def save():
    torch.save(model.state_dict(), "a")  # -> warning none
for e in range(3):
    for i, (x,) in enumerate(loader):
        model(x).sum().backward()
        save()
""",
}


@pytest.mark.parametrize("case", REPORTED_PROGRAMS)
def test_reported_programs(case: str, tmp_path: Path) -> None:
    check_one("ACC427", IMPORTS + REPORTED_PROGRAMS[case], tmp_path)


def test_a_batch_before_the_loop_begins(tmp_path: Path) -> None:
    check_pair("ACC427", Pair(IMPORTS + MODEL + LOADER + FETCHED, "    torch.save", "        torch.save"), tmp_path)
