"""From a real stack to the right line: each layout is run, edited and run again, and must then build its loader with
the wanted settings."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from accel_advisor.editing.fixer import apply_edits
from accel_advisor.source.document import Document
from accel_advisor.tuning.applying.locate import EditPlan, plan_edits
from accel_advisor.tuning.probe.channel.wire import Frame

from . import layouts

RECORDER = """
import json, os, runpy, sys
import torch.utils.data as data
def init(self, *args, **kwargs):
    frame, stack = sys._getframe(1), []
    while frame is not None:
        row, end_row, column, end_column = list(frame.f_code.co_positions())[frame.f_lasti // 2]
        known = None not in (row, end_row, column, end_column)
        place = [row, column + 1, end_row, end_column + 1] if known else [frame.f_lineno, 0, 0, 0]
        stack.append([frame.f_code.co_filename, frame.f_code.co_name, *place])
        frame = frame.f_back
    built(self, *args, **kwargs)
    seen.append([stack[::-1], self.num_workers, self.persistent_workers])
built, data.DataLoader.__init__ = data.DataLoader.__init__, init
everything, known = {}, set(sys.modules)
for folder, argv in json.loads(sys.argv[1]):
    seen = everything[folder] = []
    for name in set(sys.modules) - known:
        if str(getattr(sys.modules[name], "__file__", "")).startswith(os.path.dirname(folder)):
            del sys.modules[name]
    sys.path[0] = folder
    sys.argv = [os.path.join(folder, "train.py"), *argv]
    runpy.run_path(sys.argv[0], run_name="__main__")
print(json.dumps(everything))
"""


@dataclass(frozen=True)
class Built:
    stack: tuple[Frame, ...]
    num_workers: int
    persistent_workers: bool


def run(*projects: tuple[Path, tuple[str, ...]]) -> dict[Path, list[Built]]:
    """Runs the ``train.py`` of each folder, and returns the loaders that it built."""
    wanted = json.dumps([(str(folder), argv) for folder, argv in projects])
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, "-c", RECORDER, wanted], check=True, capture_output=True, text=True, env=environment
    )
    return {
        Path(folder): [
            Built(tuple(Frame(*one) for one in stack), workers, persistent) for stack, workers, persistent in seen
        ]
        for folder, seen in json.loads(done.stdout).items()
    }


def plan(folder: Path, built: Built, *argv: str) -> EditPlan:
    return plan_edits(
        built.stack,
        {"num_workers": 3, "persistent_workers": True},
        root=folder,
        argv=argv,
        current={"num_workers": built.num_workers, "persistent_workers": built.persistent_workers},
    )


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


ONE = "from torch.utils.data import DataLoader\n"
LAYOUTS: dict[str, tuple[dict[str, str], int]] = {
    "the call": ({"train.py": ONE + "a = DataLoader([1], batch_size=2,\n    shuffle=True,  # yes\n)\n"}, 0),
    "a literal in the call": ({"train.py": ONE + "a = DataLoader([1], num_workers=0)\n"}, 0),
    "a dotted call over lines": (
        {"train.py": "import torch.utils.data as d\na = (\n  d\n  .DataLoader(\n  [1])\n)\n"},
        0,
    ),
    "a constant": ({"train.py": ONE + "WORKERS = 0\na = DataLoader([1], num_workers=WORKERS)\n"}, 0),
    "a constant of another file": (
        {"train.py": ONE + "import conf\na = DataLoader([1], num_workers=conf.WORKERS)\n", "conf.py": "WORKERS = 0\n"},
        0,
    ),
    "a helper's default": (
        {"train.py": ONE + "def make(x, workers=0):\n    return DataLoader(x, num_workers=workers)\na = make([1])\n"},
        0,
    ),
    "a helper's argument": (
        {
            "train.py": ONE
            + "def make(x, workers=0):\n    return DataLoader(x, num_workers=workers)\n"
            + "decoy = make([1])\na = make([1], workers=0)\n"
        },
        1,
    ),
    "a helper in a package": (
        {
            "train.py": "from lib.loading import build\na = build([1])\n",
            "lib/__init__.py": "",
            "lib/loading.py": ONE + "def build(x, **kw):\n    return DataLoader(x, batch_size=2, **kw)\n",
        },
        0,
    ),
    "a dict": ({"train.py": ONE + "kw = {'num_workers': 0}\na = DataLoader([1], **kw)\n"}, 0),
    "a dict without the key": ({"train.py": ONE + "kw = {'batch_size': 2}\na = DataLoader([1], **kw)\n"}, 0),
    "an updated dict": ({"train.py": ONE + "kw = {}\nkw.update(num_workers=0)\na = DataLoader([1], **kw)\n"}, 0),
    "a dict from a call": ({"train.py": ONE + "kw = dict(num_workers=0)\na = DataLoader([1], **kw)\n"}, 0),
    "a formula": ({"train.py": ONE + "import os\na = DataLoader([1], num_workers=min(0, os.cpu_count()))\n"}, 0),
    "an argparse default": (
        {
            "train.py": ONE
            + "import argparse\np = argparse.ArgumentParser()\np.add_argument('-j', '--workers', type=int, default=0)\n"
            + "def main(args):\n    return DataLoader([1], num_workers=args.workers)\nmain(p.parse_args())\n"
        },
        0,
    ),
    "a class attribute": (
        {
            "train.py": ONE
            + "class Config:\n    workers = 0\nclass Trainer:\n    def __init__(self, c):\n        self.config = c\n"
            + "    def loader(self):\n        return DataLoader([1], num_workers=self.config.workers)\n"
            + "Trainer(Config()).loader()\n"
        },
        0,
    ),
    "an instance attribute": (
        {
            "train.py": ONE
            + "class Trainer:\n    def __init__(self):\n        self.workers = 0\n"
            + "    def loader(self):\n        return DataLoader([1], num_workers=self.workers)\nTrainer().loader()\n"
        },
        0,
    ),
    "a dataclass field": (
        {
            "train.py": ONE
            + "from dataclasses import dataclass\n@dataclass\nclass Config:\n    workers: int = 0\n"
            + "c = Config()\na = DataLoader([1], num_workers=c.workers)\n"
        },
        0,
    ),
    "a dataclass argument": (
        {
            "train.py": ONE
            + "from dataclasses import dataclass\n@dataclass\nclass Config:\n    workers: int = 1\n"
            + "c = Config(workers=0)\na = DataLoader([1], num_workers=c.workers)\n"
        },
        0,
    ),
    "a partial": (
        {"train.py": ONE + "from functools import partial\nmk = partial(DataLoader, num_workers=0)\na = mk([1])\n"},
        0,
    ),
    "a subclass": (
        {
            "train.py": ONE
            + "class Mine(DataLoader):\n    def __init__(self, *args, **kw):\n        super().__init__(*args, **kw)\n"
            + "a = Mine([1], num_workers=0)\n"
        },
        0,
    ),
    "the second of a line": ({"train.py": ONE + "a, b = DataLoader([1]), DataLoader([2])\n"}, 1),
    "after decoys": (
        {"train.py": ONE + "val = DataLoader([1], num_workers=0)\ntrain = DataLoader([1], num_workers=0)\n"},
        1,
    ),
    "a comprehension": (
        {"train.py": ONE + "d = {k: DataLoader([1], num_workers=0) for k in ('train', 'val')}\n"},
        0,
    ),
}


LAYOUTS.update((name, (files, -1)) for name, files in layouts.EVERY.items())


@dataclass(frozen=True)
class Outcome:
    plan: EditPlan
    before: list[Built]
    after: list[Built]


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Outcome]:
    """Every layout, run as it is, edited, and run again; two processes in all, since each imports torch."""
    root = tmp_path_factory.mktemp("layouts").resolve()
    folders = {name: root / str(number) for number, name in enumerate(LAYOUTS)}
    for name, (files, _) in LAYOUTS.items():
        write(folders[name], files)
    everything = [(folder, ()) for folder in folders.values()]
    before = run(*everything)
    plans = {name: plan(folder, before[folder][LAYOUTS[name][1]]) for name, folder in folders.items()}
    for made in plans.values():
        for name in sorted({edit.filename for edit in made.edits}):
            document = Document.read(name)
            text = apply_edits(document.text, [edit for edit in made.edits if edit.filename == name])
            Path(name).write_bytes(document.encode(text))
    after = run(*everything)
    return {name: Outcome(plans[name], before[folder], after[folder]) for name, folder in folders.items()}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_edits_what_decides(layout: str, outcomes: dict[str, Outcome]) -> None:
    outcome = outcomes[layout]
    index = LAYOUTS[layout][1]
    assert not outcome.plan.refusals
    assert outcome.plan.edits
    assert (outcome.after[index].num_workers, outcome.after[index].persistent_workers) == (3, True)
    assert outcome.before[index].num_workers == 0


@pytest.mark.parametrize("layout", [name for name, (_, index) in LAYOUTS.items() if index > 0])
def test_leaves_decoys_alone(layout: str, outcomes: dict[str, Outcome]) -> None:
    outcome = outcomes[layout]
    for decoy in range(LAYOUTS[layout][1]):
        assert outcome.after[decoy].num_workers == outcome.before[decoy].num_workers == 0


REFUSED: dict[str, tuple[dict[str, str], tuple[str, ...], str]] = {
    "the command line": (
        {"train.py": layouts.program(layouts.OPTION + "a = DataLoader([1], num_workers=p.parse_args().workers)\n")},
        ("-j", "1"),
        "is given on the command line; run the script with `--workers 3`",
    ),
    "a formula of an option": (
        {"train.py": layouts.program(layouts.OPTION + "a = DataLoader([1], num_workers=p.parse_args().workers * 2)\n")},
        (),
        "is computed from the option `--workers`; set it to 3 by hand",
    ),
    "a value of the environment": (
        {
            "train.py": "import os\nos.environ['N'] = '0'\n"
            + ONE
            + "a = DataLoader([1], num_workers=int(os.environ['N']))\n"
        },
        (),
        "is decided by the environment variable `N` when the script starts; run the script with `N=3`",
    ),
    "text": (
        {"train.py": ONE + "import json\nc = json.loads('{\"w\": 0}')\na = DataLoader([1], num_workers=c['w'])\n"},
        (),
        "is decided by `c['w']`; set it to 3 by hand",
    ),
    "an unknown dict": (
        {"train.py": ONE + "import json\nc = json.loads('{\"num_workers\": 0}')\na = DataLoader([1], **c)\n"},
        (),
        "could not be followed; set it to 3 by hand",
    ),
    "a file": (
        {
            "train.py": ONE
            + "import os, yaml\nos.chdir(os.path.dirname(os.path.abspath(__file__)))\n"
            + "with open('c.yaml') as f:\n    c = yaml.safe_load(f)\nc = c['loader']\n"
            + "a = DataLoader([1], num_workers=c['n'])\n",
            "c.yaml": "loader:\n  batch: 2\n  n: 0\n",
        },
        (),
        "is decided by `loader.n` in c.yaml, line 3; set it to 3 there",
    ),
    "a file that is read as text": (
        {
            "train.py": ONE
            + "import os, json\nfrom pathlib import Path\nos.chdir(os.path.dirname(os.path.abspath(__file__)))\n"
            + "c = json.loads(Path('c.json').read_text())\na = DataLoader([1], num_workers=c.get('n', 1))\n",
            "c.json": '{\n"n": 0}\n',
        },
        (),
        "is decided by `n` in c.json, line 2; set it to 3 there",
    ),
    "a part of a file": (
        {
            "train.py": ONE
            + "import os, tomllib\nos.chdir(os.path.dirname(os.path.abspath(__file__)))\n"
            + "with open('c.toml', 'rb') as f:\n    c = tomllib.load(f)\na = DataLoader([1], **c['loader'])\n",
            "c.toml": "[loader]\nbatch_size = 2\n",
        },
        (),
        "may stand in `loader` in c.toml; write `num_workers: 3` there",
    ),
}


@pytest.fixture(scope="module")
def refused(tmp_path_factory: pytest.TempPathFactory) -> dict[str, EditPlan]:
    """What is planned for each of them, run by one process."""
    root = tmp_path_factory.mktemp("refused").resolve()
    folders = {name: root / str(number) for number, name in enumerate(REFUSED)}
    for name, (files, _, _) in REFUSED.items():
        write(folders[name], files)
    built = run(*((folders[name], argv) for name, (_, argv, _) in REFUSED.items()))
    return {name: plan(folders[name], built[folders[name]][0], *argv) for name, (_, argv, _) in REFUSED.items()}


@pytest.mark.parametrize("name", REFUSED)
def test_says_why_it_does_not_edit(name: str, refused: dict[str, EditPlan]) -> None:
    made, reason = refused[name], REFUSED[name][2]
    said = [one for one in made.refusals if one.startswith("num_workers")]
    assert len(said) == 1
    assert said[0].endswith(reason)
    # What goes with it is not written either: it might not hold without it.
    assert made.edits == ()
    assert any("persistent_workers" in one for one in made.refusals)
