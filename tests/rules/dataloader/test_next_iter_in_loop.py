"""ACC108 next-iter-in-loop, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..checks import Pair, check, check_pair
from ..programs import FILES, STAGED_FILES

LOADER = "loader = DataLoader(files, num_workers=2)"
SILENT = {
    "outside of loops": LOADER + "\nx = next(iter(loader))\n",
    "one iterator": LOADER + "\nit = iter(loader)\nfor i in range(9):\n    x = next(it)\n",
    "when it ran out": (
        LOADER + "\nit = iter(loader)\nfor i in range(9):\n    try:\n        x = next(it)\n"
        "    except StopIteration:\n        x = next(iter(loader))\n"
    ),
    "now and then": LOADER + "\nfor i in range(9):\n    if i % 100 == 0:\n        x = next(iter(loader))\n",
    "shuffles without workers": "loader = DataLoader(files, shuffle=True)\nfor i in range(9):\n    x = next(iter(loader))\n",
    "once in an epoch": (
        "loader = DataLoader(files)\nfor epoch in range(9):\n    show = next(iter(loader))\n    for x in loader:\n"
        "        model(x).sum().backward()\n"
    ),
    "once for a model": (
        "loader = DataLoader(files, num_workers=2, persistent_workers=True)\nfor size in (1, 2):\n    show = next(iter(loader))\n"
        "    for epoch in range(9):\n        for x in loader:\n            model(x).sum().backward()\n"
    ),
    "in the header": LOADER + "\nfor x in next(iter(loader)):\n    print(x)\n",
    "another loader each time": "for name in conf.names:\n    loader = DataLoader(conf.open(name))\n    x = next(iter(loader))\n",
    "not a loader": "for i in range(9):\n    x = next(iter([1, 2]))\n",
}


@pytest.mark.parametrize("source", SILENT.values(), ids=SILENT.keys())
def test_silent_about_iterators_that_are_made_once(source: str, tmp_path: Path) -> None:
    check(STAGED_FILES + source, tmp_path)


TAKES = "\nfor i in range(9):\n    x = next(iter(loader))\n"
PAIRS = {
    "no loop": Pair(FILES + LOADER + "\nif 1:\n    x = next(iter(loader))\n", "if 1:", "for i in range(9):"),
    "the header of a loop": Pair(
        FILES + LOADER + "\nfor x in next(iter(loader)):\n    y = 1\n",
        "for x in next(iter(loader)):\n    y = 1",
        "for x in range(9):\n    y = next(iter(loader))",
    ),
    "one iterator": Pair(
        FILES + LOADER + "\nit = iter(loader)\nfor i in range(9):\n    x = next(it)\n", "next(it)", "next(iter(loader))"
    ),
    "shuffled without workers": Pair(
        FILES + LOADER.replace("num_workers=2", "shuffle=True") + TAKES, "shuffle=True", "shuffle=False"
    ),
    "shuffled with none": Pair(
        FILES + LOADER.replace("num_workers=2", "num_workers=0, shuffle=True") + TAKES, "num_workers=0", "num_workers=2"
    ),
    "a sampler without workers": Pair(
        FILES + LOADER.replace("num_workers=2", "sampler=RandomSampler(files)") + TAKES,
        "sampler=RandomSampler(files)",
        "shuffle=False",
    ),
    "an except clause": Pair(
        FILES
        + LOADER
        + "\nit = iter(loader)\nfor i in range(9):\n    try:\n        x = next(it)\n    except StopIteration:\n        x = next(iter(loader))\n",
        "    except StopIteration:\n        x = ",
        "    finally:\n        y = 1\n    x = ",
    ),
    "overfitting": Pair(
        FILES
        + LOADER
        + "\ndef overfit_one_batch():\n    for i in range(9):\n        x = next(iter(loader))\noverfit_one_batch()\n",
        "overfit_one_batch",
        "train",
    ),
    "debugging": Pair(
        FILES + LOADER + "\ndef debug():\n    for i in range(9):\n        x = next(iter(loader))\ndebug()\n",
        "debug",
        "train",
    ),
    "a sanity check": Pair(
        FILES
        + LOADER
        + "\ndef sanity_check():\n    for i in range(9):\n        x = next(iter(loader))\nsanity_check()\n",
        "sanity_check",
        "train",
    ),
    "a condition about debugging": Pair(
        FILES + LOADER + "\nif conf.args.debug:\n    for i in range(9):\n        x = next(iter(loader))\n",
        "if conf.args.debug",
        "if True",
    ),
    "now and then": Pair(
        FILES + LOADER + "\nfor i in range(9):\n    if i % 3 == 0:\n        x = next(iter(loader))\n",
        "    if i % 3 == 0:\n        x",
        "    x",
    ),
    "no loader": Pair(FILES + LOADER + "\nfor i in range(9):\n    x = next(iter([1, 2]))\n", "[1, 2]", "loader"),
    "a loader of XLA": Pair(
        FILES
        + "from torch_xla.distributed.parallel_loader import MpDeviceLoader\nloader = MpDeviceLoader(files)"
        + TAKES,
        "MpDeviceLoader(",
        "DataLoader(",
    ),
    "once in an epoch": Pair(
        FILES
        + LOADER
        + "\nfor epoch in range(9):\n    show = next(iter(loader))\n    for x in loader:\n        model(x)\n",
        "    for x in loader:\n        model(x)\n",
    ),
    "another loader each time": Pair(
        FILES + "for i in range(9):\n    loader = DataLoader(files, num_workers=2)\n    x = next(iter(loader))\n",
        "for i in range(9):\n    loader = DataLoader(files, num_workers=2)\n",
        "loader = DataLoader(files, num_workers=2)\nfor i in range(9):\n",
    ),
}


@pytest.mark.parametrize("case", PAIRS)
def test_silent_for_one_reason(case: str, tmp_path: Path) -> None:
    check_pair("ACC108", PAIRS[case], tmp_path)


def test_reports_a_loader_that_is_begun_again_for_each_batch(tmp_path: Path) -> None:
    loop = "\nfor i in range(9):\n    x = next(iter(loader))  # -> ACC108 warning none\n"
    assert "same first batch" in check(STAGED_FILES + LOADER + loop, tmp_path)[0].message
    recursive = "\ndef go(n):\n    for x in loader:\n        go(n - 1)\n\ngo(3)\n"
    check(STAGED_FILES + LOADER.replace("2", "2, persistent_workers=True") + recursive + loop, tmp_path)
    shuffled = LOADER.replace("2", "2, shuffle=True")
    assert "starts its workers again in every" in check(STAGED_FILES + shuffled + loop, tmp_path)[0].message
    check(STAGED_FILES + "loader = DataLoader(files)" + loop, tmp_path)
