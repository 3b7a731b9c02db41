"""Each condition under which ACC106 and ACC116 are silent, and that they speak without it."""

from __future__ import annotations

from pathlib import Path

import pytest

from .pairs import Pair, check_pair
from .programs import FILES

HEAD = FILES
OPTION = """
parser = argparse.ArgumentParser()
parser.add_argument("--n", type=int, default=2)
args = parser.parse_args()
"""
LOADER = "loader = DataLoader(files, num_workers=2)"
EPOCHS = "\nfor epoch in range(10):\n    for x in loader:\n        model(x).sum().backward()\n"
SAMPLED = "sampler = DistributedSampler(files)\nloader = DataLoader(files, sampler=sampler)"
STEPS = "class Steps:\n    def __init__(self): self.size = 3\n    def __call__(self, x): return x\nsteps = Steps()\n"
HELD = "class Held(Files):\n    def __init__(self, held=None): self.stage, self.held, self.names = 0, held, ['a']\n"
FRAMEWORKS = {
    "Accelerate": "import accelerate\na = accelerate.Accelerator()\n",
    "Lightning": "import lightning as L\nL.Trainer()\n",
    "Fabric": "import lightning as L\nL.Fabric()\n",
    "transformers": "import transformers\ntransformers.Trainer()\n",
    "DeepSpeed": "import deepspeed\ndeepspeed.initialize()\n",
}

PAIRS = {
    "ACC106: one pass": Pair(
        HEAD + LOADER + "\nif 1:\n    for x in loader:\n        model(x).sum().backward()\n",
        "if 1",
        "for epoch in range(10)",
    ),
    "ACC106: one epoch": Pair(HEAD + LOADER + EPOCHS.replace("10", "1"), "range(1)", "range(10)"),
    "ACC106: no workers": Pair(HEAD + LOADER.replace("2", "0") + EPOCHS, "=0", "=2"),
    "ACC106: workers not given": Pair(
        HEAD + LOADER.replace(", num_workers=2", "") + EPOCHS, "(files)", "(files, num_workers=2)"
    ),
    "ACC106: an option": Pair(HEAD + OPTION + LOADER.replace("2", "args.n") + EPOCHS, "args.n", "2"),
    "ACC106: given": Pair(
        HEAD + LOADER.replace("2", "2, persistent_workers=False") + EPOCHS, ", persistent_workers=False"
    ),
    "ACC106: a setting": Pair(
        HEAD + LOADER.replace("2", "2, persistent_workers=conf.p") + EPOCHS, ", persistent_workers=conf.p"
    ),
    "ACC106: unknown keywords": Pair(HEAD + LOADER.replace("2", "2, **conf.p") + EPOCHS, ", **conf.p"),
    "ACC106: built in every epoch": Pair(
        HEAD
        + "for epoch in range(10):\n    loader = DataLoader(files, num_workers=2)\n    for x in loader:\n        model(x).sum().backward()\n",
        "for epoch in range(10):\n    loader = DataLoader(files, num_workers=2)\n",
        "loader = DataLoader(files, num_workers=2)\nfor epoch in range(10):\n",
    ),
    "ACC106: unknown data": Pair(HEAD + LOADER.replace("files", "conf.data") + EPOCHS, "conf.data", "files"),
    "ACC106: an attribute": Pair(
        HEAD + LOADER + EPOCHS + "    files.stage = epoch\n", "files.stage = epoch", "print(files.stage)"
    ),
    "ACC106: an attribute through the loader": Pair(
        HEAD + LOADER + EPOCHS + "    loader.dataset.stage = epoch\n",
        "loader.dataset.stage = epoch",
        "print(loader.dataset.stage)",
    ),
    "ACC106: a method that changes it": Pair(HEAD + LOADER + EPOCHS + "    files.advance()\n", "advance()", "look()"),
    "ACC106: set_epoch": Pair(HEAD + LOADER + EPOCHS + "    files.set_epoch(epoch)\n", "set_epoch(epoch)", "look()"),
    "ACC106: set_transform through the loader": Pair(
        HEAD + LOADER + EPOCHS + "    loader.dataset.set_transform(epoch)\n", "set_transform(epoch)", "look()"
    ),
    "ACC106: set_epoch of datasets": Pair(
        HEAD + "d = datasets.load_dataset('c4')\n" + LOADER.replace("files", "d") + EPOCHS + "    d.set_epoch(epoch)\n",
        "d.set_epoch(epoch)",
        "print(epoch)",
    ),
    "ACC106: set_transform of datasets": Pair(
        HEAD
        + "d = datasets.load_dataset('c4')\n"
        + LOADER.replace("files", "d")
        + EPOCHS
        + "    d.set_transform(conf.t)\n",
        "d.set_transform(conf.t)",
        "print(epoch)",
    ),
    "ACC106: an attribute through a part": Pair(
        HEAD
        + "part = Subset(files, [1])\n"
        + LOADER.replace("files", "part")
        + EPOCHS
        + "    part.dataset.stage = epoch\n",
        "part.dataset.stage = epoch",
        "print(1)",
    ),
    "ACC106: an attribute of what it is a part of": Pair(
        HEAD + "part = Subset(files, [1])\n" + LOADER.replace("files", "part") + EPOCHS + "    files.stage = epoch\n",
        "files.stage = epoch",
        "print(1)",
    ),
    "ACC106: an attribute through the loader of a part": Pair(
        HEAD
        + "part = Subset(files, [1])\n"
        + LOADER.replace("files", "part")
        + EPOCHS
        + "    loader.dataset.dataset.stage = epoch\n",
        "loader.dataset.dataset.stage = epoch",
        "print(1)",
    ),
    "ACC106: other indices": Pair(
        HEAD
        + "part = Subset(files, [1])\n"
        + LOADER.replace("files", "part")
        + EPOCHS
        + "    part.indices = conf.sample(epoch)\n",
        "part.indices = conf.sample(epoch)",
        "print(1)",
    ),
    "ACC106: another transform": Pair(
        HEAD
        + "from torchvision.datasets import ImageFolder\nd = ImageFolder('a')\n"
        + LOADER.replace("files", "d")
        + EPOCHS.replace("x in", "x, y in")
        + "    d.transform = conf.t(epoch)\n",
        "d.transform = conf.t(epoch)",
        "print(1)",
    ),
    "ACC106: an unknown function": Pair(
        HEAD + LOADER + EPOCHS + "    conf.change(files, epoch)\n", "conf.change(files, epoch)", "print(1)"
    ),
    "ACC106: an attribute of what it holds": Pair(
        HEAD
        + STEPS
        + HELD
        + "held = Held(steps)\n"
        + LOADER.replace("files", "held")
        + EPOCHS
        + "    steps.size = epoch\n",
        "steps.size = epoch",
        "print(1)",
    ),
    "ACC106: an attribute of a transform": Pair(
        HEAD
        + STEPS
        + "from torchvision.datasets import ImageFolder\nd = ImageFolder('a', transform=steps)\n"
        + LOADER.replace("files", "d")
        + EPOCHS.replace("x in", "x, y in")
        + "    steps.size = epoch\n",
        "steps.size = epoch",
        "print(1)",
    ),
    "ACC106: an attribute of the collate function": Pair(
        HEAD + STEPS + LOADER.replace("2", "2, collate_fn=steps") + EPOCHS + "    steps.size = epoch\n",
        "steps.size = epoch",
        "print(1)",
    ),
    "ACC106: an item of a list that it holds": Pair(
        HEAD + HELD + "held = Held()\n" + LOADER.replace("files", "held") + EPOCHS + "    held.names[0] = epoch\n",
        "held.names[0] = epoch",
        "print(1)",
    ),
    "ACC106: a longer list that it holds": Pair(
        HEAD + HELD + "held = Held()\n" + LOADER.replace("files", "held") + EPOCHS + "    held.names.append(epoch)\n",
        "held.names.append(epoch)",
        "print(1)",
    ),
    "ACC106: a framework's loader": Pair(
        HEAD
        + "import lightning as L\nclass M(L.LightningDataModule):\n    def train_dataloader(self):\n        loader = DataLoader(files, num_workers=2)\n        for epoch in range(10):\n            for x in loader:\n                model(x).sum().backward()\n        return loader\n",
        "(L.LightningDataModule)",
    ),
    "ACC106: pipelines of torchrec": Pair(
        HEAD
        + "from torchrec.distributed.train_pipeline import TrainPipelineSparseDist\npipe = TrainPipelineSparseDist(model, conf.o)\n"
        + LOADER
        + EPOCHS
        + "    pipe.progress(iter(loader))\n",
        "torchrec.distributed.train_pipeline",
        "another.train_pipeline",
    ),
    "ACC106: many at once": Pair(
        HEAD
        + "loaders = {n: DataLoader(files, num_workers=2) for n in conf.names}\nfor epoch in range(10):\n    for n, loader in loaders.items():\n        for x in loader:\n            model(x).sum().backward()\n",
        "{n: DataLoader(files, num_workers=2) for n in conf.names}",
        "{'a': DataLoader(files, num_workers=2)}",
    ),
    "ACC106: many by a function": Pair(
        HEAD
        + "def make(n): return DataLoader(files, num_workers=2)\nloaders = [make(n) for n in conf.names]\nfor epoch in range(10):\n    for loader in loaders:\n        for x in loader:\n            model(x).sum().backward()\n",
        "[make(n) for n in conf.names]",
        "[make(1)]",
    ),
    "ACC106: torch 1.7 and pinned memory": Pair(
        HEAD + LOADER.replace("2", "2, pin_memory=True") + EPOCHS,
        ", pin_memory=True",
        "",
        {"requirements.txt": "torch>=1.7,<1.8\n"},
    ),
    "ACC106: a loop over loaders": Pair(
        HEAD + LOADER + "\nfor l in (loader, loader):\n    for x in l:\n        model(x)\n",
        "for l in (loader, loader):\n    for x in l",
        "for e in range(9):\n    for x in loader",
    ),
    "ACC106: single batches": Pair(
        HEAD + LOADER + "\nfor epoch in range(10):\n    x = next(iter(loader))\n    model(x)\n",
        "x = next(iter(loader))\n    model(x)",
        "for x in loader: model(x)",
    ),
    "ACC106: now and then": Pair(
        HEAD
        + LOADER
        + "\nfor epoch in range(9):\n    if epoch % 3 == 0:\n        for x in loader:\n            model(x)\n",
        "    if epoch % 3 == 0:\n        for x in loader:\n            model(x)",
        "    for x in loader:\n        model(x)",
    ),
    "ACC116: no shuffling": Pair(
        HEAD + SAMPLED.replace("(files)", "(files, shuffle=False)") + EPOCHS, ", shuffle=False"
    ),
    "ACC116: no shuffling, by position": Pair(
        HEAD + SAMPLED.replace("(files)", "(files, 2, 0, False)") + EPOCHS, ", False"
    ),
    "ACC116: a setting": Pair(HEAD + SAMPLED.replace("(files)", "(files, shuffle=conf.s)") + EPOCHS, "conf.s", "True"),
    "ACC116: one epoch": Pair(HEAD + SAMPLED + EPOCHS.replace("10", "1"), "(1)", "(10)"),
    "ACC116: one pass": Pair(
        HEAD + SAMPLED + EPOCHS.replace("for epoch in range(10)", "if True"), "if True", "for epoch in range(10)"
    ),
    "ACC116: told": Pair(
        HEAD + SAMPLED + EPOCHS + "    sampler.set_epoch(epoch)\n", "sampler.set_epoch(epoch)", "pass"
    ),
    "ACC116: told through the loader": Pair(
        HEAD + SAMPLED + EPOCHS + "    loader.sampler.set_epoch(epoch)\n", "loader.sampler.set_epoch(epoch)", "pass"
    ),
    "ACC116: a loader that is told": Pair(
        HEAD + SAMPLED + EPOCHS + "    loader.set_epoch(epoch)\n", "loader.set_epoch(epoch)", "pass"
    ),
    "ACC116: told in a function": Pair(
        HEAD + SAMPLED + EPOCHS + "def tell(l, e): l.sampler.set_epoch(e)\nfor i in range(3): tell(loader, i)\n",
        "l.sampler.set_epoch(e)",
        "pass",
    ),
    "ACC116: a class of its own": Pair(
        HEAD
        + "class Mine(DistributedSampler): pass\n"
        + SAMPLED.replace("sampler = Dist", "sampler = Mine or Dist").replace("Mine or DistributedSampler", "Mine")
        + EPOCHS,
        "= Mine(",
        "= DistributedSampler(",
    ),
    "ACC116: an unknown sampler": Pair(
        HEAD + SAMPLED.replace("DistributedSampler(", "conf.Sampler(") + EPOCHS, "conf.Sampler(", "DistributedSampler("
    ),
    "ACC116: one path of two": Pair(
        HEAD + SAMPLED.replace("(files)\n", "(files) if conf.d else None\n") + EPOCHS, " if conf.d else None"
    ),
    "ACC116: no training": Pair(
        HEAD + SAMPLED + EPOCHS.replace(".sum().backward()", ""), "model(x)\n", "model(x).sum().backward()\n"
    ),
    "ACC116: another seed in every epoch": Pair(
        HEAD
        + "for epoch in range(10):\n    sampler = DistributedSampler(files, seed=epoch)\n    loader = DataLoader(files, sampler=sampler)\n    for x in loader:\n        model(x).sum().backward()\n",
        "for epoch in range(10):\n    sampler = DistributedSampler(files, seed=epoch)\n    loader = DataLoader(files, sampler=sampler)\n",
        SAMPLED + "\nfor epoch in range(10):\n",
    ),
    **{f"ACC116: {name}": Pair(HEAD + source + SAMPLED + EPOCHS, source) for name, source in FRAMEWORKS.items()},
}


@pytest.mark.parametrize("case", PAIRS)
def test_silent_for_one_reason(case: str, tmp_path: Path) -> None:
    check_pair(case[:6], PAIRS[case], tmp_path)
