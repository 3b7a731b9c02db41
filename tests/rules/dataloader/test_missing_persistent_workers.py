"""ACC106 dataloader-missing-persistent-workers, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from accel_advisor.analysis.project import analyze
from accel_advisor.finding import Confidence
from accel_advisor.rule import registry
from accel_advisor.source.document import Document

from ..checks import Pair, check, check_one, check_pair, findings_in, findings_of, fixed
from ..programs import EPOCHS, FILES, STAGED_FILES

LOADER = "loader = DataLoader(files, num_workers=2)"
SILENT = {
    "one pass": LOADER + "\nfor x in loader:\n    model(x).sum().backward()\n",
    "one epoch": LOADER + EPOCHS.replace("10", "1"),
    "no workers": LOADER.replace("2", "0") + EPOCHS,
    "given": LOADER.replace("2", "2, persistent_workers=False") + EPOCHS,
    "from a dict": LOADER.replace("2", "2, **conf.loader") + EPOCHS,
    "unknown data that the epochs have": LOADER.replace("files", "conf.data") + EPOCHS + "    conf.change(conf.data)\n",
    "attribute of the data set assigned": LOADER + EPOCHS + "    files.stage = epoch\n",
    "attribute assigned through the loader": LOADER + EPOCHS + "    loader.dataset.stage = epoch\n",
    "the data set changes itself": LOADER + EPOCHS + "    files.advance()\n",
    "changed by a method that is not seen": LOADER + EPOCHS + "    loader.dataset.set_transform(epoch)\n",
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


@pytest.mark.parametrize("source", SILENT.values(), ids=SILENT.keys())
def test_silent_where_workers_start_once_or_must_start_again(source: str, tmp_path: Path) -> None:
    check_one("ACC106", STAGED_FILES + source, tmp_path)


OPTION = """
parser = argparse.ArgumentParser()
parser.add_argument("--n", type=int, default=2)
args = parser.parse_args()
"""
STEPS = "class Steps:\n    def __init__(self): self.size = 3\n    def __call__(self, x): return x\nsteps = Steps()\n"
HELD = "class Held(Files):\n    def __init__(self, held=None): self.stage, self.held, self.names = 0, held, ['a']\n"
PAIRS = {
    "one pass": Pair(
        FILES + LOADER + "\nif 1:\n    for x in loader:\n        model(x).sum().backward()\n",
        "if 1",
        "for epoch in range(10)",
    ),
    "one epoch": Pair(FILES + LOADER + EPOCHS.replace("10", "1"), "range(1)", "range(10)"),
    "no workers": Pair(FILES + LOADER.replace("2", "0") + EPOCHS, "=0", "=2"),
    "samples in memory": Pair(
        FILES + LOADER.replace("files", "TensorDataset(torch.zeros(64, 8))") + EPOCHS.replace("x in", "(x,) in"),
        "TensorDataset(torch.zeros(64, 8))",
        "files",
    ),
    "workers not given": Pair(
        FILES + LOADER.replace(", num_workers=2", "") + EPOCHS, "(files)", "(files, num_workers=2)"
    ),
    "an option that is 0 by default": Pair(
        FILES + OPTION.replace("2", "0") + LOADER.replace("2", "args.n") + EPOCHS, "default=0", "default=2"
    ),
    "unknown workers among keywords": Pair(
        FILES + LOADER.replace("num_workers=2", "**dict(num_workers=conf.n)") + EPOCHS,
        "**dict(num_workers=conf.n)",
        "num_workers=conf.n",
    ),
    "an option among keywords that is 0 by default": Pair(
        FILES + OPTION.replace("2", "0") + LOADER.replace("num_workers=2", "**dict(num_workers=args.n)") + EPOCHS,
        "default=0",
        "default=2",
    ),
    "workers among keywords that are given on the CPU only": Pair(
        FILES + "k = {} if conf.cuda else {'num_workers': 0}\n" + LOADER.replace("num_workers=2", "**k") + EPOCHS,
        "{} if conf.cuda else {'num_workers': 0}",
        "{'num_workers': 5} if conf.cuda else {}",
    ),
    "given": Pair(FILES + LOADER.replace("2", "2, persistent_workers=False") + EPOCHS, ", persistent_workers=False"),
    "a setting": Pair(
        FILES + LOADER.replace("2", "2, persistent_workers=conf.p") + EPOCHS, ", persistent_workers=conf.p"
    ),
    "unknown keywords": Pair(FILES + LOADER.replace("2", "2, **conf.p") + EPOCHS, ", **conf.p"),
    "built in every epoch": Pair(
        FILES
        + "for epoch in range(10):\n    loader = DataLoader(files, num_workers=2)\n    for x in loader:\n        model(x).sum().backward()\n",
        "for epoch in range(10):\n    loader = DataLoader(files, num_workers=2)\n",
        "loader = DataLoader(files, num_workers=2)\nfor epoch in range(10):\n",
    ),
    "gone over within itself": Pair(
        FILES + LOADER + EPOCHS + "        for y in loader:\n            print(y)\n", "for y in loader", "for y in x"
    ),
    "unknown data that the epochs have": Pair(
        FILES + LOADER.replace("files", "conf.data") + EPOCHS + "    conf.change(conf.data)\n", "conf.change", "len"
    ),
    "unknown data that the epochs have through the loader": Pair(
        FILES + LOADER.replace("files", "conf.data") + EPOCHS + "    loader.dataset.stage = 1\n",
        "loader.dataset.stage = 1",
        "print(len(loader.dataset))",
    ),
    "an attribute": Pair(
        FILES + LOADER + EPOCHS + "    files.stage = epoch\n", "files.stage = epoch", "print(files.stage)"
    ),
    "an attribute through the loader": Pair(
        FILES + LOADER + EPOCHS + "    loader.dataset.stage = epoch\n",
        "loader.dataset.stage = epoch",
        "print(loader.dataset.stage)",
    ),
    "a method that changes it": Pair(FILES + LOADER + EPOCHS + "    files.advance()\n", "advance()", "look()"),
    "set_epoch": Pair(FILES + LOADER + EPOCHS + "    files.set_epoch(epoch)\n", "set_epoch(epoch)", "look()"),
    "set_transform through the loader": Pair(
        FILES + LOADER + EPOCHS + "    loader.dataset.set_transform(epoch)\n", "set_transform(epoch)", "look()"
    ),
    "set_epoch of datasets": Pair(
        FILES
        + "d = datasets.load_dataset('c4')\n"
        + LOADER.replace("files", "d")
        + EPOCHS
        + "    d.set_epoch(epoch)\n",
        "d.set_epoch(epoch)",
        "print(epoch)",
    ),
    "set_transform of datasets": Pair(
        FILES
        + "d = datasets.load_dataset('c4')\n"
        + LOADER.replace("files", "d")
        + EPOCHS
        + "    d.set_transform(conf.t)\n",
        "d.set_transform(conf.t)",
        "print(epoch)",
    ),
    "an attribute through a part": Pair(
        FILES
        + "part = Subset(files, [1])\n"
        + LOADER.replace("files", "part")
        + EPOCHS
        + "    part.dataset.stage = epoch\n",
        "part.dataset.stage = epoch",
        "print(1)",
    ),
    "an attribute of what it is a part of": Pair(
        FILES + "part = Subset(files, [1])\n" + LOADER.replace("files", "part") + EPOCHS + "    files.stage = epoch\n",
        "files.stage = epoch",
        "print(1)",
    ),
    "an attribute through the loader of a part": Pair(
        FILES
        + "part = Subset(files, [1])\n"
        + LOADER.replace("files", "part")
        + EPOCHS
        + "    loader.dataset.dataset.stage = epoch\n",
        "loader.dataset.dataset.stage = epoch",
        "print(1)",
    ),
    "other indices": Pair(
        FILES
        + "part = Subset(files, [1])\n"
        + LOADER.replace("files", "part")
        + EPOCHS
        + "    part.indices = conf.sample(epoch)\n",
        "part.indices = conf.sample(epoch)",
        "print(1)",
    ),
    "another transform": Pair(
        FILES
        + "from torchvision.datasets import ImageFolder\nd = ImageFolder('a')\n"
        + LOADER.replace("files", "d")
        + EPOCHS.replace("x in", "x, y in")
        + "    d.transform = conf.t(epoch)\n",
        "d.transform = conf.t(epoch)",
        "print(1)",
    ),
    "an unknown function": Pair(
        FILES + LOADER + EPOCHS + "    conf.change(files, epoch)\n", "conf.change(files, epoch)", "print(1)"
    ),
    "an attribute of what it holds": Pair(
        FILES
        + STEPS
        + HELD
        + "held = Held(steps)\n"
        + LOADER.replace("files", "held")
        + EPOCHS
        + "    steps.size = epoch\n",
        "steps.size = epoch",
        "print(1)",
    ),
    "an attribute of a transform": Pair(
        FILES
        + STEPS
        + "from torchvision.datasets import ImageFolder\nd = ImageFolder('a', transform=steps)\n"
        + LOADER.replace("files", "d")
        + EPOCHS.replace("x in", "x, y in")
        + "    steps.size = epoch\n",
        "steps.size = epoch",
        "print(1)",
    ),
    "an attribute of the collate function": Pair(
        FILES + STEPS + LOADER.replace("2", "2, collate_fn=steps") + EPOCHS + "    steps.size = epoch\n",
        "steps.size = epoch",
        "print(1)",
    ),
    "an item of a list that it holds": Pair(
        FILES + HELD + "held = Held()\n" + LOADER.replace("files", "held") + EPOCHS + "    held.names[0] = epoch\n",
        "held.names[0] = epoch",
        "print(1)",
    ),
    "a longer list that it holds": Pair(
        FILES + HELD + "held = Held()\n" + LOADER.replace("files", "held") + EPOCHS + "    held.names.append(epoch)\n",
        "held.names.append(epoch)",
        "print(1)",
    ),
    "a framework's loader": Pair(
        FILES
        + "import lightning as L\nclass M(L.LightningDataModule):\n    def train_dataloader(self):\n        loader = DataLoader(files, num_workers=2)\n        for epoch in range(10):\n            for x in loader:\n                model(x).sum().backward()\n        return loader\n",
        "(L.LightningDataModule)",
    ),
    "pipelines of torchrec": Pair(
        FILES
        + "from torchrec.distributed.train_pipeline import TrainPipelineSparseDist\npipe = TrainPipelineSparseDist(model, conf.o)\n"
        + LOADER
        + EPOCHS
        + "    pipe.progress(iter(loader))\n",
        "torchrec.distributed.train_pipeline",
        "another.train_pipeline",
    ),
    "many at once": Pair(
        FILES
        + "loaders = {n: DataLoader(files, num_workers=2) for n in conf.names}\nfor epoch in range(10):\n    for n, loader in loaders.items():\n        for x in loader:\n            model(x).sum().backward()\n",
        "{n: DataLoader(files, num_workers=2) for n in conf.names}",
        "{'a': DataLoader(files, num_workers=2)}",
    ),
    "many by a function": Pair(
        FILES
        + "def make(n): return DataLoader(files, num_workers=2)\nloaders = [make(n) for n in conf.names]\nfor epoch in range(10):\n    for loader in loaders:\n        for x in loader:\n            model(x).sum().backward()\n",
        "[make(n) for n in conf.names]",
        "[make(1)]",
    ),
    "a loop over loaders": Pair(
        FILES + LOADER + "\nfor l in (loader, loader):\n    for x in l:\n        model(x)\n",
        "for l in (loader, loader):\n    for x in l",
        "for e in range(9):\n    for x in loader",
    ),
    "single batches": Pair(
        FILES + LOADER + "\nfor epoch in range(10):\n    x = next(iter(loader))\n    model(x)\n",
        "x = next(iter(loader))\n    model(x)",
        "for x in loader: model(x)",
    ),
    "now and then": Pair(
        FILES
        + LOADER
        + "\nfor epoch in range(9):\n    if epoch % 3 == 0:\n        for x in loader:\n            model(x)\n",
        "    if epoch % 3 == 0:\n        for x in loader:\n            model(x)",
        "    for x in loader:\n        model(x)",
    ),
}


@pytest.mark.parametrize("case", PAIRS)
def test_silent_for_one_reason(case: str, tmp_path: Path) -> None:
    check_pair("ACC106", PAIRS[case], tmp_path)


def test_reports_workers_that_put_graphs_together(tmp_path: Path) -> None:
    graphs = "from torch_geometric.datasets import ModelNet\nfrom torch_geometric.loader import DataLoader\n"
    loader = LOADER.replace("files", "ModelNet('m')") + "  # -> info unsafe"
    check_one("ACC106", STAGED_FILES + graphs + loader + EPOCHS, tmp_path)


@pytest.mark.parametrize(("pins", "barred"), [(", pin_memory=True", True), ("", False)])
def test_silent_where_the_project_rules_out_what_it_takes(pins: str, barred: bool, tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text("torch>=1.7,<1.8\n")
    loader = LOADER.replace("2", f"2{pins}") + ("" if barred else "  # -> info unsafe")
    check_one("ACC106", STAGED_FILES + loader + EPOCHS, tmp_path)


@pytest.mark.parametrize(("toolkit", "barred"), [("9.0", True), ("9.2", False)])
def test_silent_where_no_torch_that_has_them_was_built_for_the_toolkit(
    toolkit: str, barred: bool, tmp_path: Path
) -> None:
    (tmp_path / "environment.yml").write_text(f"dependencies:\n  - pytorch\n  - cudatoolkit={toolkit}\n")
    check_one("ACC106", STAGED_FILES + LOADER + ("" if barred else "  # -> info unsafe") + EPOCHS, tmp_path)


@pytest.mark.parametrize(
    ("read", "stated", "other", "barred"),
    [
        ("loss.data[0]", "", "loss.data[0]", True),
        ("loss.data", "", "loss.data[0]", False),
        ("loss.data[0]", "torch>=0.3", "loss.data[0]", True),
        ("loss.data[0]", "torch>=1.0", "loss.data[0]", False),
        ("loss.data[0], conf.old(loss)", "", "loss.data[0]", True),
        ("loss.data[0], loss.item()", "", "loss.data[0]", False),
        ("loss.data[0]", "", "loss", False),
    ],
)
def test_minor_where_every_training_reads_its_loss_as_torch_did_until_0_4(
    read: str, stated: str, other: str, barred: bool, tmp_path: Path
) -> None:
    (tmp_path / "requirements.txt").write_text(f"{stated}\n")
    trains = "loss = model(x).sum()\n        loss.backward()\n        print("
    epochs = EPOCHS.replace("model(x).sum().backward()", f"{trains}{read})").replace("10", "100")
    beside = "import torch\nmodel = torch.nn.Linear(2, 2)\n" + EPOCHS.replace("loader", "torch.zeros(9, 2)")
    (tmp_path / "beside.py").write_text(beside.replace("model(x).sum().backward()", f"{trains}{other})"))
    (tmp_path / "train.py").write_text(STAGED_FILES + "import beside\n" + LOADER + epochs)
    documents = [Document.read(tmp_path / name) for name in ("beside.py", "train.py")]
    facts = analyze(documents, tmp_path).facts[str(tmp_path / "train.py")]
    (found,) = registry()["ACC106"].check(facts)
    assert found.message.endswith("(torch 1.7 or later, which this program is too old for)") == barred
    assert (found.minor, found.fix is None) == (barred, barred)


def test_reports_workers_that_start_in_every_epoch(tmp_path: Path) -> None:
    check(STAGED_FILES + LOADER + "  # -> ACC106 info unsafe" + EPOCHS, tmp_path)


@pytest.mark.parametrize(
    ("given", "words", "keep"),
    [
        ("args.n", "(`args.n`, 2 by default)", "args.n > 0"),
        ("conf.n", "(`conf.n`)", "conf.n > 0"),
        ("max(args.n, conf.n)", "(`max(args.n, conf.n)`)", "max(args.n, conf.n) > 0"),
        ("args.n if conf.n else 1", "", "(args.n if conf.n else 1) > 0"),
        ("__import__('os').cpu_count()", "", "True"),
    ],
)
def test_keeps_workers_whose_number_is_decided_elsewhere(given: str, words: str, keep: str, tmp_path: Path) -> None:
    source = STAGED_FILES + OPTION + LOADER.replace("2", given) + "  # -> info unsafe" + EPOCHS
    (found,) = check_one("ACC106", source, tmp_path)
    assert words in found.message
    assert found.confidence is Confidence.EVIDENT
    assert f"persistent_workers={keep})" in fixed("ACC106", source, tmp_path)


FOLDER = "from torchvision.datasets import ImageFolder\nd = ImageFolder('a')\n"
BATCHES = EPOCHS.replace("x in", "x, y in")


def test_reports_a_data_set_that_is_changed_before_its_loader_is_built(tmp_path: Path) -> None:
    changed = STAGED_FILES + FOLDER + "d.transform = conf.t\n" + LOADER.replace("files", "d")
    check_one("ACC106", f"{changed}  # -> info unsafe{BATCHES}", tmp_path)


CHANGED = {
    "in the loop": "",
    "by a function that the loop calls": "def change():\n    d.transform = conf.t\n",
}


@pytest.mark.parametrize("before", CHANGED.values(), ids=CHANGED.keys())
def test_silent_where_it_is_changed_later(before: str, tmp_path: Path) -> None:
    change = "    change()\n" if before else "    d.transform = conf.t\n"
    source = STAGED_FILES + FOLDER + before + LOADER.replace("files", "d") + BATCHES + change
    check_pair("ACC106", Pair(source, change), tmp_path)


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
    check(STAGED_FILES + source, tmp_path)


def test_names_the_file_of_the_loop(tmp_path: Path) -> None:
    epochs = (
        "def fit(loader, step):\n    for epoch in range(9):\n        for x in loader:\n            step(x).backward()\n"
    )
    found = check(
        STAGED_FILES + "import epochs\n" + LOADER + "  # -> ACC106 info unsafe\nepochs.fit(loader, model)\n",
        tmp_path,
        {"epochs.py": epochs},
    )
    assert f"the loop in line 2 of {tmp_path / 'epochs.py'}" in found[0].message


def test_says_where_a_start_is_dear(tmp_path: Path) -> None:
    project = (
        "[project]\nname = 'x'\nrequires-python = '>=3.10'\nclassifiers = ['Programming Language :: Python :: 3.14']\n"
    )
    found = findings_in(STAGED_FILES + LOADER + EPOCHS, tmp_path, {"pyproject.toml": project})[1]
    messages = [one.message for one in found if one.code == "ACC106"]
    assert ["by forkserver (from Python 3.14 on), which imports" in one for one in messages] == [True]


SPAWNED = {
    "its own context": (LOADER.replace("2", "2, multiprocessing_context='spawn'"), {}),
    "the program's": ("torch.multiprocessing.set_start_method('forkserver')\n" + LOADER, {}),
    "the project's Python": (LOADER, {"pyproject.toml": "[project]\nname = 'x'\nrequires-python = '>=3.14'\n"}),
}


@pytest.mark.parametrize(("source", "others"), SPAWNED.values(), ids=SPAWNED.keys())
def test_warns_where_a_start_is_dear(source: str, others: dict[str, str], tmp_path: Path) -> None:
    found = findings_in(STAGED_FILES + source + EPOCHS, tmp_path, others)[1]
    assert [str(one.severity) for one in found if one.code == "ACC106"] == ["warning"]


def test_unknown_data_is_taken_to_stay_as_it_is(tmp_path: Path) -> None:
    (found,) = check_one("ACC106", FILES + LOADER.replace("files", "conf.data") + "  # -> info" + EPOCHS, tmp_path)
    assert found.confidence is Confidence.EVIDENT
    assert "assuming that no epoch changes the data set" in found.message


GIVEN = """
def make(workers=2):
    return DataLoader(files, num_workers=workers)
loader = make()
"""


def test_the_fix_holds_for_callers_who_want_no_workers(tmp_path: Path) -> None:
    text = fixed("ACC106", FILES + GIVEN + EPOCHS, tmp_path)
    assert "num_workers=workers, persistent_workers=workers > 0)" in text
    assert "num_workers=2, persistent_workers=True)" in fixed("ACC106", FILES + LOADER + EPOCHS, tmp_path)


@pytest.mark.parametrize("data", ["files = Held()\n", FOLDER + "files = d\n"], ids=["own", "of torchvision"])
def test_what_is_set_once_before_the_epochs_is_known_to_all_workers(data: str, tmp_path: Path) -> None:
    once = STAGED_FILES + HELD + data + LOADER + "  # -> info unsafe\nloader.dataset.stage = 1\n"
    epochs = EPOCHS if "Held" in data else BATCHES
    check_one("ACC106", once + epochs, tmp_path)
    check_one(
        "ACC106", (once + epochs + "loader.dataset.stage = 2" + epochs).replace("  # -> info unsafe", ""), tmp_path
    )


def test_a_function_that_the_data_holds_changes_nothing_in_it(tmp_path: Path) -> None:
    source = (
        FILES + HELD + "held = Held(conf.clean)\n" + LOADER.replace("files", "held") + EPOCHS + "    held.held('a')\n"
    )
    check_pair(
        "ACC106", Pair(source.replace("held.held('a')", "held.set_stage(1)"), "set_stage(1)", "held('a')"), tmp_path
    )


def test_epochs_of_each_run_are_epochs(tmp_path: Path) -> None:
    run = "    loader = DataLoader(files, num_workers=2)  # -> info unsafe\n    for epoch in range(9):\n"
    run += "        for x in loader:\n            model(x).sum().backward()\n"
    check_one("ACC106", f"{STAGED_FILES}for run in range(3):\n{run}", tmp_path)
    kept = f"{STAGED_FILES}loaders = []\nfor run in range(3):\n    loaders.append(DataLoader(files, num_workers=2))\n"
    check_one("ACC106", kept + "for epoch in range(9):\n    for x in loaders[epoch]:\n        model(x)\n", tmp_path)


PERIODIC = """
test = DataLoader(files, num_workers=2)  # -> info unsafe
loader = DataLoader(files, num_workers=2)  # -> info unsafe
for epoch in range(9):
    for x in loader:
        model(x).sum().backward()
    if epoch % 3 == 0:
        for x in test:
            model(x)
"""


def test_joins_a_loader_of_some_epochs_to_one_of_all(tmp_path: Path) -> None:
    first, second = check_one("ACC106", STAGED_FILES + PERIODIC, tmp_path)
    assert "in some passes of the loop" in first.message
    assert "in every pass of the loop" in second.message
    assert first.group == second.group != ""


def test_silent_where_workers_start_in_some_epochs_only(tmp_path: Path) -> None:
    alone = PERIODIC.replace("  # -> info unsafe", "").replace(
        "loader = DataLoader(files, num_workers=2)", "loader = conf"
    )
    check_one("ACC106", STAGED_FILES + alone, tmp_path)


ENDLESS = """
loader = DataLoader(files, num_workers=2)
batches = iter(loader)
for step in range(10_000):
    try:
        x = next(batches)
    except StopIteration:
        batches = iter(loader)
        x = next(batches)
    model(x).sum().backward()
"""


@pytest.mark.parametrize(
    ("code", "when"),
    [
        (ENDLESS, "whenever the loop in line"),
        (ENDLESS.replace(" StopIteration", ""), "whenever the loop in line"),
        (
            """
loader = DataLoader(files, num_workers=2)
for step in range(10_000):
    if step % len(loader) == 0:
        batches = iter(loader)
    model(next(batches)).sum().backward()
""",
            "whenever the loop in line",
        ),
        (
            """
loader = DataLoader(files, num_workers=2)
for epoch in range(100):
    batches = iter(loader)
    for step in range(100):
        model(next(batches)).sum().backward()
""",
            "in every pass of the loop in line",
        ),
    ],
)
def test_an_iterator_that_is_made_again_starts_the_workers_again(code: str, when: str, tmp_path: Path) -> None:
    (found,) = findings_of("ACC106", STAGED_FILES + code, tmp_path)
    assert when in found.message


@pytest.mark.parametrize(
    ("again", "once"),
    [
        ("except StopIteration:\n        batches = iter(loader)\n        x", "except StopIteration:\n        x"),
        ("    except StopIteration", "    except KeyError"),
        ("num_workers=2", "num_workers=2, persistent_workers=True"),
        ("    try:\n        x = next(batches)\n    except StopIteration", "    x = 1\n    if step % len(files) == 0"),
    ],
)
def test_silent_where_no_iterator_is_made_again(again: str, once: str, tmp_path: Path) -> None:
    assert again in ENDLESS
    check_pair("ACC106", Pair(STAGED_FILES + ENDLESS.replace(again, once), once, again), tmp_path)
