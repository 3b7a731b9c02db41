"""ACC107 dataloader-rebuilt-per-epoch, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..checks import Pair, check, check_one, check_pair, findings_of, fixed
from ..programs import FILES, STAGED_FILES


def built_in(loop: str, before: str = "", after: str = "", arguments: str = "files, num_workers=2") -> str:
    return (
        f"{loop}\n    {before or 'pass'}\n    loader = DataLoader({arguments})\n    for x in loader:\n"
        f"        model(x).sum().backward()\n    {after or 'pass'}\n"
    )


SILENT = {
    "over folds": built_in("for fold in conf.folds:"),
    "depends on the epoch": built_in("for epoch in range(9):", arguments="files, num_workers=2, batch_size=epoch"),
    "another data set each time": built_in("for epoch in range(9):", "files = conf.make()"),
    "the data set is changed": built_in("for epoch in range(9):", "files.advance()"),
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


@pytest.mark.parametrize("source", SILENT.values(), ids=SILENT.keys())
def test_silent_where_a_new_loader_may_be_needed(source: str, tmp_path: Path) -> None:
    check_one("ACC107", STAGED_FILES + source, tmp_path)


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


SETTINGS = {"hp.py": "size = 4\npath = 'x'\ndef grow():\n    pass\n"}
"""A module of the project that holds settings."""


def built_with_settings(before: str) -> str:
    return "import hp\n" + FILES + built(before=before, arguments="files, num_workers=2, batch_size=hp.size")


PAIRS = {
    "a setting that grows": Pair(built_with_settings("hp.size *= 2"), "hp.size *= 2", "print(hp.path)", SETTINGS),
    "settings that are given away": Pair(built_with_settings("conf.grow(hp)"), "(hp)", "(hp.path)", SETTINGS),
    "settings that may grow": Pair(built_with_settings("hp.grow()"), "hp.grow()", "print(hp.path)", SETTINGS),
    "unknown folds": Pair(FILES + built("for part in conf.folds:"), "conf.folds", "range(9)"),
    "folds": Pair(FILES + built("for fold in range(9):"), "fold", "epoch"),
    "seeds": Pair(FILES + built("for seed in range(9):"), "seed", "epoch"),
    "runs": Pair(FILES + built("for run in range(9):"), "run ", "epoch "),
    "an optimizer for each": Pair(
        FILES + built(before="opt = torch.optim.SGD(model.parameters())"),
        "opt = torch.optim.SGD(model.parameters())",
        "pass",
    ),
    "a seed for each": Pair(FILES + built(before="torch.manual_seed(epoch)"), "torch.manual_seed(epoch)", "pass"),
    "seed_everything": Pair(
        FILES + "import lightning as L\n" + built(before="L.seed_everything(epoch)"), "L.seed_everything(epoch)", "pass"
    ),
    "set_seed of the program": Pair(
        FILES + "def set_seed(s):\n    torch.manual_seed(s)\n" + built(before="set_seed(epoch)"),
        "set_seed(epoch)",
        "pass",
    ),
    "configurations": Pair(FILES + built("for lr in [0.1, 0.01]:"), "[0.1, 0.01]", "range(9)"),
    "the batch size": Pair(FILES + built(arguments="files, num_workers=2, batch_size=epoch"), "=epoch", "=4"),
    "a batch size that grows": Pair(
        FILES
        + "size = 4\n"
        + built(before="size = min(size * 2, 9)", arguments="files, num_workers=2, batch_size=size"),
        "size = min(size * 2, 9)",
        "pass",
    ),
    "a subset": Pair(FILES + built(arguments="Subset(files, range(epoch)), num_workers=2"), "range(epoch)", "range(9)"),
    "a subset by a name": Pair(
        FILES + built(before="part = Subset(files, conf.ids())", arguments="part, num_workers=2"), "part,", "files,"
    ),
    "a subset that an unknown function draws": Pair(
        FILES + built(arguments="Subset(files, conf.draw()), num_workers=2"), "conf.draw()", "[1]"
    ),
    "a subset at random": Pair(
        FILES + built(arguments="Subset(files, random.sample(range(9), 3)), num_workers=2"),
        "random.sample(range(9), 3)",
        "[1]",
    ),
    "the collate function": Pair(
        FILES + built(arguments="files, num_workers=2, collate_fn=functools.partial(take, at=epoch)"),
        "at=epoch",
        "at=1",
    ),
    "the sampler": Pair(
        FILES + built(arguments="files, num_workers=2, sampler=RandomSampler(files, num_samples=epoch)"), "=epoch", "=4"
    ),
    "a sampler that is given the epoch": Pair(
        FILES
        + "sampler = DistributedSampler(files)\n"
        + built(before="sampler.set_epoch(epoch)", arguments="files, num_workers=2, sampler=sampler"),
        "sampler.set_epoch(epoch)",
        "pass",
    ),
    "dropped on purpose": Pair(FILES + built(after="del loader"), "del loader", "pass"),
    "resized": Pair(FILES + built(before="files.resize(epoch)"), "files.resize(epoch)", "pass"),
    "an attribute of the data set": Pair(FILES + built(before="files.stage = epoch"), "files.stage = epoch", "pass"),
    "an attribute of what it is made of": Pair(
        FILES
        + "class T:\n    def __init__(self): self.size = 3\nt = T()\n"
        + built(before="t.size = epoch", arguments="Subset(files, t), num_workers=2"),
        "t.size = epoch",
        "pass",
    ),
    "a method that changes it": Pair(FILES + built(before="files.advance()"), "files.advance()", "pass"),
    "no workers": Pair(FILES + built(arguments="files"), "(files)", "(files, num_workers=2)"),
    "a setting": Pair(FILES + built(arguments="files, num_workers=conf.n"), "conf.n", "2"),
    "on a condition": Pair(
        FILES
        + "for epoch in range(9):\n    if epoch == 3:\n        loader = DataLoader(files, num_workers=2)\n    for x in loader:\n        model(x).sum().backward()\n",
        "if epoch == 3:\n        loader = ",
        "loader = ",
    ),
    "one epoch": Pair(FILES + built("for epoch in range(1):"), "range(1)", "range(9)"),
}


@pytest.mark.parametrize("case", PAIRS)
def test_silent_for_one_reason(case: str, tmp_path: Path) -> None:
    check_pair("ACC107", PAIRS[case], tmp_path)


def test_reports_a_loader_that_is_built_in_every_epoch(tmp_path: Path) -> None:
    source = built_in("for epoch in range(9):")
    check(STAGED_FILES + source.replace("=2)", "=2)  # -> ACC107 info unsafe"), tmp_path)
    after = fixed("ACC107", STAGED_FILES + built_in("for epoch in range(9):", after="torch.save(model, 'a')"), tmp_path)
    assert "loader = DataLoader(files, num_workers=2, persistent_workers=True)\nfor epoch in range(9):" in after
    assert after.count("DataLoader(") == 1


def test_the_comment_above_goes_with_it_and_no_empty_line_is_left(tmp_path: Path) -> None:
    loop = "    for x in loader:\n        model(x).sum().backward()\n"
    source = f"for epoch in range(9):\n    # a batch of files\n    loader = DataLoader(files, num_workers=2)\n\n{loop}"
    moved = (
        "# a batch of files\nloader = DataLoader(files, num_workers=2, persistent_workers=True)\n"
        f"for epoch in range(9):\n{loop}"
    )
    assert fixed("ACC107", STAGED_FILES + source, tmp_path).endswith(moved)
    about_all = source.replace("=2)\n\n", "=2)\n")
    kept = f"persistent_workers=True)\nfor epoch in range(9):\n    # a batch of files\n{loop}"
    assert fixed("ACC107", STAGED_FILES + about_all, tmp_path).endswith(kept)


def test_reports_a_loader_that_is_built_in_the_header(tmp_path: Path) -> None:
    source = "for epoch in range(9):\n    for x in DataLoader(files, num_workers=2):  # -> ACC107 info none\n        print(x)\n"
    check(STAGED_FILES + source, tmp_path)


IN_A_FUNCTION = """
def make(mode, size=16):
    rows = size * 2
    if mode == "test":
        return DataLoader(files, batch_size=32, num_workers=2)
    if mode == "train":
        return DataLoader(files, batch_size=rows, num_workers=2)  # -> info none

def run(epoch):
    loader = make("train")
    for x in loader:
        model(x).sum().backward()

for epoch in range(9):
    run(epoch)
"""
OTHERWISE_IN_EACH_EPOCH = {
    "by position": ('make("train")', 'make("train", epoch)'),
    "by keyword": ('make("train")', 'make("train", size=epoch)'),
    "what a local is made of": ("rows = size * 2", "rows = size * random.randint(1, 9)"),
    "at random": ('make("train")', 'make("train", random.randint(1, 9))'),
    "several at once": ('make("train")', 'make(*("train", epoch))'),
    "a name of the module": ("for epoch in range(9):", "for files in conf.folders:"),
    "the branch": ('make("train")', "make(conf.modes[epoch])"),
    "a loader given up": ("    run(epoch)", "    run(epoch)\n    del model.rest"),
}


def test_reports_a_loader_that_a_function_builds_in_every_epoch(tmp_path: Path) -> None:
    (found,) = check_one("ACC107", FILES + IN_A_FUNCTION, tmp_path)
    loop = (FILES + IN_A_FUNCTION)[: (FILES + IN_A_FUNCTION).index("for epoch")].count("\n") + 1
    assert f"in every pass of the loop in line {loop}," in found.message


@pytest.mark.parametrize("case", OTHERWISE_IN_EACH_EPOCH)
def test_silent_about_a_function_that_builds_another_one_each_time(case: str, tmp_path: Path) -> None:
    with_epochs, without = OTHERWISE_IN_EACH_EPOCH[case]
    source = (FILES + IN_A_FUNCTION).replace("  # -> info none", "")
    check_pair("ACC107", Pair(source.replace(with_epochs, without), without, with_epochs), tmp_path)


def test_names_the_file_of_the_loop_over_epochs(tmp_path: Path) -> None:
    epochs = "def learn(make, model):\n    for epoch in range(9):\n        for x in make():\n            model(x).sum().backward()\n"
    source = "def make():\n    return DataLoader(files, num_workers=2)\nlearn(make, model)\n"
    (found,) = findings_of(
        "ACC107", FILES + "from epochs import learn\n" + source, tmp_path, {"epochs.py": "import torch\n" + epochs}
    )
    assert f"in every pass of the loop in line 3 of {tmp_path / 'epochs.py'}," in found.message


USED_UP = (
    FILES
    + """
def batches(size):
    loader = DataLoader(files, batch_size=size, num_workers=2)
    loader = iter(loader)
    while True:
        try:
            yield next(loader)
        except StopIteration:
            loader = DataLoader(files, batch_size=size, num_workers=2)  # -> info
            loader = iter(loader)
            yield next(loader)
for step, x in zip(range(9), batches(4)):
    model(x).sum().backward()
"""
)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("StopIteration", "OSError"),
        ("size, num_workers=2)  # -> info", "size)"),
        ("            loader = DataLoader(files,", "            size += 1\n            loader = DataLoader(files,"),
    ],
    ids=["another error", "no workers", "of something else"],
)
def test_a_loader_that_is_built_again_where_it_is_used_up(old: str, new: str, tmp_path: Path) -> None:
    check_one("ACC107", USED_UP, tmp_path)
    check_one("ACC107", USED_UP.replace(old, new).replace("  # -> info", ""), tmp_path)


BY_MODE = """
def build(mode):
    if mode == "train":
        return DataLoader(files, num_workers=2)
    elif mode == "test":
        return DataLoader(files, num_workers=4)
for epoch in range(9):
    for x in build("train"):
        model(x).sum().backward()
    for x in build("test"):
        model(x)
"""


def test_each_branch_counts_in_the_calls_that_take_it(tmp_path: Path) -> None:
    assert [one.span.start.row for one in findings_of("ACC107", STAGED_FILES + BY_MODE, tmp_path)] == [
        at for at, line in enumerate((STAGED_FILES + BY_MODE).splitlines(), 1) if "DataLoader(files" in line
    ]
    unasked = BY_MODE.replace('    for x in build("test"):\n        model(x)\n', "")
    assert len(findings_of("ACC107", STAGED_FILES + unasked, tmp_path)) == 1
