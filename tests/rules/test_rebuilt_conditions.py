"""Each condition under which ACC107 and ACC108 are silent, and that they speak without it."""

from __future__ import annotations

from pathlib import Path

import pytest

from .pairs import Pair, check_pair
from .programs import FILES

HEAD = FILES
LOADER = "loader = DataLoader(files, num_workers=2)"
TAKES = "\nfor i in range(9):\n    x = next(iter(loader))\n"


def built(
    loop: str = "for epoch in range(9):",
    before: str = "pass",
    after: str = "pass",
    arguments: str = "files, num_workers=2",
) -> str:
    return (
        f"{loop}\n    {before}\n    loader = DataLoader({arguments})\n    for x in loader:\n"
        f"        model(x).sum().backward()\n    {after}\n"
    )


PAIRS = {
    "ACC107: unknown folds": Pair(HEAD + built("for part in conf.folds:"), "conf.folds", "range(9)"),
    "ACC107: folds": Pair(HEAD + built("for fold in range(9):"), "fold", "epoch"),
    "ACC107: seeds": Pair(HEAD + built("for seed in range(9):"), "seed", "epoch"),
    "ACC107: runs": Pair(HEAD + built("for run in range(9):"), "run ", "epoch "),
    "ACC107: an optimizer for each": Pair(
        HEAD + built(before="opt = torch.optim.SGD(model.parameters())"),
        "opt = torch.optim.SGD(model.parameters())",
        "pass",
    ),
    "ACC107: a seed for each": Pair(
        HEAD + built(before="torch.manual_seed(epoch)"), "torch.manual_seed(epoch)", "pass"
    ),
    "ACC107: seed_everything": Pair(
        HEAD + "import lightning as L\n" + built(before="L.seed_everything(epoch)"), "L.seed_everything(epoch)", "pass"
    ),
    "ACC107: set_seed of the program": Pair(
        HEAD + "def set_seed(s):\n    torch.manual_seed(s)\n" + built(before="set_seed(epoch)"),
        "set_seed(epoch)",
        "pass",
    ),
    "ACC107: configurations": Pair(HEAD + built("for lr in [0.1, 0.01]:"), "[0.1, 0.01]", "range(9)"),
    "ACC107: the batch size": Pair(HEAD + built(arguments="files, num_workers=2, batch_size=epoch"), "=epoch", "=4"),
    "ACC107: a batch size that grows": Pair(
        HEAD
        + "size = 4\n"
        + built(before="size = min(size * 2, 9)", arguments="files, num_workers=2, batch_size=size"),
        "size = min(size * 2, 9)",
        "pass",
    ),
    "ACC107: a subset": Pair(
        HEAD + built(arguments="Subset(files, range(epoch)), num_workers=2"), "range(epoch)", "range(9)"
    ),
    "ACC107: a subset by a name": Pair(
        HEAD + built(before="part = Subset(files, conf.ids())", arguments="part, num_workers=2"), "part,", "files,"
    ),
    "ACC107: a subset that an unknown function draws": Pair(
        HEAD + built(arguments="Subset(files, conf.draw()), num_workers=2"), "conf.draw()", "[1]"
    ),
    "ACC107: a subset at random": Pair(
        HEAD + built(arguments="Subset(files, random.sample(range(9), 3)), num_workers=2"),
        "random.sample(range(9), 3)",
        "[1]",
    ),
    "ACC107: the collate function": Pair(
        HEAD + built(arguments="files, num_workers=2, collate_fn=functools.partial(take, at=epoch)"), "at=epoch", "at=1"
    ),
    "ACC107: the sampler": Pair(
        HEAD + built(arguments="files, num_workers=2, sampler=RandomSampler(files, num_samples=epoch)"), "=epoch", "=4"
    ),
    "ACC107: a sampler that is told": Pair(
        HEAD
        + "sampler = DistributedSampler(files)\n"
        + built(before="sampler.set_epoch(epoch)", arguments="files, num_workers=2, sampler=sampler"),
        "sampler.set_epoch(epoch)",
        "pass",
    ),
    "ACC107: dropped on purpose": Pair(HEAD + built(after="del loader"), "del loader", "pass"),
    "ACC107: resized": Pair(HEAD + built(before="files.resize(epoch)"), "files.resize(epoch)", "pass"),
    "ACC107: an attribute of the data set": Pair(
        HEAD + built(before="files.stage = epoch"), "files.stage = epoch", "pass"
    ),
    "ACC107: an attribute of what it is made of": Pair(
        HEAD
        + "class T:\n    def __init__(self): self.size = 3\nt = T()\n"
        + built(before="t.size = epoch", arguments="Subset(files, t), num_workers=2"),
        "t.size = epoch",
        "pass",
    ),
    "ACC107: a method that changes it": Pair(HEAD + built(before="files.advance()"), "files.advance()", "pass"),
    "ACC107: a function": Pair(
        HEAD
        + "def run(epoch):\n    loader = DataLoader(files, num_workers=2)\n    for x in loader:\n        model(x).sum().backward()\nfor epoch in range(9):\n    run(epoch)\n",
        "def run(epoch):\n    loader = DataLoader(files, num_workers=2)\n    for x in loader:\n        model(x).sum().backward()\nfor epoch in range(9):\n    run(epoch)\n",
        built(),
    ),
    "ACC107: no workers": Pair(HEAD + built(arguments="files"), "(files)", "(files, num_workers=2)"),
    "ACC107: a setting": Pair(HEAD + built(arguments="files, num_workers=conf.n"), "conf.n", "2"),
    "ACC107: on a condition": Pair(
        HEAD
        + "for epoch in range(9):\n    if epoch == 3:\n        loader = DataLoader(files, num_workers=2)\n    for x in loader:\n        model(x).sum().backward()\n",
        "if epoch == 3:\n        loader = ",
        "loader = ",
    ),
    "ACC107: one epoch": Pair(HEAD + built("for epoch in range(1):"), "range(1)", "range(9)"),
    "ACC108: no loop": Pair(HEAD + LOADER + "\nif 1:\n    x = next(iter(loader))\n", "if 1:", "for i in range(9):"),
    "ACC108: the header of a loop": Pair(
        HEAD + LOADER + "\nfor x in next(iter(loader)):\n    y = 1\n",
        "for x in next(iter(loader)):\n    y = 1",
        "for x in range(9):\n    y = next(iter(loader))",
    ),
    "ACC108: one iterator": Pair(
        HEAD + LOADER + "\nit = iter(loader)\nfor i in range(9):\n    x = next(it)\n", "next(it)", "next(iter(loader))"
    ),
    "ACC108: shuffled without workers": Pair(
        HEAD + LOADER.replace("num_workers=2", "shuffle=True") + TAKES, "shuffle=True", "shuffle=False"
    ),
    "ACC108: shuffled with none": Pair(
        HEAD + LOADER.replace("num_workers=2", "num_workers=0, shuffle=True") + TAKES, "num_workers=0", "num_workers=2"
    ),
    "ACC108: a sampler without workers": Pair(
        HEAD + LOADER.replace("num_workers=2", "sampler=RandomSampler(files)") + TAKES,
        "sampler=RandomSampler(files)",
        "shuffle=False",
    ),
    "ACC108: an except clause": Pair(
        HEAD
        + LOADER
        + "\nit = iter(loader)\nfor i in range(9):\n    try:\n        x = next(it)\n    except StopIteration:\n        x = next(iter(loader))\n",
        "    except StopIteration:\n        x = ",
        "    finally:\n        y = 1\n    x = ",
    ),
    "ACC108: overfitting": Pair(
        HEAD
        + LOADER
        + "\ndef overfit_one_batch():\n    for i in range(9):\n        x = next(iter(loader))\noverfit_one_batch()\n",
        "overfit_one_batch",
        "train",
    ),
    "ACC108: debugging": Pair(
        HEAD + LOADER + "\ndef debug():\n    for i in range(9):\n        x = next(iter(loader))\ndebug()\n",
        "debug",
        "train",
    ),
    "ACC108: a sanity check": Pair(
        HEAD
        + LOADER
        + "\ndef sanity_check():\n    for i in range(9):\n        x = next(iter(loader))\nsanity_check()\n",
        "sanity_check",
        "train",
    ),
    "ACC108: a condition that speaks of debugging": Pair(
        HEAD + LOADER + "\nif conf.args.debug:\n    for i in range(9):\n        x = next(iter(loader))\n",
        "if conf.args.debug",
        "if True",
    ),
    "ACC108: now and then": Pair(
        HEAD + LOADER + "\nfor i in range(9):\n    if i % 3 == 0:\n        x = next(iter(loader))\n",
        "    if i % 3 == 0:\n        x",
        "    x",
    ),
    "ACC108: no loader": Pair(HEAD + LOADER + "\nfor i in range(9):\n    x = next(iter([1, 2]))\n", "[1, 2]", "loader"),
    "ACC108: a loader of XLA": Pair(
        HEAD
        + "from torch_xla.distributed.parallel_loader import MpDeviceLoader\nloader = MpDeviceLoader(files)"
        + TAKES,
        "MpDeviceLoader(",
        "DataLoader(",
    ),
    "ACC108: once in an epoch": Pair(
        HEAD
        + LOADER
        + "\nfor epoch in range(9):\n    show = next(iter(loader))\n    for x in loader:\n        model(x)\n",
        "    for x in loader:\n        model(x)\n",
    ),
    "ACC108: another loader each time": Pair(
        HEAD + "for i in range(9):\n    loader = DataLoader(files, num_workers=2)\n    x = next(iter(loader))\n",
        "for i in range(9):\n    loader = DataLoader(files, num_workers=2)\n",
        "loader = DataLoader(files, num_workers=2)\nfor i in range(9):\n",
    ),
}


@pytest.mark.parametrize("case", PAIRS)
def test_silent_for_one_reason(case: str, tmp_path: Path) -> None:
    check_pair(case[:6], PAIRS[case], tmp_path)
