"""Batches, and the loaders that they come from, as a rule about copies (ACC201) sees them."""

from __future__ import annotations

from pathlib import Path

import pytest

from accel_advisor.finding import Confidence

from ..rules.checks import Pair, check_one, check_pair, fixed
from ..rules.programs import MODEL, PHOTOS

HEAD = PHOTOS + MODEL
LOADER = "DataLoader(photos, num_workers=2, pin_memory=True)"
BUILT = f"{HEAD}import sys\nloader = {LOADER}\n"
COPY = """    x = x.cuda()  # -> warning
    step(x, y)
"""

OPTIONAL = {
    "built on a condition": f"""
loader = None
if "train" in sys.argv:
    loader = {LOADER}
for x, y in loader:
""",
    "one of two": f"""
other = {LOADER}
for x, y in loader if "train" in sys.argv else other:
""",
    "one of two that are optional": f"""
first = second = None
if "first" in sys.argv:
    first = {LOADER}
if "second" in sys.argv:
    second = {LOADER}
for x, y in first if "first" in sys.argv else second:
""",
    "handed over by an older Python": """
batches = iter(loader)
for i in range(99):
    x, y = batches.next()
""",
    "by its method": """
batches = iter(loader)
for i in range(99):
    x, y = batches.__next__()
""",
    "begun again": """
batches = iter(loader)
for i in range(99):
    try:
        x, y = next(batches)
    except StopIteration:
        batches = iter(loader)
        x, y = next(batches)
""",
    "from a function that may return nothing": """
def make(path):
    if not path:
        return None
    return loader
for x, y in make(sys.argv[1]):
""",
    "of a dict": f"""
loaders = {{"train": {LOADER}, "test": {LOADER}, "size": 8}}
for phase in ("train", "test"):
    batches = loaders[phase]
    for x, y in batches:
        pass
for x, y in loaders[sys.argv[1]]:
""",
    "of a dict in a dict": f"""
loaders = {{name: {{"query": None, "gallery": None}} for name in sys.argv}}
for name in sys.argv:
    loaders[name]["query"] = {LOADER}
for x, y in loaders[sys.argv[1]]["query"]:
""",
    "a copied batch": """
for batch in loader:
    x, y = batch.copy()
""",
    "a named tuple": """
for batch in loader:
    x, y = batch.image, batch.label
""",
}

UNSURE = {
    "begun where there is none yet": """
for i in range(99):
    try:
        x, y = next(batches)
    except NameError:
        batches = iter(loader)
        x, y = next(batches)
""",
    "perhaps something else": """
import conf
if conf.small:
    loader = conf.subset(loader)
for x, y in loader:
""",
}


@pytest.mark.parametrize("case", OPTIONAL)
def test_loaders_that_may_be(case: str, tmp_path: Path) -> None:
    check_one("ACC201", BUILT + OPTIONAL[case] + COPY, tmp_path)


@pytest.mark.parametrize("case", UNSURE)
def test_loaders_that_may_be_anything(case: str, tmp_path: Path) -> None:
    (found,) = check_one("ACC201", BUILT + UNSURE[case] + COPY.replace("warning", "info"), tmp_path)
    assert found.confidence is Confidence.EVIDENT


def test_a_part_that_is_put_back(tmp_path: Path) -> None:
    loop = f"{BUILT}\nfor batch in loader:\n    "
    check_one("ACC201", f"{loop}batch[0] = batch[0].cuda()  # -> warning\n    step(batch[0], 0)\n", tmp_path)
    each = "for k in batch:\n        batch[k] = batch[k].cuda()  # -> warning\n    step(batch['x'], 0)\n"
    check_one("ACC201", loop + each, tmp_path)
    named = "batch['x'] = batch['x'] / 255\n    step(batch['x'].cuda(), 0)  # -> warning\n"
    check_one("ACC201", loop + named, tmp_path)


def test_a_part_that_is_written_into(tmp_path: Path) -> None:
    loop = f"{BUILT}\nfor x, y in loader:\n    x = x.float()\n    step(x.cuda(), 0)\n    x[0] = 1\n"
    check_pair("ACC201", Pair(loop, "    x[0] = 1\n"), tmp_path)


def test_loaders_that_a_partial_makes(tmp_path: Path) -> None:
    source = f"""{HEAD}
from functools import partial
make = partial(DataLoader, num_workers=2)
train, test = map(make, [photos, photos])
for x, y in train:
    step(x.cuda(non_blocking=True), y)
"""
    check_one("ACC101", source.replace("num_workers=2)", "num_workers=2)  # -> warning safe"), tmp_path)
    assert "make = partial(DataLoader, num_workers=2, pin_memory=True)" in fixed("ACC101", source, tmp_path)


MOVERS = {
    "accelerate": "from accelerate.utils import send_to_device as move",
    "ignite": "from ignite.utils import convert_tensor as move",
    "lightning": "from pytorch_lightning.utilities import move_data_to_device as move",
    "fabric": "from lightning.fabric.utilities import move_data_to_device as move",
}


@pytest.mark.parametrize("case", MOVERS)
def test_functions_that_move_batches(case: str, tmp_path: Path) -> None:
    loop = "for batch in loader:\n    x, y = move(batch, torch.device('cuda'), non_blocking=True)\n    step(x, y)\n"
    source = f"{HEAD}{MOVERS[case]}\nloader = DataLoader(photos, num_workers=2)\n{loop}"
    check_one("ACC101", source.replace("num_workers=2)", "num_workers=2)  # -> warning"), tmp_path)
    check_pair("ACC101", Pair(source.replace("'cuda'", "'cpu'"), "'cpu'", "'cuda'"), tmp_path)
