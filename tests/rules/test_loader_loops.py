"""ACC106, ACC107, ACC108 and ACC116, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from .marked import check, findings_in, fixed
from .programs import IMPORTS

HEAD = (
    IMPORTS
    + """
import argparse, conf
from torch.utils.data import DistributedSampler
model = nn.Linear(8, 2)
class Files(Dataset):
    def __init__(self): self.stage = 0
    def __len__(self): return 2
    def __getitem__(self, i): return torch.load(str(self.stage))
    def advance(self): self.stage += 1
parser = argparse.ArgumentParser()
parser.add_argument("--workers", type=int, default=2)
args = parser.parse_args()
files = Files()
"""
)
EPOCHS = """
for epoch in range(10):
    for x in loader:
        model(x).sum().backward()
"""
LOADER = "loader = DataLoader(files, num_workers=2)"

SILENT_PERSISTENT = {
    "one pass": LOADER + "\nfor x in loader:\n    model(x).sum().backward()\n",
    "one epoch": LOADER + EPOCHS.replace("10", "1"),
    "no workers": LOADER.replace("2", "0") + EPOCHS,
    "workers from an option": LOADER.replace("2", "args.workers") + EPOCHS,
    "given": LOADER.replace("2", "2, persistent_workers=False") + EPOCHS,
    "from a dict": LOADER.replace("2", "2, **conf.loader") + EPOCHS,
    "unknown data": LOADER.replace("files", "conf.data") + EPOCHS,
    "attribute of the data set assigned": LOADER + EPOCHS + "    files.stage = epoch\n",
    "attribute assigned through the loader": LOADER + EPOCHS + "    loader.dataset.stage = epoch\n",
    "the data set changes itself": LOADER + EPOCHS + "    files.advance()\n",
    "told by a method that is not seen": LOADER + EPOCHS + "    loader.dataset.set_transform(epoch)\n",
    "samples are added": (
        "class Replay(Files):\n    def __init__(self): self.names = []\n    def add(self, name): self.names.append(name)\n"
        "replay = Replay()\n" + LOADER.replace("files", "replay") + EPOCHS + "    replay.add(epoch)\n"
    ),
    "epoch of a library's data set": (
        "import datasets\ndata = datasets.load_dataset('c4')\n"
        + LOADER.replace("files", "data")
        + EPOCHS
        + "    data.set_epoch(epoch)\n"
    ),
    "single batches": (
        LOADER
        + "\nfor epoch in range(10):\n    for step in range(9):\n"
        + "        if step == 0:\n            print(next(iter(loader)))\n"
    ),
    "over folds": (
        "for fold in conf.folds:\n    loader = DataLoader(files, num_workers=2)\n    for x in loader:\n"
        "        model(x).sum().backward()\n"
    ),
    "over loaders": (
        "a = DataLoader(files, num_workers=2)\nb = DataLoader(files, num_workers=3)\nfor loader in (a, b):\n"
        "    for x in loader:\n        model(x).sum().backward()\n"
    ),
    "now and then": (
        LOADER + "\nfor epoch in range(9):\n    if epoch % 3 == 0:\n        for x in loader:\n            model(x)\n"
    ),
    "another loader's epochs, through one function": (
        "def run(batches):\n    for x in batches:\n        model(x).sum().backward()\n"
        "for epoch in range(9):\n    run(DataLoader(files))\n" + LOADER + "\nrun(loader)\n"
    ),
}


@pytest.mark.parametrize("source", SILENT_PERSISTENT.values(), ids=SILENT_PERSISTENT.keys())
def test_silent_where_workers_start_once_or_must_start_anew(source: str, tmp_path: Path) -> None:
    found = findings_in(HEAD + source, tmp_path)[1]
    assert [one.message for one in found if one.code == "ACC106"] == []


def test_reports_workers_that_start_in_every_epoch(tmp_path: Path) -> None:
    check(HEAD + LOADER + "  # -> ACC106 info unsafe" + EPOCHS, tmp_path)


def test_sees_the_loop_through_a_function(tmp_path: Path) -> None:
    source = """
def train(batches):
    for x in batches:
        model(x).sum().backward()
def main():
    loader = DataLoader(files, num_workers=2)  # -> ACC106 info unsafe
    for epoch in range(args.workers):
        train(loader)
main()
"""
    check(HEAD + source, tmp_path)


def test_names_the_file_of_the_loop(tmp_path: Path) -> None:
    epochs = (
        "def fit(loader, step):\n    for epoch in range(9):\n        for x in loader:\n            step(x).backward()\n"
    )
    found = check(
        HEAD + "import epochs\n" + LOADER + "  # -> ACC106 info unsafe\nepochs.fit(loader, model)\n",
        tmp_path,
        {"epochs.py": epochs},
    )
    assert f"the loop in line 2 of {tmp_path / 'epochs.py'}" in found[0].message


def test_says_where_a_start_is_dear(tmp_path: Path) -> None:
    project = (
        "[project]\nname = 'x'\nrequires-python = '>=3.10'\nclassifiers = ['Programming Language :: Python :: 3.14']\n"
    )
    found = findings_in(HEAD + LOADER + EPOCHS, tmp_path, {"pyproject.toml": project})[1]
    messages = [one.message for one in found if one.code == "ACC106"]
    assert ["by forkserver (from Python 3.14 on), which imports" in one for one in messages] == [True]


SPAWNED = {
    "its own context": (LOADER.replace("2", "2, multiprocessing_context='spawn'"), {}),
    "the program's": ("torch.multiprocessing.set_start_method('forkserver')\n" + LOADER, {}),
    "the project's Python": (LOADER, {"pyproject.toml": "[project]\nname = 'x'\nrequires-python = '>=3.14'\n"}),
}


@pytest.mark.parametrize(("source", "others"), SPAWNED.values(), ids=SPAWNED.keys())
def test_warns_where_a_start_is_dear(source: str, others: dict[str, str], tmp_path: Path) -> None:
    found = findings_in(HEAD + source + EPOCHS, tmp_path, others)[1]
    assert [str(one.severity) for one in found if one.code == "ACC106"] == ["warning"]


def built_in(loop: str, before: str = "", after: str = "", arguments: str = "files, num_workers=2") -> str:
    return (
        f"{loop}\n    {before or 'pass'}\n    loader = DataLoader({arguments})\n    for x in loader:\n"
        f"        model(x).sum().backward()\n    {after or 'pass'}\n"
    )


SILENT_REBUILT = {
    "over folds": built_in("for fold in conf.folds:"),
    "depends on the epoch": built_in("for epoch in range(9):", arguments="files, num_workers=2, batch_size=epoch"),
    "another data set each time": built_in("for epoch in range(9):", "files = conf.make()"),
    "the data set is told": built_in("for epoch in range(9):", "files.advance()"),
    "dropped on purpose": built_in("for epoch in range(9):", after="del loader"),
    "no workers": built_in("for epoch in range(9):", arguments="files"),
    "on a condition": "for epoch in range(9):\n    if epoch == 3:\n        loader = DataLoader(files, num_workers=2)\n"
    "    for x in loader:\n        model(x).sum().backward()\n",
    "over seeds": built_in("for seed in range(9):", "torch.manual_seed(seed)"),
    "another optimizer each time": built_in("for fold in range(9):", "opt = torch.optim.SGD(model.parameters())"),
    "once for each run": (
        "for run in range(3):\n    loader = DataLoader(files, num_workers=2, persistent_workers=True)\n"
        "    for epoch in range(9):\n        for x in loader:\n            model(x).sum().backward()\n"
    ),
}


@pytest.mark.parametrize("source", SILENT_REBUILT.values(), ids=SILENT_REBUILT.keys())
def test_silent_where_a_new_loader_may_be_needed(source: str, tmp_path: Path) -> None:
    found = findings_in(HEAD + source, tmp_path)[1]
    assert [one.message for one in found if one.code == "ACC107"] == []


def test_reports_a_loader_that_is_built_in_every_epoch(tmp_path: Path) -> None:
    source = built_in("for epoch in range(9):")
    check(HEAD + source.replace("=2)", "=2)  # -> ACC107 info unsafe"), tmp_path)
    after = fixed(HEAD + built_in("for epoch in range(9):", after="torch.save(model, 'a')"), tmp_path, "ACC107")
    assert "loader = DataLoader(files, num_workers=2, persistent_workers=True)\nfor epoch in range(9):" in after
    assert after.count("DataLoader(") == 1


def test_reports_a_loader_that_is_built_in_the_header(tmp_path: Path) -> None:
    source = "for epoch in range(9):\n    for x in DataLoader(files, num_workers=2):  # -> ACC107 info none\n        print(x)\n"
    check(HEAD + source, tmp_path)


SILENT_NEXT = {
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


@pytest.mark.parametrize("source", SILENT_NEXT.values(), ids=SILENT_NEXT.keys())
def test_silent_about_iterators_that_are_made_once(source: str, tmp_path: Path) -> None:
    check(HEAD + source, tmp_path)


def test_reports_a_loader_that_is_begun_anew_for_each_batch(tmp_path: Path) -> None:
    loop = "\nfor i in range(9):\n    x = next(iter(loader))  # -> ACC108 warning none\n"
    assert "same first batch" in check(HEAD + LOADER + loop, tmp_path)[0].message
    recursive = "\ndef go(n):\n    for x in loader:\n        go(n - 1)\n\ngo(3)\n"
    check(HEAD + LOADER.replace("2", "2, persistent_workers=True") + recursive + loop, tmp_path)
    shuffled = LOADER.replace("2", "2, shuffle=True")
    assert "starts its workers anew in every" in check(HEAD + shuffled + loop, tmp_path)[0].message
    check(HEAD + "loader = DataLoader(files)" + loop, tmp_path)


SAMPLED = "sampler = DistributedSampler(files)\nloader = DataLoader(files, sampler=sampler)"
SILENT_EPOCHS = {
    "not shuffled": SAMPLED.replace("(files)", "(files, shuffle=False)") + EPOCHS,
    "one epoch": SAMPLED + EPOCHS.replace("10", "1"),
    "told": SAMPLED + EPOCHS + "    sampler.set_epoch(epoch)\n",
    "told through the loader": SAMPLED + EPOCHS + "    loader.sampler.set_epoch(epoch)\n",
    "a framework": "import accelerate\naccelerator = accelerate.Accelerator()\n" + SAMPLED + EPOCHS,
    "its own sampler": "class Mine(DistributedSampler): pass\n" + SAMPLED.replace("= D", "= Mine or D") + EPOCHS,
    "on one path": SAMPLED.replace("(files)", "(files) if conf.ddp else None") + EPOCHS,
    "nothing is trained": SAMPLED + "\nfor i in range(9):\n    for x in loader:\n        print(x)\n",
}


@pytest.mark.parametrize("source", SILENT_EPOCHS.values(), ids=SILENT_EPOCHS.keys())
def test_silent_where_the_order_changes_or_need_not(source: str, tmp_path: Path) -> None:
    found = findings_in(HEAD + source, tmp_path)[1]
    assert [one.message for one in found if one.code == "ACC116"] == []


def test_reports_the_same_order_in_every_epoch(tmp_path: Path) -> None:
    source = SAMPLED + "  # -> ACC116 warning unsafe" + EPOCHS
    check(HEAD + source, tmp_path)
    assert "    loader.sampler.set_epoch(epoch)\n    for x in" in fixed(HEAD + source, tmp_path, "ACC116")
